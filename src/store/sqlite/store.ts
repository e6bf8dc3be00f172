/** The list in a SQLite file, on the calling thread. The service runs it on a thread of its own: sqlite-thread.ts. */

import type { Database } from 'bun:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Address } from '../../email.ts'
import { StoreError, type SubscriberStore } from '../../subscriber.ts'
import { createCompactor } from './compaction.ts'
import { isBusy, type OpenOptions, openSqliteFile, readSize, toOpenError, toReason } from './file.ts'
import { createLocked } from './lock.ts'
import { createReader } from './read.ts'
import { createSuppressions } from './suppressions.ts'
import { APPEND, createWriter } from './write.ts'

/** A SQLite list, and what only its host calls. */
export interface SqliteStore extends SubscriberStore {
  /** Puts a batch on stable storage; the JSON array of its addresses. Synchronous: it waits for the lock and the disk. */
  append(addresses: string): void
  /** Settles for about as long as it is given, and tells whether there is more to do. */
  compactFor(milliseconds: number): boolean
  /** Whether so much has piled up that settling must not wait for a quiet moment. */
  isOverdue(): boolean
}

/** Below this backlog, a reader settles what is left under one lock, so that nobody can keep it from getting done. */
const LAST_RUN = 20_000

// A run costs about a write for each page of the index, however many addresses share them: so the more are on
// the list, the more are let pile up. Measured in ARCHITECTURE.md.
const MIN_OVERDUE = 100_000
const MAX_OVERDUE = 1_000_000
const OVERDUE_SHARE = 0.1

/** While nobody else writes, a pause is this much shorter than a turn; long enough to be found by who begins to. */
const QUIET_SHARE = 4

/** After so many pages, what they left behind is collected. */
const COLLECT_PAGES = 100

/** Each import settles its rows, which is the cheaper for each of them the more they are. Measured in ARCHITECTURE.md. */
const IMPORT_SIZE = 10_000

/**
 * Opens the list in a file.
 *
 * @param file created with its folders if missing, unless the options forbid it
 * @throws StoreError when it cannot be opened
 */
export function openSqliteStore(file: string, options?: OpenOptions): SqliteStore {
  const db = openSqliteFile(file, options)
  try {
    return createSqliteStore(db)
  } catch (error) {
    db.close()
    throw toOpenError(db.filename, error)
  }
}

function createSqliteStore(db: Database): SqliteStore {
  const suppressed = createSuppressions(db)
  const compactor = createCompactor(db, suppressed)
  const reader = createReader(db, suppressed)
  const locked = createLocked(db)
  const writer = createWriter(db, { reader, suppressed, locked, settle, exclusively })
  // One autocommit statement.
  const insert = db.query(APPEND)
  const highest = db.query('SELECT coalesce(max(seq), 0) AS seq FROM subscribers')
  let run: Generator<void> | undefined

  function compactFor(milliseconds: number): boolean {
    const end = performance.now() + milliseconds
    run ??= compactor.run()
    try {
      while (performance.now() < end) {
        if (!run.next().done) continue
        run = compactor.backlog() > 0 ? compactor.run() : undefined
        if (!run) return false
      }
      return true
    } catch (error) {
      run = undefined
      throw error
    }
  }

  async function compactBacklog(): Promise<void> {
    const others = watchOthers(db)
    while (compactor.backlog() > LAST_RUN) {
      const start = performance.now()
      try {
        compactFor(5)
      } catch (error) {
        if (!isBusy(error)) throw error
      }
      const turn = performance.now() - start
      // Beside a service that writes, as long a pause as a turn, so that it gets the lock as often.
      await sleep(others.haveWritten() ? turn : turn / QUIET_SHARE)
    }
  }

  async function exclusively<T>(work: () => T): Promise<T> {
    await compactBacklog()
    return await locked(() => {
      for (const _ of compactor.run()) {
        // Each step is part of this one transaction.
      }
      return work()
    })
  }

  /** Settles all that was confirmed before. */
  async function settle(): Promise<void> {
    // Whoever only reads takes no lock where there is nothing to settle.
    if (compactor.backlog() > 0) await exclusively(() => {})
  }

  /** Settles, then reads; what comes in meanwhile is left for the next time. */
  const compacted = <T>(read: () => T) => wrapErrors(db, () => settle().then(read))

  /** Settles, then hands over pages as they are asked for. */
  async function* paged<T>(read: () => Generator<T>): AsyncGenerator<T> {
    const pages = await compacted(read)
    for (let taken = 1; ; taken++) {
      if (taken % COLLECT_PAGES === 0) collect()
      const { value, done } = await wrapErrors(db, async () => pages.next())
      if (done) return
      yield value
    }
  }

  return {
    append: (addresses) => void insert.run(Date.now(), addresses),
    compactFor,
    isOverdue: () => {
      const { seq } = highest.get() as { seq: number }
      return compactor.backlog() > Math.min(Math.max(MIN_OVERDUE, seq * OVERDUE_SHARE), MAX_OVERDUE)
    },
    add: (addresses: readonly Address[]) =>
      wrapErrors(db, async () => void insert.run(Date.now(), JSON.stringify(addresses))),
    importSize: IMPORT_SIZE,
    count: () => compacted(reader.count),
    find: (address) => compacted(() => reader.find(address)),
    lookUp: (addresses) => compacted(() => reader.lookUp(addresses)),
    list: (options = {}) => paged(() => reader.list(options)),
    listSuppressions: () => paged(reader.listSuppressions),
    status: (days) => compacted(() => ({ ...reader.status(days), bytes: readSize(db.filename) })),
    import: (rows) => wrapErrors(db, () => writer.import(rows)).finally(collect),
    remove: (addresses, options) => wrapErrors(db, () => writer.remove(addresses, options)),
    mergeSuppressions: (suppressions) => wrapErrors(db, () => writer.mergeSuppressions(suppressions)),
    check: () =>
      wrapErrors(db, async () => {
        // Takes the lock that a writer needs, and gives it back without having written.
        db.run('BEGIN IMMEDIATE')
        db.run('ROLLBACK')
      }),
    close: async () => db.close(),
  }
}

/** Left to itself, the collector lets three times as much memory pile up over a long command. */
function collect(): void {
  Bun.gc(true)
}

/** Tells whether another connection has written since it was last asked. */
function watchOthers(db: Database) {
  const read = db.query('PRAGMA data_version')
  let last = read.values()[0]?.[0]
  return {
    haveWritten() {
      const version = read.values()[0]?.[0]
      const isNew = version !== last
      last = version
      return isNew
    },
  }
}

/** Does something with the list; an error of SQLite becomes one line for the owner. */
async function wrapErrors<T>(db: Database, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof StoreError) throw error
    throw new StoreError(`the list ${db.filename} cannot be used: ${toReason(error)}`, { cause: error })
  }
}
