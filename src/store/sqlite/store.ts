/** The list in a SQLite file, for the commands. The service appends to it on a thread of its own (thread.ts). */

import type { Database } from 'bun:sqlite'
import { statfsSync } from 'node:fs'
import type { Address } from '../../email.ts'
import type { Count, Found, ListCopy, Snapshot, StoreStatus, Subscriber, SubscriberStore } from '../../subscriber.ts'
import { type Plan, planImport, planOptOuts, planRemoval } from '../changes.ts'
import { createPace } from '../pace.ts'
import { compactUntil } from '../schedule.ts'
import { append, compactAll, countInbox, createCompaction } from './compaction.ts'
import { isWriteError, toPath, toStoreError, wrapErrors } from './error.ts'
import { type ListFile, type OpenOptions, openListFile, openReadOnly, readSize } from './file.ts'
import { listSubscribers, listSuppressions, listWhole, lookUp, readCount, readHead, readStatus } from './read.ts'
import { retryBusy } from './transaction.ts'
import { applyChanges, fillList } from './write.ts'

export interface StoreOptions extends OpenOptions {
  /** Gets a message for the owner. */
  readonly notify?: ((text: string) => void) | undefined
}

/**
 * Opens the list in a file.
 *
 * @throws StoreError when it cannot be opened
 */
export function openSqliteStore(file: string, options: StoreOptions = {}): SubscriberStore {
  const list = openListFile(file, options)
  const { orReadOnly = false, notify } = options
  const { db } = list
  const compactSlice = createCompaction(db)
  let { writeError } = list
  let isNoted = false
  const pace = createPace()

  /** Compacts what was accepted before the call. If the list cannot be written, says how many addresses are left out. */
  async function compact(): Promise<void> {
    if (countInbox(db) === 0) return
    try {
      if (writeError) throw writeError
      await compactUntil(readHead(db).lastSeq, (until) =>
        retryBusy(db, () => {
          list.checkPlace()
          return compactSlice(until)
        }),
      )
    } catch (error) {
      if (!writeError && !(orReadOnly && isWriteError(error))) throw error
      writeError ??= toStoreError(db, error)
      if (!isNoted) notify?.(`the list cannot be written: ${countInbox(db)} addresses in its inbox are not included`)
      isNoted = true
    }
  }

  const accept = (addresses: string) =>
    wrapErrors(db, async () => {
      list.checkPlace()
      append(db, addresses)
      list.checkPlace()
    })

  /** Reads one state of the list. */
  const read = <T>(work: (db: Database) => T) =>
    wrapErrors(db, async () => {
      await compact()
      return db.transaction(() => work(db))()
    })

  /** Each page is of the state in which it is read. */
  async function* listPages(after: number): AsyncGenerator<readonly Subscriber[]> {
    await wrapErrors(db, compact)
    yield* wrapPages(db, listSubscribers(db, after))
  }

  const snapshot = () =>
    wrapErrors(db, async () => {
      await compact()
      return openSnapshot(toPath(db))
    })

  const toAddresses = (rows: readonly { readonly email: Address }[]) => rows.map(({ email }) => email)

  /** Compacts, then takes the lock and compacts the rest, so that nothing is accepted before the change. */
  const change = <T>(addresses: readonly Address[], plan: (found: readonly Found[]) => Plan<T>) =>
    wrapErrors(db, async () => {
      if (writeError) throw writeError
      await compact()
      let lockedAt = 0
      const work = db.transaction(() => {
        lockedAt = performance.now()
        list.checkPlace()
        compactAll(db)
        const { changes, outcome } = plan(lookUp(db, addresses))
        applyChanges(db, changes)
        return outcome
      })
      const outcome = await retryBusy(db, () => work.immediate())
      pace.record(addresses.length, performance.now() - lockedAt)
      // Reports success only if the list that was changed is still at its path.
      list.checkPlace()
      return outcome
    })

  return {
    pace,
    head: () => wrapErrors(db, async () => readHead(db)),
    add: (addresses) => accept(JSON.stringify(addresses)),
    probe: () => accept('[]'),
    check: () =>
      wrapErrors(db, async () => {
        if (writeError) throw writeError
        checkWritable(list)
      }),
    count: () => read(readCount),
    lookUp: (addresses) => read(() => lookUp(db, addresses)),
    list: listPages,
    snapshot,
    status: () => read(() => ({ ...readStatus(db), ...readSpace(toPath(db)) })),
    import: (rows) => change(toAddresses(rows), (found) => planImport(rows, found)),
    suppress: (rows, options) => change(toAddresses(rows), (found) => planOptOuts(rows, found, options)),
    remove: (addresses, options) => change(addresses, (found) => planRemoval(addresses, found, options)),
    fill: (copy) => wrapErrors(db, () => fill(list, copy)),
    close: async () => list.close(),
  }
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
