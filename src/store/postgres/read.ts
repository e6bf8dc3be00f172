/** The statements that read a PostgreSQL list, on a connection or in a transaction. */

import type { SQL } from 'bun'
import { type Address, toIdentity } from '../../email.ts'
import {
  type ListOptions,
  StoreError,
  type StoreStatus,
  type Subscriber,
  type SubscriptionState,
} from '../../subscriber.ts'
import { type DayRow, toFirstDay, toStatus } from '../daily-counts.ts'
import { RESERVED } from './counts.ts'
import { readNodeBytes } from './nodes.ts'
import { createPermissionError, findMissingPermissions } from './permissions.ts'
import type { Pool } from './pool.ts'
import { findSuppressed } from './suppressions.ts'

/** Rows in a page. Pages of 1,000 to 10,000 rows take the same time per row. */
export const PAGE_SIZE = 5000

/**
 * Reads which server process this is, by its start in microseconds, and the number of the database in it. The system
 * identifier is not enough: a restored copy of a server has the same.
 */
export async function readId(sql: SQL): Promise<string> {
  const [row] = await sql<{ id: string }[]>`
    SELECT extract(epoch FROM pg_postmaster_start_time()) || ':' || oid AS id
    FROM pg_database WHERE datname = current_database()`
  return row?.id ?? ''
}

export async function findSubscriber(sql: SQL, address: Address): Promise<Subscriber | undefined> {
  const [subscriber] = await sql<Subscriber[]>`
    SELECT seq::float8, email, subscribed_at AS "subscribedAt"
    FROM rollcall.subscribers WHERE identity = ${toIdentity(address)}`
  return subscriber
}

export async function readStates(sql: SQL, addresses: readonly Address[]): Promise<readonly SubscriptionState[]> {
  const identities = sql.array(addresses.map(toIdentity), 'TEXT')
  const rows = await sql<{ index: number }[]>`
    SELECT (position - 1)::integer AS index
    FROM unnest(${identities}::text[]) WITH ORDINALITY AS given (identity, position)
    JOIN rollcall.subscribers USING (identity)`
  const subscribed = new Set(rows.map(({ index }) => index))
  const suppressed = await findSuppressed(sql, addresses)
  return addresses.map((_, index) =>
    subscribed.has(index) ? 'subscribed' : suppressed.has(index) ? 'suppressed' : 'absent',
  )
}

export interface PageOptions extends ListOptions {
  /** The last seq that is read. */
  readonly end: number
}

/** Reads the last seq that a reader may use: every change with a seq up to it is visible. */
export async function readVisibleSeq(sql: SQL): Promise<number> {
  const [row] = await sql<{ seq: number }[]>`SELECT visible_seq::float8 AS seq FROM rollcall.list`
  return row?.seq ?? 0
}

/**
 * Reads the list in order of `seq`, in pages. Each page is a read of its own, without a lock or a long snapshot. None
 * misses a row: nothing gets a seq up to `end` any more.
 *
 * @param run runs each read: `pool.run`, or a function that uses the transaction of the caller
 */
export async function* readPages(
  run: Pool['run'],
  { after = 0, limit = Number.POSITIVE_INFINITY, end }: PageOptions,
): AsyncGenerator<readonly Subscriber[]> {
  let cursor = after
  for (let left = limit; left > 0; ) {
    const size = Math.min(PAGE_SIZE, left)
    const page = await run((sql) => readPage(sql, { after: cursor, limit: size, end }))
    if (page.length > 0) yield page
    if (page.length < size) return
    cursor = page.at(-1)?.seq ?? cursor
    left -= size
  }
}

async function readPage(sql: SQL, { after, limit, end }: Required<PageOptions>): Promise<readonly Subscriber[]> {
  // `ORDER BY seq` would mean the column of the result, which has no index: each page would sort the rest of the list.
  return await sql<Subscriber[]>`
    SELECT seq::float8, email, subscribed_at AS "subscribedAt"
    FROM rollcall.subscribers s WHERE seq > ${after}::float8::bigint AND seq <= ${end}::float8::bigint
    ORDER BY s.seq LIMIT ${limit}`
}

export async function readStatus(sql: SQL, days: number): Promise<StoreStatus> {
  const first = toFirstDay(days)
  // One scan of the list counts the requested days, and all earlier ones as one day before them.
  const rows = await sql<DayRow[]>`
    SELECT greatest((subscribed_at AT TIME ZONE 'UTC')::date - date '1970-01-01', ${first - 1}::integer) AS day,
           count(*)::float8 AS subscribers,
           count(*) FILTER (WHERE identity LIKE ANY (${sql.array(RESERVED, 'TEXT')}::text[]))::float8 AS reserved,
           (extract(epoch FROM max(subscribed_at)) * 1000)::float8 AS last
    FROM rollcall.subscribers GROUP BY 1`
  const [rest] = await sql<{ suppressed: number; bytes: number; isDistributed: boolean }[]>`
    SELECT (SELECT count(*) FROM rollcall.suppressions)::float8 AS suppressed,
           (SELECT sum(pg_total_relation_size(oid)) FROM pg_class
            WHERE relnamespace = 'rollcall'::regnamespace AND relkind = 'r')::float8 AS bytes,
           to_regclass('rollcall.node_lock') IS NOT NULL AS "isDistributed"`
  const { suppressed = 0, bytes = 0, isDistributed = false } = rest ?? {}
  const others = isDistributed ? await readNodeBytes(sql) : 0
  return { ...toStatus(rows, { first, days }), suppressed, bytes: bytes + others }
}

/**
 * Checks, without a write, that this user may add addresses and compact them. Reads no table: an acceptance works while
 * another process locks the list.
 *
 * @throws StoreError when the server is read-only, as after a failover, or the user lacks a permission
 */
export async function checkWritable(sql: SQL): Promise<void> {
  const [row] = await sql<{ readOnly: boolean }[]>`
    SELECT current_setting('transaction_read_only')::boolean AS "readOnly"`
  if (row?.readOnly) throw new StoreError('the database is read-only')
  const missing = await findMissingPermissions(sql, 'service')
  if (missing.length > 0) throw createPermissionError(missing)
}
