/** The statements that suppress people who left another list. */

import type { SQL } from 'bun'
import { toIdentity } from '../../email.ts'
import type { OptOut, OptOutTally } from '../../subscriber.ts'
import { mergeOptOuts } from '../opt-outs.ts'
import { subtractFromCounts } from './counts.ts'
import { findSuppressed, renewSuppressions, suppress } from './suppressions.ts'

/**
 * Suppresses people who left another list. The caller must hold the lock.
 *
 * @param removeUndated whether to remove subscribers also when it is unknown when the person left
 */
export async function suppressOptOuts(sql: SQL, rows: readonly OptOut[], removeUndated: boolean): Promise<OptOutTally> {
  const unique = mergeOptOuts(rows, { removeUndated })
  const suppressed = await findSuppressed(
    sql,
    unique.map(({ email }) => email),
  )
  const later = unique.flatMap(({ email, optedOutAt }, index) => {
    const suppressedAt = suppressed.get(index)
    return suppressedAt && optedOutAt && optedOutAt > suppressedAt ? [{ email, date: optedOutAt.getTime() }] : []
  })
  await renewSuppressions(
    sql,
    later.map(({ email }) => email),
    later.map(({ date }) => date),
  )
  const fresh = unique.filter((_, index) => !suppressed.has(index))
  const identities = fresh.map(({ email }) => toIdentity(email))
  const dates = fresh.map(({ optedOutAt }) => optedOutAt?.getTime() ?? null)
  const undated = removeUndated ? 'infinity' : '-infinity'
  const gone = await sql<{ identity: string; subscribedAt: Date }[]>`
    DELETE FROM rollcall.subscribers s
    USING unnest(${sql.array(identities, 'TEXT')}::text[], ${sql.array(dates, 'DOUBLE PRECISION')}::float8[])
      AS given (identity, milliseconds)
    WHERE s.identity = given.identity
      AND subscribed_at <= coalesce(to_timestamp(milliseconds / 1000), ${undated}::timestamptz)
    RETURNING s.identity, subscribed_at AS "subscribedAt"`
  const removed = new Map(gone.map(({ identity, subscribedAt }) => [identity, subscribedAt]))
  const staying = await sql<{ identity: string }[]>`
    SELECT identity FROM rollcall.subscribers WHERE identity = ANY (${sql.array(identities, 'TEXT')}::text[])`
  const kept = new Set(staying.map(({ identity }) => identity))
  const deleted = fresh.flatMap(({ email }) => (removed.has(toIdentity(email)) ? [email] : []))
  await subtractFromCounts(sql, deleted)
  const left = fresh.filter((_, index) => !kept.has(identities[index] ?? ''))
  await suppress(
    sql,
    left.map(({ email }) => email),
    { removed, dates: left.map(({ optedOutAt }) => optedOutAt?.getTime() ?? null) },
  )
  return {
    added: left.length - removed.size,
    removed: removed.size,
    kept: kept.size,
    known: rows.length - fresh.length,
  }
}
