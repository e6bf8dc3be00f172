/** The list in a SQLite file, on the calling thread. The service runs it on a thread of its own (thread.ts). */

import type { Database } from 'bun:sqlite'
import type { SubscriberStore } from '../../subscriber.ts'
import { createCompactor } from './compaction.ts'
import { toOpenError, wrapErrors } from './error.ts'
import { type OpenOptions, openSqliteFile, readFileId, readSize } from './file.ts'
import { createReader } from './read.ts'
import { type CompactionSchedule, createSchedule } from './schedule.ts'
import { createSuppressions } from './suppressions.ts'
import { createWriter, prepareAppend } from './write.ts'

/** A SQLite list, with the methods that only the writer thread calls. */
export interface SqliteStore extends SubscriberStore, Pick<CompactionSchedule, 'compactFor' | 'isBacklogLarge'> {
  /**
   * Accepts a batch of addresses, given as a JSON array. Blocks the thread while it waits for the lock and for the
   * disk.
   *
   * @throws SQLiteError when it cannot be written
   */
  append(addresses: string): void
}

/**
 * Rows in one import: one lock and one sync. Larger imports cost less per row and need more memory. Measured: 120 MB,
 * and 260 MB with 100,000 rows.
 */
const IMPORT_SIZE = 10_000

/** Pages between two forced garbage collections. Without them a long command uses three times as much memory. */
const PAGES_PER_COLLECTION = 100

/**
 * Opens the list in a file.
 *
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
  const suppressions = createSuppressions(db)
  const schedule = createSchedule(db, createCompactor(db, suppressions))
  const reader = createReader(db, suppressions)
  const writer = createWriter(db, { reader, suppressions, schedule })
  const insert = prepareAppend(db)
  const append = (addresses: string): void => void insert.run(Date.now(), addresses)

  /** Compacts, then reads. What is accepted in between is left for the next read. */
  const readCompacted = <T>(read: () => T) => wrapErrors(db, () => schedule.compact().then(read))

  async function* toPages<T>(read: () => Generator<T>): AsyncGenerator<T> {
    const pages = await readCompacted(read)
    for (let taken = 1; ; taken++) {
      if (taken % PAGES_PER_COLLECTION === 0) Bun.gc(true)
      const { value, done } = await wrapErrors(db, async () => pages.next())
      if (done) return
      yield value
    }
  }

  return {
    id: () => wrapErrors(db, async () => readFileId(db.filename)),
    append,
    compactFor: schedule.compactFor,
    isBacklogLarge: schedule.isBacklogLarge,
    add: (addresses) => wrapErrors(db, async () => append(JSON.stringify(addresses))),
    importSize: IMPORT_SIZE,
    count: () => readCompacted(reader.count),
    find: (address) => readCompacted(() => reader.find(address)),
    lookUp: (addresses) => readCompacted(() => reader.lookUp(addresses)),
    list: (options = {}) => toPages(() => reader.list(options)),
    listSuppressions: () => toPages(reader.listSuppressions),
    status: (days) => readCompacted(() => ({ ...reader.status(days), bytes: readSize(db.filename) })),
    import: (rows) => wrapErrors(db, () => writer.import(rows)).finally(() => Bun.gc(true)),
    mergeSubscribers: (rows) => wrapErrors(db, () => writer.mergeSubscribers(rows)).finally(() => Bun.gc(true)),
    remove: (addresses, options) => wrapErrors(db, () => writer.remove(addresses, options)),
    suppress: (rows, options) => wrapErrors(db, () => writer.suppress(rows, options)),
    mergeSuppressions: (merged, signal) => wrapErrors(db, () => writer.mergeSuppressions(merged, signal)),
    check: () =>
      wrapErrors(db, async () => {
        // Takes the lock that a writer needs, and writes nothing.
        db.run('BEGIN IMMEDIATE')
        db.run('ROLLBACK')
      }),
    close: async () => db.close(),
  }
}
