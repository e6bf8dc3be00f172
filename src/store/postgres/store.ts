/** The list in a PostgreSQL database. Any number of processes on any number of machines can share it. */

import {
  type ImportRow,
  type ImportTally,
  isResubscription,
  type SubscriberStore,
  type Suppression,
} from '../../subscriber.ts'
import type { MayReturn } from '../suppression-hash.ts'
import { readNumbering } from './numbering.ts'
import { suppressOptOuts } from './opt-outs.ts'
import { createPool, type Pool, type PoolOptions } from './pool.ts'
import {
  checkWritable,
  findSubscriber,
  PAGE_SIZE,
  readCount,
  readId,
  readPages,
  readStates,
  readStatus,
} from './read.ts'
import { readSuppressions, type SuppressionRow } from './suppressions.ts'
import { createAdd, importRows, mergeSuppressions, removeAddresses } from './write.ts'

/** Rows that an import writes while it holds the lock, for 0.1 to 0.2 s. New addresses wait as long. */
const IMPORT_SIZE = 5000

/**
 * Creates the store. It connects, and creates or migrates the schema, at the first call: the server may be down now.
 *
 * @param options.hasDeadline true for the service, which must answer its callers in time
 * @throws StoreError when the URL is not valid
 */
export function createPostgresStore(options: PoolOptions): SubscriberStore {
  const pool = createPool(options)

  async function runImport<Row extends ImportRow>(
    rows: readonly Row[],
    mayReturn: MayReturn<Row>,
  ): Promise<ImportTally> {
    if (rows.length === 0) return { added: 0, known: 0, suppressed: 0 }
    return await pool.runLocked((sql) => importRows(sql, rows, mayReturn))
  }

  return {
    id: () => pool.run(readId),
    numbering: () => pool.run(readNumbering),
    importSize: IMPORT_SIZE,
    add: createAdd(pool),
    check: () => pool.run(checkWritable),
    count: () => pool.run(readCount),
    find: (address) => pool.run((sql) => findSubscriber(sql, address)),
    lookUp: async (addresses) => (addresses.length === 0 ? [] : await pool.run((sql) => readStates(sql, addresses))),
    list: (range) => readPages(pool.run, range),
    import: (rows) => runImport(rows, () => false),
    mergeSubscribers: (subscribers) => runImport(subscribers, isResubscription),
    remove: async (addresses, { suppress }) =>
      addresses.length === 0 ? [] : await pool.runLocked((sql) => removeAddresses(sql, addresses, suppress)),
    suppress: async (rows, { removeUndated }) =>
      rows.length === 0
        ? { added: 0, removed: 0, kept: 0, known: 0 }
        : await pool.runLocked((sql) => suppressOptOuts(sql, rows, removeUndated)),
    listSuppressions: () => listSuppressions(pool),
    mergeSuppressions: (suppressions, signal) => mergeSuppressions(pool, suppressions, signal),
    status: (days) => pool.run((sql) => readStatus(sql, days)),
    close: pool.close,
  }
}

async function* listSuppressions(pool: Pool): AsyncGenerator<readonly Suppression[]> {
  let last: SuppressionRow | undefined
  for (;;) {
    const page = await pool.run((sql) => readSuppressions(sql, last, PAGE_SIZE))
    if (page.length === 0) return
    yield page.map(({ key, hash, suppressedAt }) => ({ key, hash, suppressedAt }))
    last = page.at(-1)
  }
}
