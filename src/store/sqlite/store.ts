/** The list in a SQLite file, for the commands. The service appends to it on a thread of its own (thread.ts). */

import type { Database } from 'bun:sqlite'
import { accessSync, constants as modes } from 'node:fs'
import { Failure } from '../../failure.ts'
import type { ListCopy, StoreOptions, SubscriberStore } from '../../subscriber.ts'
import { toCount } from '../../words.ts'
import { type Batch, createBatches, type Written } from '../batches.ts'
import { checkClock } from '../numbers.ts'
import { compactAll, SLICE_PAUSE_MS } from '../schedule.ts'
import { COMMAND_PAGES, keepLogShort } from './checkpoint.ts'
import { type Compaction, createCompaction } from './compaction.ts'
import { isWriteError, toPath, toStoreError, wrapErrors } from './error.ts'
import { checkPlace, checkWritable, closeList, commit, type ListFile, openListFile, write } from './file.ts'
import { append, countInbox, probe } from './inbox.ts'
import { readFreeBytes, readSize } from './paths.ts'
import { listSubscribers, listSuppressions, listWhole, lookUp, readCount, readHead, readStatus } from './read.ts'
import { openReadOnly } from './read-only.ts'
import { retryBusy } from './transaction.ts'
import { applyChanges, forgetReturned } from './write.ts'

/** A list that is open for a command. */
interface OpenList extends ListFile {
  readonly options: StoreOptions
  /** Why the list is only read, if it is. `compact` may find it out later. */
  readOnly?: 'backup' | Failure
  /** None when the file is opened for reading only. */
  readonly compaction: Compaction | undefined
  /** Whether the owner knows that the inbox is left out. */
  isNoted: boolean
}

/** Opens the list in a file. @throws as `openListFile` */
export function openSqliteStore(file: string, options: StoreOptions): SubscriberStore {
  const opened = openListFile(file, options.access)
  const { db } = opened
  const compaction = opened.readOnly ? undefined : createCompaction(db)
  const list: OpenList = { ...opened, options, compaction, isNoted: false }
  /** Reads one state of the list. */
  const read = <T>(work: () => T) =>
    wrapErrors(db, async () => {
      await compact(list)
      return await retryRead(() => db.transaction(work)())
    })

  return {
    ...createBatches((batch) => wrapErrors(db, () => writeBatch(list, batch))),
    head: () =>
      wrapErrors(db, () => {
        // An export that follows the list asks again and again: another file may be at its path now.
        checkPlace(list)
        return retryRead(() => readHead(db))
      }),
    add: (addresses) =>
      wrapErrors(db, () => retryBusy(() => commit(list, () => append(db, JSON.stringify(addresses))))),
    probe: () => wrapErrors(db, () => retryBusy(() => commit(list, () => probe(db)))),
    ready: () =>
      wrapErrors(db, () => {
        // Nothing keeps a command from changing a backup, which makes it a list. So it only has to be writable.
        if (list.readOnly === 'backup') return accessSync(toPath(db), modes.W_OK)
        if (list.readOnly) throw list.readOnly
        return retryBusy(() => checkWritable(list))
      }),
    count: () => read(() => readCount(db)),
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

/**
 * Tries a read again until it works. A read needs no lock, except while another process reads anew the log that a killed one left. The
 * pages of `list` are not tried again: an export fails then, and its cursor stays, so it may be run again.
 */
const retryRead = retryBusy

/** Compacts what was accepted before the call. If the list is only read, says how many addresses are left out. */
async function compact(list: OpenList): Promise<void> {
  const { db, options, compaction } = list
  if ((await retryRead(() => countInbox(db))) === 0) return
  if (compaction && !list.readOnly) {
    try {
      const { lastSeq } = await retryRead(() => readHead(db))
      await compactAll(() => writeStep(list, () => compaction.slice(lastSeq)))
      return
    } catch (error) {
      // What only reads goes on without the inbox, on a disk that is full for example.
      if (options.access !== 'read' || !isWriteError(error)) throw error
      list.readOnly = toStoreError(toPath(db), error)
    }
  }
  noteLeftOut(list)
}

function noteLeftOut(list: OpenList): void {
  const { db, options } = list
  if (list.isNoted) return
  const reason = list.readOnly instanceof Failure ? list.readOnly.message : 'this is a backup, which is only read'
  options.notify?.(`not included: ${toCount(countInbox(db), 'address', 'addresses')} in the inbox: ${reason}`)
  list.isNoted = true
}

/** Addresses whose compaction holds the lock for less than 0.1 s, also on ten million. */
const MOST_UNDER_LOCK = 1_000

/** How often a change compacts before it takes the lock: a long compaction leaves many addresses that came meanwhile. */
const MOST_RUNS = 5

/**
 * Compacts in slices and forgets who came back, each in transactions of its own, so that others write in between. The rest of both
 * is done under the lock of the change: nothing is accepted between them, and nobody is both on the list and suppressed.
 */
async function writeBatch<T>(list: OpenList, { addresses, plan }: Batch<T>): Promise<Written<T>> {
  const { db } = list
  for (let run = 0; run < MOST_RUNS; run++) {
    await compact(list)
    if (countInbox(db) <= MOST_UNDER_LOCK) break
  }
  const forget = db.transaction(() => forgetReturned(db))
  while (await writeStep(list, () => forget.immediate())) await Bun.sleep(SLICE_PAUSE_MS)
  const change = db.transaction(() => {
    const lockedAt = performance.now()
    // Another file may have been put here while this process waited for the lock.
    checkPlace(list)
    list.compaction?.all()
    // Of those whom the line above has put on the list, until there are no more.
    while (forgetReturned(db));
    const { changes, outcomes } = plan(lookUp(db, addresses), new Date(checkClock()))
    applyChanges(db, changes)
    return { outcomes, lockedAt }
  })
  const written = await writeStep(list, () => change.immediate())
  // Reports success only if the list that was changed is still at its path.
  checkPlace(list)
  return written
}

/**
 * Writes in a transaction of its own when the lock is free, and keeps the log short. Only the transaction is tried again: what
 * follows its commit must not repeat it. @throws as `write`
 */
async function writeStep<T>(list: OpenList, work: () => T): Promise<T> {
  const result = await retryBusy(() => write(list, work))
  keepLogShort(list, COMMAND_PAGES)
  return result
}

async function* wrapPages<Page>(db: Database, pages: Iterable<Page>): AsyncGenerator<Page> {
  try {
    yield* pages
  } catch (error) {
    throw toStoreError(toPath(db), error)
  }
}

/** Reads on a connection of its own, because the caller may use the list meanwhile. @param path the real path */
function openSnapshot(path: string): ListCopy & AsyncDisposable {
  // The transaction ends here when its head cannot be read; otherwise the caller ends it.
  using open = new DisposableStack()
  const db = open.use(openReadOnly(path))
  db.run('BEGIN')
  const head = readHead(db)
  const subscribers = wrapPages(db, listWhole(db))
  const suppressions = wrapPages(db, listSuppressions(db))
  const rest = open.move()
  return { head, subscribers, suppressions, [Symbol.asyncDispose]: async () => rest.dispose() }
}
