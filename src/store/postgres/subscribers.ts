/** The statement that adds subscribers to a PostgreSQL list. */

import type { SQL } from 'bun'
import { isReserved } from '../../email.ts'
import type { ImportRow } from '../../subscriber.ts'
import { addToCounts } from './counts.ts'
import { takeNumbers } from './numbering.ts'

/**
 * Adds those who are not on the list yet, in their order. The caller must hold the lock. Each gets the next seq; those who
 * are known or repeated leave a gap.
 *
 * @returns how many were added
 */
export async function insertSubscribers(sql: SQL, rows: readonly ImportRow[]): Promise<number> {
  if (rows.length === 0) return 0
  const first = await takeNumbers(sql, rows.length)
  const emails = rows.map(({ email }) => email)
  const dates = rows.map(({ subscribedAt }) => subscribedAt?.getTime() ?? null)
  // The rarer kind is counted among those who were added, because most lists have few of one kind.
  const { reserved = [], other = [] } = Object.groupBy(rows.keys(), (index) => {
    const email = emails[index]
    return email && isReserved(email) ? 'reserved' : 'other'
  })
  const rarer = (reserved.length < other.length ? reserved : other).map((index) => first + index)
  // In the collation "C", lower() changes A to Z and nothing else.
  const [row] = await sql<{ added: number; rarer: number }[]>`
    WITH added AS (
      INSERT INTO rollcall.subscribers (seq, identity, email, subscribed_at)
      SELECT ${first}::float8::bigint + position - 1, lower(email COLLATE "C"), email,
             coalesce(to_timestamp(milliseconds / 1000), date_trunc('milliseconds', clock_timestamp()))
      FROM unnest(${sql.array(emails, 'TEXT')}::text[], ${sql.array(dates, 'DOUBLE PRECISION')}::float8[])
        WITH ORDINALITY AS given (email, milliseconds, position)
      ORDER BY position
      ON CONFLICT (identity) DO NOTHING RETURNING seq
    )
    SELECT count(*)::integer AS added, count(rarer.seq)::integer AS rarer
    FROM added LEFT JOIN unnest(${sql.array(rarer, 'BIGINT')}::bigint[]) AS rarer (seq) USING (seq)`
  const added = row?.added ?? 0
  const counted = row?.rarer ?? 0
  await addToCounts(sql, {
    subscribers: added,
    reserved: reserved.length < other.length ? counted : added - counted,
  })
  return added
}
