/** The list in a PostgreSQL database, shared by any number of processes on any number of machines. */

import {
  type ListOptions,
  StoreError,
  type Subscriber,
  type SubscriberStore,
  type Suppression,
} from '../../subscriber.ts'
import { createPool, type Pool, type PoolOptions } from './pool.ts'
import { findSubscriber, isWritable, readCount, readPage, readStates, readStatus } from './read.ts'
import { readSuppressions, type SuppressionRow } from './suppressions.ts'
import { createAdd, importRows, mergeSuppressions, removeAddresses } from './write.ts'

/** Rows in a page. Measured in ARCHITECTURE.md. */
const PAGE = 5000

/** Rows that an import takes under one lock: for as long, no address is accepted. Measured in ARCHITECTURE.md. */
const IMPORT_SIZE = 5000

/**
 * Opens the list in a database. Nothing is asked of the server yet, which may be down: the schema is made or brought
 * up before the first work.
 *
 * @param options.hasDeadline for the service, which gives its callers an answer within its deadline
 * @throws StoreError when the URL cannot be understood
 */
export function createPostgresStore(options: Omit<PoolOptions, 'connections'>): SubscriberStore {
  const pool = createPool({ ...options, connections: 3 })
  return {
    importSize: IMPORT_SIZE,
    add: createAdd(pool),
    check: () => pool.run(checkWritable),
    count: () => pool.run(readCount),
    find: (address) => pool.run((sql) => findSubscriber(sql, address)),
    lookUp: async (addresses) =>
      addresses.length === 0 ? [] : await pool.run((sql) => readStates(sql, addresses)),
    list: (listOptions = {}) => list(pool, listOptions),
    import: async (rows) =>
      rows.length === 0
        ? { added: 0, known: 0, suppressed: 0 }
        : await pool.runLocked((sql) => importRows(sql, rows)),
    remove: async (addresses, { suppress }) =>
      addresses.length === 0 ? [] : await pool.runLocked((sql) => removeAddresses(sql, addresses, suppress)),
    listSuppressions: () => listSuppressions(pool),
    mergeSuppressions: (suppressions) => mergeSuppressions(pool, suppressions),
    status: (days) => pool.run((sql) => readStatus(sql, days)),
    close: pool.close,
  }
}

async function checkWritable(sql: Parameters<typeof isWritable>[0]): Promise<void> {
  const { readOnly, allowed } = await isWritable(sql)
  if (readOnly) throw new StoreError('the database is read-only')
  if (!allowed) throw new StoreError('the user lacks the permission to write it')
}

// Page by page, each read on its own: whoever has a lower seq than one that is seen was committed before it.
async function* list(
  pool: Pool,
  { after = 0, limit = Number.POSITIVE_INFINITY }: ListOptions,
): AsyncGenerator<readonly Subscriber[]> {
  let cursor = after
  for (let left = limit; left > 0; ) {
    const size = Math.min(PAGE, left)
    const page = await pool.run((sql) => readPage(sql, cursor, size))
    if (page.length > 0) yield page
    if (page.length < size) return
    cursor = page.at(-1)?.seq ?? cursor
    left -= size
  }
}

async function* listSuppressions(pool: Pool): AsyncGenerator<readonly Suppression[]> {
  let last: SuppressionRow | undefined
  for (;;) {
    const page = await pool.run((sql) => readSuppressions(sql, last, PAGE))
    if (page.length === 0) return
    yield page.map(({ key, hash, suppressedAt }) => ({ key, hash, suppressedAt }))
    last = page.at(-1)
  }
}
