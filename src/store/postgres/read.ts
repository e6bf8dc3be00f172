/**
 * Reads a PostgreSQL list, and checks whether it can be written. What reads subscribers does not see the inbox: compact first. What
 * reads dates needs a transaction that sets their style. No number travels as a `float8`, which a server rounds in texts
 * (extra_float_digits): a count is an `integer`, and a `bigint` arrives as a string.
 */

import type { SQL } from 'bun'
import type { Address } from '../../email.ts'
import {
  type Count,
  type Found,
  type ListHead,
  StoreError,
  type StoreStatus,
  type Subscriber,
  type Suppression,
} from '../../subscriber.ts'
import { createSuppressionHash } from '../changes.ts'
import type { Waiting } from '../check.ts'
import { checkClock, DAY_BEFORE_SEQ_MS, type DayCount, toClockSeq, toDaySeq, toDays, toFirstDay } from '../numbers.ts'
import { READ_ONLY } from './error.ts'
import { IS_RESERVED, refuseOtherVersion, toHeadRow } from './schema.ts'

/** Rows in a page. Pages of 1,000 to 10,000 rows take the same time per row. */
const PAGE_SIZE = 5000

/** Selects a time in milliseconds since 1970. As text, it would depend on settings of the session. */
export const toMilliseconds = (sql: SQL, time: string) =>
  sql.unsafe(`floor(extract(epoch FROM ${time}) * 1000)::bigint`)

/** Reads the head of the list, with the clock of the server. @throws StoreError when the list has no head, or two */
export async function readHead(sql: SQL): Promise<ListHead> {
  const rows = await sql<{ version: number; id: string; key: string; lastSeq: string; now: string }[]>`
    SELECT version, id, encode(suppression_key, 'hex') AS key, last_seq AS "lastSeq",
           ${toMilliseconds(sql, 'clock_timestamp()')} AS now
    FROM rollcall.list`
  const { version, id, key, lastSeq, now } = toHeadRow(rows)
  refuseOtherVersion(version)
  return { id, suppressionKey: Buffer.from(key, 'hex'), lastSeq: Number(lastSeq), clockSeq: toClockSeq(Number(now)) }
}

/**
 * Shows without a commit whether addresses are accepted. Reads no table: an acceptance works while another process locks
 * the list.
 *
 * @throws an error when commits are not durable
 * @throws StoreError when the clock of this machine is wrong, the database is read-only, or the user lacks the permission
 */
export async function checkAccepts(sql: SQL): Promise<void> {
  checkClock()
  // The first column is an error unless commits are durable: see durable_number in schema.ts.
  const [row] = await sql<[{ isReadOnly: boolean; mayAdd: boolean }]>`
    SELECT 0::rollcall.durable_number, current_setting('transaction_read_only')::boolean AS "isReadOnly",
           has_table_privilege('rollcall.inbox', 'SELECT') AND has_table_privilege('rollcall.inbox', 'INSERT') AS "mayAdd"`
  if (row.isReadOnly) throw new StoreError(READ_ONLY)
  if (!row.mayAdd) throw new StoreError('the user may not add to the list: GRANT SELECT, INSERT ON rollcall.inbox')
}

/**
 * Shows whether addresses can be stored, by a row that the caller rolls back.
 *
 * @throws like checkAccepts and checkStandbys, and when the disk is full
 */
export async function tryWrite(transaction: SQL): Promise<void> {
  await checkAccepts(transaction)
  await checkStandbys(transaction)
  // So many bytes do not fit into the free space that a table usually has.
  await transaction`
    INSERT INTO rollcall.inbox (id, size, addresses) VALUES (${Bun.randomUUIDv7()}::uuid, 0, repeat('x', 65536))`
}

/**
 * @throws StoreError when a commit would wait for a synchronous standby: one is not connected, or another commit of this user
 * has waited for 4 s
 */
export async function checkStandbys(sql: SQL): Promise<void> {
  // Only a user with pg_read_all_stats sees which of the standbys are synchronous.
  const [row] = await sql<[{ names: string; standbys: number; waiting: number }]>`
    SELECT CASE current_setting('synchronous_commit') WHEN 'local' THEN '' ELSE current_setting('synchronous_standby_names') END
             AS names,
           (SELECT count(*) FROM pg_stat_replication WHERE coalesce(sync_state, 'sync') IN ('sync', 'quorum'))::integer
             AS standbys,
           (SELECT count(*) FROM pg_stat_activity
            WHERE wait_event = 'SyncRep' AND datname = current_database() AND usename = current_user
              AND query_start < clock_timestamp() - interval '4 seconds')::integer AS waiting`
  if (row.names === '') return
  const needed = Number(NEEDED_STANDBYS.exec(row.names)?.[1] ?? 1)
  if (row.standbys < needed || row.waiting > 0)
    throw new StoreError('it waits for a synchronous standby: start one, or change synchronous_standby_names')
}

