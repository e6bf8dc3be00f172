/** The list in a SQLite file, on the calling thread. The service runs it on a thread of its own (thread.ts). */

import type { SubscriberStore } from '../../subscriber.ts'
import { createCompactedReads } from './compacted-read.ts'
import { createCompactor } from './compaction.ts'
import { createCounts } from './counts.ts'
import { toOpenError, wrapErrors } from './error.ts'
import { type OpenOptions, openSqliteFile, readFileId, readSize } from './file.ts'
import { createIdentityHash, type IdentityHash } from './identity-hash.ts'
import { createIdentityIndex } from './identity-index.ts'
import { createInboxReader } from './inbox-reader.ts'
import type { ListFile } from './list-file.ts'
import { retryBusy } from './lock.ts'
import { createNumbering } from './numbering.ts'
import { createReader } from './read.ts'
import { createRemoval } from './removal.ts'
import { writeRescue } from './rescue.ts'
import { type CompactionSchedule, createSchedule } from './schedule.ts'
import { createSuppressions } from './suppressions.ts'
import { createWriter, prepareAppend } from './write.ts'

/** A SQLite list, with the methods that only the writer thread calls. */
export interface SqliteStore
  extends SubscriberStore,
    Pick<CompactionSchedule, 'compactFor' | 'isBacklogLarge' | 'inboxSince'>,
    Pick<ListFile, 'findLoss' | 'findElsewhere'> {
  /**
   * Accepts a batch of addresses, given as a JSON array. Blocks the thread while it waits for the lock and for the
   * disk.
   *
   * @throws SQLiteError when it cannot be written, StoreError when the list is lost
   */
  append(addresses: string): void
  /** Skips numbers if the list may be in an older state: see createNumbering. Otherwise the first `append` does. */
  settleNumbers(): void
  /** Writes all that a lost list holds to a file next to where it was: see writeRescue. */
  rescue(): Promise<string>
}

/**
 * Rows in one import: one lock and one sync. Larger imports cost less per row and need more memory. Measured: 120 MB,
 * and 260 MB with 100,000 rows.
 */
const IMPORT_SIZE = 10_000

/** Imports between two forced garbage collections. */
const IMPORTS_PER_COLLECTION = 2

/** Addresses from which on a removal is one of many. */
const MANY_REMOVALS = 1000

export interface StoreOptions extends OpenOptions {
  /** The hash of identities. Default: the keyed hash of the list. A list must always be opened with the same one. */
  readonly hashOf?: IdentityHash
  /** Gets a message for the owner. */
  readonly notify?: ((text: string) => void) | undefined
}

/**
 * Opens the list in a file.
 *
 * @throws StoreError when it cannot be opened
 */
export function openSqliteStore(file: string, options: StoreOptions = {}): SqliteStore {
  const db = openSqliteFile(file, options)
  try {
    return createSqliteStore(db, { hashOf: createIdentityHash(db), ...options })
  } catch (error) {
    db.close()
    throw toOpenError(db.filename, error)
  }
}

function createSqliteStore(
  db: ListFile,
  { hashOf, notify }: StoreOptions & { readonly hashOf: IdentityHash },
): SqliteStore {
  const numbering = createNumbering(db)
  const counts = createCounts(db)
  const suppressions = createSuppressions(db)
  const index = createIdentityIndex(db, hashOf)
  const schedule = createSchedule(db, createCompactor(db, { counts, suppressions, hashOf }))
  const reader = createReader(db, { counts, suppressions, index })
  const removal = createRemoval(db, { counts, suppressions, index })
  const readInbox = createInboxReader(db, { reader, suppressions, index })
  const writer = createWriter(db, { removal, reader, suppressions, index, schedule })
  const insert = prepareAppend(db)
  const compacted = createCompactedReads(db, { compact: schedule.compact, reader, readInbox })

  function settleNumbers(): void {
    const number = numbering.settle()
    if (number === undefined) return
    notify?.(`the list was restored, copied or not closed: numbering continues at ${number}, above all earlier numbers`)
  }

  function append(addresses: string): void {
    // Only the first commit after a loss goes into a file that nobody finds.
    if (db.isLost) db.checkPlace()
    settleNumbers()
    insert.run(Date.now(), addresses)
    // After the sync and before the confirmation: what is not in the files at the paths must not be confirmed.
    db.checkCommit()
  }

  /** Does work that writes. It is done when the list that has it is still at its path. */
  const write = <T>(work: () => Promise<T>) =>
    wrapErrors(db, async () => {
      if (db.writeError) throw db.writeError
      const result = await work()
      db.checkPlace()
      return result
    })

  let imports = 0
  const countImport = () => {
    if (++imports % IMPORTS_PER_COLLECTION === 0) Bun.gc(true)
  }

  /** Does work that gives out numbers. */
  const writeNumbers = <T>(work: () => Promise<T>) =>
    write(async () => {
      await retryBusy(db, settleNumbers)
      return await work()
    })

  return {
    id: () => wrapErrors(db, async () => readFileId(db.filename)),
    async numbering() {
      return await wrapErrors(db, async () => {
        db.checkPlace()
        return numbering.read()
      })
    },
    settleNumbers,
    append,
    findLoss() {
      const loss = db.findLoss()
      if (loss === undefined) numbering.renew()
      return loss
    },
    findElsewhere: () => db.findElsewhere(),
    rescue: () => writeRescue(db),
    compactFor(milliseconds) {
      db.checkPlace()
      return schedule.compactFor(milliseconds)
    },
    isBacklogLarge: schedule.isBacklogLarge,
    inboxSince: schedule.inboxSince,
    add: (addresses) => wrapErrors(db, async () => append(JSON.stringify(addresses))),
    importSize: IMPORT_SIZE,
    count: () => compacted.read((from) => from.count()),
    find: (address) => compacted.read((from) => from.find(address)),
    lookUp: (addresses) => compacted.read((from) => from.lookUp(addresses)),
    list: (options = {}) => compacted.readPages((from) => from.list(options)),
    listSuppressions: () => compacted.readPages((from) => from.listSuppressions()),
    status: (days) => compacted.read((from) => ({ ...from.status(days), bytes: readSize(db.filename) })),
    import: (rows) => writeNumbers(() => writer.import(rows)).finally(countImport),
    mergeSubscribers: (rows) => writeNumbers(() => writer.mergeSubscribers(rows)).finally(countImport),
    remove(addresses, options) {
      if (addresses.length >= MANY_REMOVALS) useMoreMemory(db)
      return write(() => writer.remove(addresses, options))
    },
    suppress: (rows, options) => write(() => writer.suppress(rows, options)),
    mergeSuppressions: (merged, signal) => write(() => writer.mergeSuppressions(merged, signal)),
    check: () =>
      wrapErrors(db, async () => {
        compacted.checkWritable()
        db.checkPlace()
        // Takes the lock that a writer needs, and writes nothing.
        db.run('BEGIN IMMEDIATE')
        db.run('ROLLBACK')
      }),
    close: async () => db.close(),
  }
}

/**
 * Keeps 64 MiB of pages in memory and in the log. Removals change pages all over the file: 100,000 of two million wrote
 * half as many bytes, and took 0.8 of the CPU.
 */
function useMoreMemory(db: ListFile): void {
  db.run('PRAGMA cache_size = -65536')
  db.run('PRAGMA wal_autocheckpoint = 16384')
}
