/** The list in a SQLite file, for the commands. The service appends to it on a thread of its own (thread.ts). */

import type { Database } from 'bun:sqlite'
import { accessSync, constants as modes } from 'node:fs'
import { Failure } from '../../failure.ts'
import type { Snapshot, StoreOptions, SubscriberStore } from '../../subscriber.ts'
import { type Batch, createBatches, type Written } from '../batches.ts'
import { compactAll, PAUSE_MS } from '../schedule.ts'
import { type Compaction, createCompaction } from './compaction.ts'
import { isWriteError, toPath, toStoreError, wrapErrors } from './error.ts'
import { checkPlace, checkWritable, closeList, type ListFile, openListFile, openReadOnly, openToRead } from './file.ts'
import { append, countInbox, probe } from './inbox.ts'
import { readFreeBytes, readSize } from './paths.ts'
import { listSubscribers, listSuppressions, listWhole, lookUp, readCount, readHead, readStatus } from './read.ts'
import { retryBusy } from './transaction.ts'
import { applyChanges, forgetReturned } from './write.ts'

/** A list that is open for a command. */
interface OpenList extends ListFile {
  readonly options: StoreOptions
  /** Or why the list is only read, as far as that is known. */
  compaction: Compaction | Failure
  /** Whether the owner knows that the inbox is left out. */
  isNoted: boolean
}

/**
 * Opens the list in a file.
 *
 * @throws StoreError when it cannot be opened
 */
export function openSqliteStore(file: string, options: StoreOptions): SubscriberStore {
  const { access } = options
  const opened = access === 'read' ? openToRead(file) : openListFile(file, { create: access === 'create' })
  // A checkpoint of SQLite's 1,000 pages would hold up the syncs of a service for seconds on a slow disk.
  opened.db.run('PRAGMA wal_autocheckpoint = 100')
  const compaction = opened.readOnly ?? createCompaction(opened.db)
  const list: OpenList = { ...opened, options, compaction, isNoted: false }
  const { db } = list
  /** Reads one state of the list. */
  const read = <T>(work: (db: Database) => T) =>
    wrapErrors(db, async () => {
      await compact(list)
      return db.transaction(() => work(db))()
    })

  const accept = (work: () => void) =>
    wrapErrors(db, () => {
      checkPlace(list)
      work()
      checkPlace(list)
    })

  return {
    ...createBatches((batch) => wrapErrors(db, () => writeBatch(list, batch))),
    head: () =>
      wrapErrors(db, () => {
        // An export that follows the list asks again and again: another file may be at its path now.
        checkPlace(list)
        return readHead(db)
      }),
    add: (addresses) => accept(() => append(db, JSON.stringify(addresses))),
    probe: () => accept(() => probe(db)),
    ready: () =>
      wrapErrors(db, () => {
        // A list that was restored can be written, but is not changed before a service does.
        if (list.readOnly && !list.readOnly.cause) return accessSync(toPath(db), modes.W_OK)
        getCompaction(list)
        checkWritable(list)
      }),
    count: () => read(readCount),
    lookUp: (addresses) => read(() => lookUp(db, addresses)),
    // Each page is of the state in which it is read.
    async *list(after) {
      await wrapErrors(db, () => compact(list))
      yield* wrapPages(db, listSubscribers(db, after))
    },
    snapshot: () =>
      wrapErrors(db, async () => {
        await compact(list)
        return openSnapshot(toPath(db))
      }),
    status: () =>
      read(() => {
        const path = toPath(db)
        const bytes = readSize(path) + readSize(`${path}-wal`)
        return { ...readStatus(db), bytes, freeBytes: readFreeBytes(path) }
      }),
    async close() {
      closeList(list)
    },
  }
}

/** @throws Failure when the list cannot be written, as far as that is known */
function getCompaction({ compaction }: OpenList): Compaction {
  if (compaction instanceof Failure) throw compaction
  return compaction
}

/** Compacts what was accepted before the call. If the list is only read, says how many addresses are left out. */
async function compact(list: OpenList): Promise<void> {
  const { db, options, compaction } = list
  const total = countInbox(db)
  if (total === 0) return
  if (compaction instanceof Failure) return noteInbox(list, compaction)
  try {
    const { lastSeq } = readHead(db)
    const compactSlice = () => {
      checkPlace(list)
      return compaction.slice(lastSeq)
    }
    await compactAll(() => retryBusy(db, compactSlice), total, options.onCompaction)
  } catch (error) {
    if (options.access !== 'read' || !isWriteError(error)) throw error
    list.compaction = toStoreError(db, error)
    noteInbox(list, list.compaction)
  }
}

function noteInbox(list: OpenList, { cause }: Failure): void {
  if (list.isNoted) return
  const reason = cause ? 'the list cannot be written' : 'this is a backup, which is only read'
  list.options.notify?.(`${reason}: ${countInbox(list.db)} addresses in its inbox are not included`)
  list.isNoted = true
}

/** Addresses whose compaction holds the lock for less than 0.1 s, also on ten million. */
const MOST_UNDER_LOCK = 1_000

/**
 * Compacts in slices, then takes the lock, compacts the rest and forgets, so that nothing is accepted before the change, and nobody
 * is both on the list and suppressed.
 */
async function writeBatch<T>(list: OpenList, { addresses, plan }: Batch<T>): Promise<Written<T>> {
  const { db } = list
  const { all } = getCompaction(list)
  // What comes meanwhile is compacted under the lock, so it must be little: a long compaction leaves much.
  let runs = 0
  do await compact(list)
  while (++runs < 5 && countInbox(db) > MOST_UNDER_LOCK)
  const work = db.transaction(() => {
    const lockedAt = performance.now()
    checkPlace(list)
    all()
    // When many came back, others get the lock in between.
    if (forgetReturned(db)) return undefined
    const { changes, outcome } = plan(lookUp(db, addresses))
    applyChanges(db, changes)
    return { outcome, lockedAt }
  })
  for (;;) {
    const written = await retryBusy(db, () => work.immediate())
    // Reports success only if the list that was changed is still at its path.
    checkPlace(list)
    if (written) return written
    await Bun.sleep(PAUSE_MS)
  }
}

async function* wrapPages<Page>(db: Database, pages: Iterable<Page>): AsyncGenerator<Page> {
  try {
    yield* pages
  } catch (error) {
    throw toStoreError(db, error)
  }
}

/** Reads on a connection of its own, because the caller may use the list meanwhile. @param path the real path */
function openSnapshot(path: string): Snapshot {
  const db = openReadOnly(path)
  try {
    db.run('BEGIN')
    return {
      head: readHead(db),
      subscribers: wrapPages(db, listWhole(db)),
      suppressions: wrapPages(db, listSuppressions(db)),
      [Symbol.asyncDispose]: async () => db.close(),
    }
  } catch (error) {
    db.close()
    throw error
  }
}
