/** The counts of a PostgreSQL list, which are in the row of `list`. Each transaction that changes the list changes them. */

import type { SQL } from 'bun'
import { type Address, isReserved, RESERVED_DOMAINS } from '../../email.ts'
import { type Count, StoreError } from '../../subscriber.ts'

/** The rule of isReserved as patterns of LIKE. A regular expression takes 2.5 times as long. */
export const RESERVED = RESERVED_DOMAINS.flatMap((domain) => [`%@${domain}`, `%.${domain}`])

export async function readCount(sql: SQL): Promise<Count> {
  const [count] = await sql<Count[]>`
    SELECT subscribers::float8, reserved::float8,
           (SELECT count(*) FROM rollcall.suppressions)::float8 AS suppressed
    FROM rollcall.list`
  return count ?? { subscribers: 0, reserved: 0, suppressed: 0 }
}

/** Adds to the counts. The caller must hold the lock. */
export async function addToCounts(sql: SQL, { subscribers, reserved }: Omit<Count, 'suppressed'>): Promise<void> {
  if (subscribers === 0) return
  await sql`
    UPDATE rollcall.list SET subscribers = subscribers + ${subscribers}::integer, reserved = reserved + ${reserved}::integer`
}

/** Subtracts subscribers who were deleted. The caller must hold the lock. */
export async function subtractFromCounts(sql: SQL, identities: readonly Address[]): Promise<void> {
  const reserved = identities.filter(isReserved).length
  await addToCounts(sql, { subscribers: -identities.length, reserved: -reserved })
}

/**
 * Compares the counts with the list. They differ if rows were changed by hand, or restored without the row of `list`.
 *
 * @throws StoreError when they differ
 */
export async function checkCounts(sql: SQL): Promise<string> {
  const [row] = await sql<{ subscribers: number; isEqual: boolean }[]>`
    SELECT list.subscribers::float8 AS subscribers,
           (list.subscribers, list.reserved) = (counted.subscribers, counted.reserved) AS "isEqual"
    FROM rollcall.list, (
      SELECT count(*) AS subscribers,
             count(*) FILTER (WHERE identity LIKE ANY (${sql.array(RESERVED, 'TEXT')}::text[])) AS reserved
      FROM rollcall.subscribers
    ) AS counted`
  if (row?.isEqual) return `${row.subscribers} subscribers, as counted`
  throw new StoreError(
    'the counts in rollcall.list differ from the rows of rollcall.subscribers: restore both from one dump',
  )
}