/** How many standbys a commit waits for: `FIRST 2 (a, b)`, `ANY 2 (a, b)` and `2 (a, b)` need two; `a, b` needs one. */
const NEEDED_STANDBYS = /^\s*(?:FIRST|ANY)?\s*(\d+)\s*\(/i

/** Creates the hash of suppressions in hexadecimal: Bun's client cannot read every format of `bytea_output`. */
export async function createHexHash(sql: SQL): Promise<(address: Address) => string> {
  const hashOf = createSuppressionHash((await readHead(sql)).suppressionKey)
  return (address) => hashOf(address).toString('hex')
}

/** Counts the subscribers after a number, without those in reserved domains. */
export async function readWaiting(sql: SQL, after: number): Promise<Waiting> {
  const [row] = await sql.unsafe<[{ count: number; first: string | null }]>(
    `SELECT count(*)::integer AS count, min(seq) AS first FROM rollcall.subscribers WHERE seq > $1 AND NOT ${IS_RESERVED}`,
    [after],
  )
  return { count: row.count, first: row.first === null ? null : Number(row.first) }
}

/** Returns what the list holds of each address, in their order. Takes at most as many as a batch of a change has. */
export async function lookUp(sql: SQL, addresses: readonly Address[]): Promise<readonly Found[]> {
  const hashes = addresses.map(await createHexHash(sql))
  const rows = await sql<{ index: number; seq: string | null; email: Address; at: Date; suppressedAt: Date | null }[]>`
    SELECT (position - 1)::integer AS index, seq, s.email, subscribed_at AS at, suppressed_at AS "suppressedAt"
    FROM unnest(${sql.array([...addresses], 'TEXT')}::text[], ${sql.array(hashes, 'TEXT')}::text[])
      WITH ORDINALITY AS given (email, hash, position)
    LEFT JOIN rollcall.subscribers s ON lower(s.email) = lower(given.email COLLATE "C")
    LEFT JOIN rollcall.suppressions p ON p.hash = decode(given.hash, 'hex')
    WHERE s.seq IS NOT NULL OR p.hash IS NOT NULL`
  const found: Found[] = addresses.map(() => ({}))
  for (const { index, seq, email, at, suppressedAt } of rows) {
    // A new subscription is a new consent: it counts, and not a suppression that the owner's next change deletes.
    if (seq !== null) found[index] = { subscriber: { seq: Number(seq), email, subscribedAt: at } }
    else if (suppressedAt) found[index] = { suppressedAt }
  }
  return found
}

/**
 * Yields the subscribers after a number, in pages. Needs one state of the list, so that the count after the last page is of the same rows.
 *
 * @throws StoreError after the last page of the whole list (`after` is 0) unless the pages had every subscriber
 */
export async function* listSubscribers(transaction: SQL, after: number): AsyncGenerator<readonly Subscriber[]> {
  const size = yield* readPages<Subscriber>(async (last) => {
    const rows = await transaction<(Omit<Subscriber, 'seq'> & { seq: string })[]>`
      SELECT seq, email, subscribed_at AS "subscribedAt" FROM rollcall.subscribers
      WHERE seq > ${last?.seq ?? after}::bigint ORDER BY seq LIMIT ${PAGE_SIZE}::integer`
    return rows.map((row) => ({ ...row, seq: Number(row.seq) }))
  })
  if (after === 0) await proveComplete(transaction, 'subscribers', size)
}

/**
 * Yields the suppressions in the order of their hashes, without those of people who came back. Needs one state of the list.
 *
 * @throws StoreError after the last page unless the pages had every suppression
 */
export async function* listSuppressions(transaction: SQL): AsyncGenerator<readonly Suppression[]> {
  const returned = await findReturned(transaction)
  let size = 0
  const pages = readPages<{ hash: string; suppressedAt: Date }>(
    (last) => transaction`
      SELECT encode(hash, 'hex') AS hash, suppressed_at AS "suppressedAt" FROM rollcall.suppressions s
      WHERE s.hash > decode(${last?.hash ?? ''}, 'hex') ORDER BY s.hash LIMIT ${PAGE_SIZE}::integer`,
  )
  for await (const rows of pages) {
    size += rows.length
    const page = rows.filter(({ hash }) => !returned.has(hash))
    if (page.length > 0) yield page.map(({ hash, suppressedAt }) => ({ hash: Buffer.from(hash, 'hex'), suppressedAt }))
  }
  await proveComplete(transaction, 'suppressions', size)
}

/**
 * Yields pages until one is not full.
 *
 * @param read reads the page after a row; without one, the first page
 * @returns how many rows all pages have
 */
async function* readPages<Row>(
  read: (last: Row | undefined) => Promise<readonly Row[]>,
): AsyncGenerator<readonly Row[], number> {
  let size = 0
  for (let last: Row | undefined; ; ) {
    const page = await read(last)
    if (page.length > 0) yield page
    size += page.length
    if (page.length < PAGE_SIZE) return size
    last = page.at(-1)
  }
}

/** The pages come from an index. So they are compared with the rows of the table: no index has the place of a row (`ctid`). */
async function proveComplete(transaction: SQL, table: 'subscribers' | 'suppressions', read: number): Promise<void> {
  const [row] = await transaction.unsafe<[{ rows: string }]>(
    `SELECT count(*) AS rows FROM rollcall.${table} WHERE ctid >= '(0,0)'`,
  )
  if (read === Number(row.rows)) return
  throw new StoreError(
    `the list is damaged: the table rollcall.${table} has ${row.rows} rows, and its index ${read}. Restore a backup, or run REINDEX TABLE rollcall.${table}`,
  )
}

/**
 * Finds the suppressions of people who came back, by their hashes in hexadecimal. They do not count: the next change of the owner
 * deletes them (see forgetReturned). Reads everybody who subscribed since the last one, if there are suppressions.
 */
async function findReturned(transaction: SQL): Promise<ReadonlySet<string>> {
  const returned = new Set<string>()
  const [head] = await transaction<{ after: string }[]>`
    SELECT forgotten_seq AS after FROM rollcall.list WHERE EXISTS (SELECT FROM rollcall.suppressions)`
  if (!head) return returned
  const hashOf = await createHexHash(transaction)
  for await (const page of listSubscribers(transaction, Number(head.after))) {
    const hashes = page.map(({ email }) => hashOf(email))
    const rows = await transaction<{ hash: string }[]>`
      SELECT given.hash FROM rollcall.suppressions s
      JOIN unnest(${transaction.array(hashes, 'TEXT')}::text[]) AS given (hash) ON s.hash = decode(given.hash, 'hex')`
    for (const { hash } of rows) returned.add(hash)
  }
  return returned
}

/** Counts what the list has, in one state of it. */
export async function readCount(sql: SQL): Promise<Count> {
  const [row] = await sql.unsafe<[Count]>(`
    SELECT (SELECT count(*) FROM rollcall.subscribers)::integer AS subscribers,
           (SELECT count(*) FROM rollcall.subscribers WHERE ${IS_RESERVED})::integer AS reserved,
           (SELECT count(*) FROM rollcall.suppressions)::integer AS suppressed`)
  return { ...row, suppressed: row.suppressed - (await findReturned(sql)).size }
}

/** Reads all but the inbox for `status`, in one state of the list. It reads the whole table of subscribers. */
export async function readStatus(sql: SQL): Promise<StoreStatus> {
  const count = await readCount(sql)
  const [{ reader }] = await sql.unsafe<[{ reader: Date | null }]>(
    `SELECT max(subscribed_at) AS reader FROM rollcall.subscribers WHERE NOT ${IS_RESERVED}`,
  )
  const [{ imported, last, bytes }] = await sql<[{ imported: number; last: Date | null; bytes: string }]>`
    SELECT count(*) FILTER (WHERE extract(epoch FROM subscribed_at) * 1000 < seq / 1000 + ${DAY_BEFORE_SEQ_MS}::bigint)::integer
             AS imported,
           max(subscribed_at) AS last,
           (SELECT sum(pg_total_relation_size(oid)) FROM pg_catalog.pg_class
            WHERE relnamespace = 'rollcall'::regnamespace AND relkind = 'r') AS bytes
    FROM rollcall.subscribers`
  const first = toFirstDay()
  const days = await sql<DayCount[]>`
    SELECT day, count(*)::integer AS added
    FROM rollcall.subscribers
    CROSS JOIN LATERAL (SELECT (subscribed_at AT TIME ZONE 'UTC')::date - date '1970-01-01') AS d (day)
    WHERE seq > ${toDaySeq(first)}::bigint AND day >= ${first}::integer GROUP BY day`
  return {
    ...count,
    imported,
    lastAcceptedAt: last ?? undefined,
    lastReaderAt: reader ?? undefined,
    days: toDays(first, days, count.subscribers),
    bytes: Number(bytes),
    freeBytes: undefined,
  }
}
