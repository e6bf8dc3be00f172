/** What is asked of a PostgreSQL list; each function is a statement or two on a connection or in a transaction. */

import type { SQL } from 'bun'
import { type Address, RESERVED_DOMAINS, toIdentity } from '../../email.ts'
import type { Count, StoreStatus, Subscriber, SubscriptionState } from '../../subscriber.ts'
import { type DayRow, toFirstDay, toStatus } from '../daily-counts.ts'
import { findSuppressed } from './suppressions.ts'

/** The same rule as isReserved, as patterns of LIKE (a regular expression takes 2.5 times as long): an address ends in one of the domains, behind an `@` or a dot. */
const RESERVED = RESERVED_DOMAINS.flatMap((domain) => [`%@${domain}`, `%.${domain}`])

export async function readCount(sql: SQL): Promise<Count> {
  const [count] = await sql<Count[]>`
    SELECT count(*)::float8 AS subscribers,
           count(*) FILTER (WHERE lower(email) LIKE ANY (${sql.array(RESERVED, 'TEXT')}::text[]))::float8 AS reserved,
           (SELECT count(*) FROM rollcall.removed)::float8 AS suppressed
    FROM rollcall.subscribers`
  return count ?? { subscribers: 0, reserved: 0, suppressed: 0 }
}

export async function findSubscriber(sql: SQL, address: Address): Promise<Subscriber | undefined> {
  const [subscriber] = await sql<Subscriber[]>`
    SELECT seq::float8, email, subscribed_at AS "subscribedAt"
    FROM rollcall.subscribers WHERE lower(email) = ${toIdentity(address)}`
  return subscriber
}

export async function readStates(
  sql: SQL,
  addresses: readonly Address[],
): Promise<readonly SubscriptionState[]> {
  const identities = sql.array(addresses.map(toIdentity), 'TEXT')
  const rows = await sql<{ position: number }[]>`
    SELECT position::integer FROM unnest(${identities}::text[]) WITH ORDINALITY AS asked (identity, position)
    JOIN rollcall.subscribers ON lower(email) = identity`
  const listed = new Set(rows.map(({ position }) => position - 1))
  const suppressed = await findSuppressed(sql, addresses)
  return addresses.map((_, index) =>
    listed.has(index) ? 'subscribed' : suppressed.has(index) ? 'suppressed' : 'absent',
  )
}

/** A page of the list behind a cursor, in its order. */
export async function readPage(sql: SQL, after: number, limit: number): Promise<readonly Subscriber[]> {
  // `ORDER BY seq` alone is the column of the result, which has no index: each page would sort all that follow.
  return await sql<Subscriber[]>`
    SELECT seq::float8, email, subscribed_at AS "subscribedAt"
    FROM rollcall.subscribers s WHERE seq > ${after}::float8::bigint ORDER BY s.seq LIMIT ${limit}`
}

export async function readStatus(sql: SQL, days: number): Promise<StoreStatus> {
  const first = toFirstDay(days)
  // One walk over the list for all of it: the days asked for, and one in front that stands for the rest.
  const rows = await sql<DayRow[]>`
    SELECT greatest((subscribed_at AT TIME ZONE 'UTC')::date - date '1970-01-01', ${first - 1}::integer) AS day,
           count(*)::float8 AS subscribers,
           count(*) FILTER (WHERE lower(email) LIKE ANY (${sql.array(RESERVED, 'TEXT')}::text[]))::float8 AS reserved,
           (extract(epoch FROM max(subscribed_at)) * 1000)::float8 AS last
    FROM rollcall.subscribers GROUP BY 1`
  const [rest] = await sql<Pick<StoreStatus, 'suppressed' | 'bytes'>[]>`
    SELECT (SELECT count(*) FROM rollcall.removed)::float8 AS suppressed,
           (SELECT sum(pg_total_relation_size(oid)) FROM pg_class
            WHERE relnamespace = 'rollcall'::regnamespace AND relkind = 'r')::float8 AS bytes`
  return { ...toStatus(rows, { first, days }), ...(rest ?? { suppressed: 0, bytes: 0 }) }
}

/** Whether this user may put addresses on the list, and the server takes writes, as it does not after a failover. */
export async function isWritable(
  sql: SQL,
): Promise<{ readonly readOnly: boolean; readonly allowed: boolean }> {
  const [row] = await sql<{ readOnly: boolean; allowed: boolean }[]>`
    SELECT current_setting('transaction_read_only')::boolean AS "readOnly",
           has_table_privilege('rollcall.subscribers', 'INSERT') AS allowed`
  return row ?? { readOnly: true, allowed: false }
}
