/** The statements that change a PostgreSQL list. */

import type { SQL } from 'bun'
import { type Address, toIdentity } from '../../email.ts'
import {
  type ImportRow,
  type ImportTally,
  isResubscription,
  type Subscriber,
  type SubscriptionState,
  type Suppression,
} from '../../subscriber.ts'
import { createMatch, type MayReturn, selectRows } from '../suppression-hash.ts'
import { compact, runCompacted } from './compaction.ts'
import { subtractFromCounts } from './counts.ts'
import type { Pool } from './pool.ts'
import { readPages, readVisibleSeq } from './read.ts'
import { insertSubscribers } from './subscribers.ts'
import {
  deleteSuppressions,
  filterNew,
  findSuppressed,
  insertSuppressions,
  renewSuppressions,
  suppress,
} from './suppressions.ts'

type Match = readonly [Subscriber, Suppression]

/** Imports rows that are not suppressed, or that may return. The caller must hold the lock. */
export async function importRows<Row extends ImportRow>(
  sql: SQL,
  rows: readonly Row[],
  mayReturn: MayReturn<Row>,
): Promise<ImportTally> {
  const suppressed = await findSuppressed(
    sql,
    rows.map(({ email }) => email),
  )
  const rest = selectRows(rows, suppressed, mayReturn)
  const left = rows.length - rest.length
  if (suppressed.size > left) {
    await deleteSuppressions(
      sql,
      rest.map(({ email }) => email),
    )
  }
  const added = await insertSubscribers(sql, rest)
  return { added, known: rest.length - added, suppressed: left }
}

/** Removes addresses and returns the state that each had. The caller must hold the lock. */
export async function removeAddresses(
  sql: SQL,
  addresses: readonly Address[],
  isSuppressing: boolean,
): Promise<readonly SubscriptionState[]> {
  const byIdentity = new Map(addresses.map((address) => [toIdentity(address), address]))
  const identities = [...byIdentity.keys()]
  const unique = [...byIdentity.values()]
  const rows = await sql<{ identity: Address; subscribedAt: Date }[]>`
    DELETE FROM rollcall.subscribers WHERE identity = ANY (${sql.array(identities, 'TEXT')}::text[])
    RETURNING identity, subscribed_at AS "subscribedAt"`
  const removed = new Map(rows.map(({ identity, subscribedAt }) => [identity, subscribedAt]))
  await subtractFromCounts(sql, [...removed.keys()])
  const states = new Map<string, SubscriptionState>(rows.map(({ identity }) => [identity, 'subscribed']))
  const suppressed = await findSuppressed(sql, unique)
  for (const index of suppressed.keys()) states.set(identities[index] ?? '', 'suppressed')
  if (isSuppressing) {
    await renewSuppressions(
      sql,
      unique.filter((_, index) => suppressed.has(index)),
    )
    await suppress(
      sql,
      unique.filter((_, index) => !suppressed.has(index)),
      { removed },
    )
  } else await deleteSuppressions(sql, unique)
  return addresses.map((address) => {
    const identity = toIdentity(address)
    const state = states.get(identity) ?? 'absent'
    // An address that is given twice had this state the second time.
    states.set(identity, isSuppressing ? 'suppressed' : 'absent')
    return state
  })
}

/**
 * Adds suppressions of another list, and removes the addresses that they suppress. Almost all of the list is compared
 * before the lock is taken. Under the lock only the subscribers that came since are compared.
 */
export async function mergeSuppressions(
  pool: Pool,
  suppressions: readonly Suppression[],
  signal?: AbortSignal,
): Promise<void> {
  await compact(pool)
  const fresh = await pool.run((sql) => filterNew(sql, suppressions))
  if (fresh.length === 0) return
  const match = createMatch(fresh)
  const matches: Match[] = []
  let cursor = 0

  async function compare(pages: AsyncIterable<readonly Subscriber[]>, signal?: AbortSignal): Promise<void> {
    for await (const page of pages) {
      signal?.throwIfAborted()
      matches.push(...match(page))
      cursor = page.at(-1)?.seq ?? cursor
    }
  }

  const end = await pool.run(readVisibleSeq)
  await compare(readPages(pool.run, { end }), signal)
  await runCompacted(pool, async (sql) => {
    await compare(readPages((work) => work(sql), { after: cursor, end: Number.MAX_SAFE_INTEGER }))
    const outdated = await applyMatches(sql, matches)
    const current = fresh.filter((suppression) => !outdated.has(suppression))
    await insertSuppressions(sql, current)
  })
}

/**
 * Deletes the subscribers who subscribed before their suppression. The caller must hold the lock.
 *
 * @returns the suppressions of the other subscribers, which are outdated
 */
async function applyMatches(sql: SQL, matches: readonly Match[]): Promise<ReadonlySet<Suppression>> {
  const { suppressed = [], resubscribed = [] } = Object.groupBy(matches, ([subscriber, { suppressedAt }]) =>
    isResubscription(subscriber, suppressedAt) ? 'resubscribed' : 'suppressed',
  )
  const seqs = suppressed.map(([{ seq }]) => seq)
  const removed = await sql<{ identity: Address }[]>`
    DELETE FROM rollcall.subscribers WHERE seq = ANY (${sql.array(seqs, 'BIGINT')}::bigint[]) RETURNING identity`
  await subtractFromCounts(
    sql,
    removed.map(({ identity }) => identity),
  )
  // A subscriber may have been removed since it was compared.
  const candidates = resubscribed.map(([{ seq }]) => seq)
  const rows = await sql<{ seq: number }[]>`
    SELECT seq::float8 FROM rollcall.subscribers WHERE seq = ANY (${sql.array(candidates, 'BIGINT')}::bigint[])`
  const remaining = new Set(rows.map(({ seq }) => seq))
  return new Set(resubscribed.filter(([{ seq }]) => remaining.has(seq)).map(([, suppression]) => suppression))
}
