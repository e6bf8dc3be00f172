/** The list in a SQLite file, for the commands. The service appends to it on a thread of its own (thread.ts). */

import type { Database } from 'bun:sqlite'
import { statfsSync } from 'node:fs'
import type { Count, ListCopy, Snapshot, StoreStatus, SubscriberStore } from '../../subscriber.ts'
import { type Change, createChanges } from '../changes.ts'
import { type CompactionProgress, compactAll } from '../schedule.ts'
import { type Compaction, createCompaction } from './compaction.ts'
import { isWriteError, toPath, toStoreError, wrapErrors } from './error.ts'
import { type ListFile, type OpenOptions, openListFile, openReadOnly } from './file.ts'
import { append, countInbox, probe, toBatch } from './inbox.ts'
import { readSize } from './paths.ts'
import { listSubscribers, listSuppressions, listWhole, lookUp, readCount, readHead, readStatus } from './read.ts'
import { retryBusy } from './transaction.ts'
import { applyChanges, fillList } from './write.ts'

export interface StoreOptions extends OpenOptions {
  /** Gets a message for the owner. */
  readonly notify?: ((text: string) => void) | undefined
  /** Gets the progress of a compaction, which may take a minute for an inbox of a million addresses. */
  readonly onCompaction?: CompactionProgress | undefined
}

/** A list that is open for a command. */
interface OpenList {
  readonly list: ListFile
  /** @throws StoreError when the list cannot be written, as far as that is known */
  getCompaction(): Compaction
  /** Compacts what was accepted before the call. If the list cannot be written, says how many addresses are left out. */
  compact(): Promise<void>
}

/**
 * Opens the list in a file.
 *
 * @throws StoreError when it cannot be opened
 */
export function openSqliteStore(file: string, options: StoreOptions = {}): SubscriberStore {
  const opened = openForCommand(file, options)
  const { list } = opened
  const { db } = list
  /** Reads one state of the list. */
  const read = <T>(work: (db: Database) => T) =>
    wrapErrors(db, async () => {
      await opened.compact()
      return db.transaction(() => work(db))()
    })

  const accept = (work: () => void) =>
    wrapErrors(db, async () => {
      list.checkPlace()
      work()
      list.checkPlace()
    })

  return {
    ...createChanges((change) => wrapErrors(db, () => changeList(opened, change))),
    head: () =>
      wrapErrors(db, async () => {
        // An export that follows the list asks again and again: another file may be at its path now.
        list.checkPlace()
        return readHead(db)
      }),
    add: (addresses) => accept(() => append(db, toBatch(addresses))),
    probe: () => accept(() => probe(db)),
    check: () =>
      wrapErrors(db, async () => {
        opened.getCompaction()
        checkWritable(list)
      }),
    count: () => read(readCount),
    lookUp: (addresses) => read(() => lookUp(db, addresses)),
    // Each page is of the state in which it is read.
    async *list(after) {
      await wrapErrors(db, opened.compact)
      yield* wrapPages(db, listSubscribers(db, after))
    },
    snapshot: () =>
      wrapErrors(db, async () => {
        await opened.compact()
        return openSnapshot(toPath(db))
      }),
    status: () => read(() => ({ ...readStatus(db), ...readSpace(toPath(db)) })),
    fill: (copy) => wrapErrors(db, () => fill(list, copy)),
    close: async () => list.close(),
  }
}

function openForCommand(file: string, options: StoreOptions): OpenList {
  const list = openListFile(file, options)
  const { orReadOnly = false, notify, onCompaction } = options
  const { db } = list
  const compaction = list.writeError ? undefined : createCompaction(db)
  let { writeError } = list
  let isNoted = false

  function getCompaction(): Compaction {
    if (writeError || !compaction) throw writeError
    return compaction
  }

  async function compact(): Promise<void> {
    const total = countInbox(db)
    if (total === 0) return
    try {
      const { slice } = getCompaction()
      const { lastSeq } = readHead(db)
      const compactSlice = () => {
        list.checkPlace()
        return slice(lastSeq)
      }
      await compactAll(() => retryBusy(db, compactSlice), total, onCompaction)
    } catch (error) {
      if (!writeError && !(orReadOnly && isWriteError(error))) throw error
      writeError ??= toStoreError(db, error)
      if (!isNoted) notify?.(`the list cannot be written: ${countInbox(db)} addresses in its inbox are not included`)
      isNoted = true
    }
  }

  return { list, getCompaction, compact }
}

/** Compacts, then takes the lock and compacts the rest, so that nothing is accepted before the change. */
async function changeList<T>(opened: OpenList, { addresses, plan, onLock }: Change<T>): Promise<T> {
  const { list, getCompaction, compact } = opened
  const { db } = list
  const { all } = getCompaction()
  await compact()
  const work = db.transaction(() => {
    onLock()
    list.checkPlace()
    all()
    const { changes, outcome } = plan(lookUp(db, addresses))
    applyChanges(db, changes)
    return outcome
  })
  const outcome = await retryBusy(db, () => work.immediate())
  // Reports success only if the list that was changed is still at its path.
  list.checkPlace()
  return outcome
}

async function* wrapPages<Page>(db: Database, pages: Iterator<Page>): AsyncGenerator<Page> {
  for (;;) {
    const { done, value } = await wrapErrors(db, async () => pages.next())
    if (done) return
    yield value
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

function readSpace(path: string): Pick<StoreStatus, 'bytes' | 'freeBytes'> {
  const { bavail, bsize } = statfsSync(path)
  return { bytes: readSize(path) + readSize(`${path}-wal`), freeBytes: bavail * bsize }
}

/** @throws StoreError, SQLiteError */
export function checkWritable({ db, checkPlace }: ListFile): void {
  checkPlace()
  // Takes the lock that a writer needs, and writes nothing.
  db.run('BEGIN IMMEDIATE')
  db.run('ROLLBACK')
}

/** Fills an empty list in one transaction, while the source is read. */
async function fill({ db, writeError, checkPlace }: ListFile, copy: ListCopy): Promise<Count> {
  if (writeError) throw writeError
  await retryBusy(db, () => db.run('BEGIN IMMEDIATE'))
  try {
    const count = await fillList(db, copy)
    checkPlace()
    db.run('COMMIT')
    checkPlace()
    return count
  } catch (error) {
    if (db.inTransaction) db.run('ROLLBACK')
    throw error
  }
}
