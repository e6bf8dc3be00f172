/** The statements that read a PostgreSQL list. What must be seen was compacted before. */

import type { SQL } from 'bun'
import type { Address } from '../../email.ts'
import {
  type Count,
  type Found,
  type ListHead,
  type ListOptions,
  StoreError,
  type StoreStatus,
  type Subscriber,
  type Suppression,
} from '../../subscriber.ts'
import { toFirstDay, toStatus } from '../status.ts'
import { READ_ONLY } from './error.ts'
import { DURABLE, IS_RESERVED, toHeadRow, toKey } from './schema.ts'

/** Rows in a page. Pages of 1,000 to 10,000 rows take the same time per row. */
const PAGE_SIZE = 5000

export async function readHead(sql: SQL): Promise<ListHead> {
  const rows = await sql<{ id: string; inner: string; lastSeq: number }[]>`
    SELECT id, encode(inner_key, 'hex') AS inner, last_seq::float8 AS "lastSeq" FROM rollcall.list`
  const { id, inner, lastSeq } = toHeadRow(rows)
  return { id, suppressionKey: toKey(Buffer.from(inner, 'hex')), lastSeq }
}

/**
 * Shows without a commit whether addresses are accepted. Reads no table: an acceptance works while another process locks
 * the list.
 *
 * @throws an error when commits are not durable
 * @throws StoreError when the database is read-only, or the user lacks the permission
 */
export async function checkWritable(sql: SQL): Promise<void> {
  const [row] = await sql.unsafe<{ isReadOnly: boolean; mayAdd: boolean }[]>(
    `SELECT 0::${DURABLE}, current_setting('transaction_read_only')::boolean AS "isReadOnly",
            has_table_privilege('rollcall.inbox', 'SELECT') AND has_table_privilege('rollcall.inbox', 'INSERT') AS "mayAdd"`,
  )
  if (row?.isReadOnly) throw new StoreError(READ_ONLY)
  if (!row?.mayAdd) throw new StoreError('the user may not add to the list: GRANT SELECT, INSERT ON rollcall.inbox')
}

export async function readFound(sql: SQL, addresses: readonly Address[]): Promise<readonly Found[]> {
  const rows = await sql<{ index: number; seq: number | null; email: Address; at: Date; suppressedAt: Date | null }[]>`
    SELECT (position - 1)::integer AS index, seq::float8, s.email, subscribed_at AS at, suppressed_at AS "suppressedAt"
    FROM unnest(${sql.array([...addresses], 'TEXT')}::text[]) WITH ORDINALITY AS given (email, position)
    CROSS JOIN rollcall.list
    LEFT JOIN rollcall.subscribers s ON lower(s.email) = lower(given.email COLLATE "C")
    LEFT JOIN rollcall.suppressions p ON p.hash = rollcall.suppression_hash(inner_key, outer_key, given.email)
    WHERE s.seq IS NOT NULL OR p.hash IS NOT NULL`
  const found: Found[] = addresses.map(() => ({}))
  for (const { index, seq, email, at, suppressedAt } of rows) {
    found[index] =
      seq === null ? { suppressedAt: suppressedAt ?? undefined } : { subscriber: { seq, email, subscribedAt: at } }
  }
  return found
}

/** Reads subscribers in pages, in order of `seq`. Needs one state of the list: numbers become visible in their order. */
export async function* readSubscribers(
  transaction: SQL,
  { after = 0, limit = Number.POSITIVE_INFINITY }: ListOptions = {},
): AsyncGenerator<readonly Subscriber[]> {
  let cursor = after
  for (let left = limit; left > 0; left -= PAGE_SIZE) {
    const size = Math.min(PAGE_SIZE, left)
    const page = await readPage(transaction, cursor, size)
    if (page.length > 0) yield page
    if (page.length < size) return
    cursor = page.at(-1)?.seq ?? cursor
  }
}

