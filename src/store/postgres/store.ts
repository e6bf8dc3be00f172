/** The list in a PostgreSQL database. Any number of processes on any number of machines can share it. */

import type { SQL } from 'bun'
import type { Log } from '../../log.ts'
import {
  type ImportRow,
  type ImportTally,
  isResubscription,
  type ServiceStore,
  type SubscriberStore,
  type Suppression,
} from '../../subscriber.ts'
import type { MayReturn } from '../suppression-hash.ts'
import { compact, runCompacted } from './compaction.ts'
import { readCount } from './counts.ts'
import { appendGroup, countWaiting, readInboxSince } from './inbox.ts'
import { readNumbering } from './numbering.ts'
import { suppressOptOuts } from './opt-outs.ts'
import { createPool, type Pool, type PoolOptions } from './pool.ts'
import {
  checkWritable,
  findSubscriber,
  PAGE_SIZE,
  readId,
  readPages,
  readStates,
  readStatus,
  readVisibleSeq,
} from './read.ts'
import { createConfirmation } from './replication.ts'
import { createSchedule } from './schedule.ts'
import { readSuppressions, type SuppressionRow } from './suppressions.ts'
import { importRows, mergeSuppressions, removeAddresses } from './write.ts'

/** Rows that an import writes while it holds the lock, for 0.1 to 0.2 s. New addresses wait as long. */
const IMPORT_SIZE = 5000

export interface PostgresStoreOptions extends PoolOptions {
  /** Gets a line when compaction fails. */
  readonly log?: Log
  /** Is called with a sentence for the owner. */
  readonly notify?: ((text: string) => void) | undefined
}

/**
 * Creates the store. It connects, and creates or migrates the schema, at the first call: the server may be down now.
 *
 * @param options.hasDeadline true for the service, which must answer its callers in time
 * @throws StoreError when the URL is not valid
 */
export function createPostgresStore({ log, notify, ...options }: PostgresStoreOptions): SubscriberStore & ServiceStore {
  // Compaction in the service must not use the connections of acceptances, nor replace them when it takes too long.
  const compactionPool = options.hasDeadline ? createPool({ ...options, max: 1 }) : undefined
  const pool = createPool(compactionPool ? { ...options, max: 2 } : options)
  const schedule = compactionPool && createSchedule(compactionPool, log)
  const confirm = createConfirmation(pool)

  let isNoted = false

  async function compactOrNote(): Promise<void> {
    if ((await compact(pool)) !== undefined || isNoted) return
    isNoted = true
    const waiting = await pool.run(countWaiting)
    if (waiting > 0) notify?.(toNote(waiting))
  }

  async function read<T>(work: (sql: SQL) => Promise<T>): Promise<T> {
    await compactOrNote()
    return await pool.run(work)
  }

  async function runImport<Row extends ImportRow>(
    rows: readonly Row[],
    mayReturn: MayReturn<Row>,
  ): Promise<ImportTally> {
    if (rows.length === 0) return { added: 0, known: 0, suppressed: 0 }
    return await runCompacted(pool, (sql) => importRows(sql, rows, mayReturn))
  }

  return {
    id: () => pool.run(readId),
    numbering: () => read(readNumbering),
    importSize: IMPORT_SIZE,
    async add(addresses) {
      await pool.run((sql) => appendGroup(sql, addresses))
      await confirm()
      schedule?.accepted(addresses.length)
    },
    check: () => pool.run(checkWritable),
    measure: async () => ({ inboxSince: await pool.run(readInboxSince), freeBytes: undefined }),
    count: () => read(readCount),
    find: (address) => read((sql) => findSubscriber(sql, address)),
    lookUp: async (addresses) => (addresses.length === 0 ? [] : await read((sql) => readStates(sql, addresses))),
    async *list(range) {
      const end = await read(readVisibleSeq)
      yield* readPages(pool.run, { ...range, end })
    },
    import: (rows) => runImport(rows, () => false),
    mergeSubscribers: (subscribers) => runImport(subscribers, isResubscription),
    remove: async (addresses, { suppress }) =>
      addresses.length === 0 ? [] : await runCompacted(pool, (sql) => removeAddresses(sql, addresses, suppress)),
    suppress: async (rows, { removeUndated }) =>
      rows.length === 0
        ? { added: 0, removed: 0, kept: 0, known: 0 }
        : await runCompacted(pool, (sql) => suppressOptOuts(sql, rows, removeUndated)),
    listSuppressions: () => listSuppressions(pool),
    mergeSuppressions: (suppressions, signal) => mergeSuppressions(pool, suppressions, signal),
    status: (days) => read((sql) => readStatus(sql, days)),
    async close() {
      schedule?.stop()
      await Promise.all([compactionPool?.close(), pool.close()])
    },
  }
}

function toNote(waiting: number): string {
  const addresses = waiting === 1 ? '1 address is' : `up to ${waiting} addresses are`
  return `the database is read-only, such as a standby: ${addresses} missing, because the primary has not compacted the inbox yet`
}

async function* listSuppressions(pool: Pool): AsyncGenerator<readonly Suppression[]> {
  await compact(pool)
  let last: SuppressionRow | undefined
  for (;;) {
    const page = await pool.run((sql) => readSuppressions(sql, last, PAGE_SIZE))
    if (page.length === 0) return
    yield page.map(({ key, hash, suppressedAt }) => ({ key, hash, suppressedAt }))
    last = page.at(-1)
  }
}