async function readPage(sql: SQL, after: number, size: number): Promise<readonly Subscriber[]> {
  // `ORDER BY seq` would mean the column of the result, which has no index: each page would sort the rest of the list.
  return await sql<Subscriber[]>`
    SELECT seq::float8, email, subscribed_at AS "subscribedAt" FROM rollcall.subscribers s
    WHERE seq > ${after}::float8::bigint ORDER BY s.seq LIMIT ${size}::integer`
}

/** Reads the suppressions in order of their hashes. Bun's client cannot read every format of `bytea_output`. */
async function* readSuppressions(sql: SQL): AsyncGenerator<readonly Suppression[]> {
  for (let after = ''; ; ) {
    const rows = await sql<{ hash: string; suppressedAt: Date }[]>`
      SELECT encode(hash, 'hex') AS hash, suppressed_at AS "suppressedAt" FROM rollcall.suppressions s
      WHERE s.hash > decode(${after}, 'hex') ORDER BY s.hash LIMIT ${PAGE_SIZE}::integer`
    if (rows.length > 0) yield rows.map(({ hash, suppressedAt }) => ({ hash: Buffer.from(hash, 'hex'), suppressedAt }))
    if (rows.length < PAGE_SIZE) return
    after = rows.at(-1)?.hash ?? after
  }
}

/** @throws StoreError after the last page unless the pages had every row. Needs one state of the list. */
export const readAllSubscribers = (transaction: SQL) =>
  proveComplete(transaction, 'subscribers', readSubscribers(transaction))

/** @throws StoreError after the last page unless the pages had every row. Needs one state of the list. */
export const readAllSuppressions = (transaction: SQL) =>
  proveComplete(transaction, 'suppressions', readSuppressions(transaction))

/** The pages come from an index. So they are compared with the rows of the table, which are counted without an index. */
async function* proveComplete<Row>(
  transaction: SQL,
  table: 'subscribers' | 'suppressions',
  pages: AsyncIterable<readonly Row[]>,
): AsyncGenerator<readonly Row[]> {
  let read = 0
  for await (const page of pages) {
    read += page.length
    yield page
  }
  await transaction`SELECT set_config('enable_indexonlyscan', 'off', true), set_config('enable_indexscan', 'off', true)`
  const [row] = await transaction.unsafe<[{ rows: number }]>(`SELECT count(*)::float8 AS rows FROM rollcall.${table}`)
  if (read === row.rows) return
  throw new StoreError(
    `the list is damaged: the table rollcall.${table} has ${row.rows} rows, and its index ${read}. Restore a backup, or run REINDEX TABLE rollcall.${table}`,
  )
}

export async function readCount(sql: SQL): Promise<Count> {
  const [count] = await sql.unsafe<[Count]>(`
    SELECT (SELECT count(*) FROM rollcall.subscribers)::float8 AS subscribers,
           (SELECT count(*) FROM rollcall.subscribers WHERE ${IS_RESERVED})::float8 AS reserved,
           (SELECT count(*) FROM rollcall.suppressions)::float8 AS suppressed`)
  return count
}

export async function readStatus(sql: SQL): Promise<StoreStatus> {
  const first = toFirstDay()
  const days = await sql<{ day: number; added: number }[]>`
    SELECT (subscribed_at AT TIME ZONE 'UTC')::date - date '1970-01-01' AS day, count(*)::float8 AS added
    FROM rollcall.subscribers WHERE subscribed_at >= to_timestamp(${first}::float8 * 86400) GROUP BY 1`
  const [row] = await sql<[{ last: number | null; bytes: number }]>`
    SELECT (SELECT extract(epoch FROM max(subscribed_at)) * 1000 FROM rollcall.subscribers)::float8 AS last,
           (SELECT sum(pg_total_relation_size(oid)) FROM pg_catalog.pg_class
            WHERE relnamespace = 'rollcall'::regnamespace AND relkind = 'r')::float8 AS bytes`
  return { ...(await readCount(sql)), ...toStatus({ days, first, last: row.last }), bytes: row.bytes }
}
