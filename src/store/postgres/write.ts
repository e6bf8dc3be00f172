/** What is changed of a PostgreSQL list. */

import type { SQL } from 'bun'
import { type Address, toIdentity } from '../../email.ts'
import type { ImportRow, ImportTally, Subscriber, SubscriptionState, Suppression } from '../../subscriber.ts'
import { createMatch } from '../suppression-hash.ts'
import type { Pool } from './pool.ts'
import { readPage } from './read.ts'
import {
  filterNew,
  findSuppressed,
  insertSuppressed,
  insertSuppressions,
  liftSuppressions,
  readKeys,
  type SuppressionKey,
  toHashes,
} from './suppressions.ts'

/** Subscribers in a page that suppressions are held against. */
const PAGE = 5000

/** Creates the adding of addresses: one round trip for a batch, as long as no key of suppressions is new. */
export function createAdd(pool: Pool): (addresses: readonly Address[]) => Promise<void> {
  // Most lists begin without a suppression; and then nothing has to be hashed.
  let keys: readonly SuppressionKey[] = []

  async function tryAdd(sql: SQL, addresses: readonly Address[]): Promise<boolean> {
    const [row] = await sql<{ added: boolean }[]>`
      SELECT rollcall.add(${sql.array([...addresses], 'TEXT')}::text[],
                          ${toHashes(sql, keys, addresses)}::bytea[],
                          ${keys.length}::integer) AS added`
    return row?.added ?? false
  }

  return (addresses) =>
    pool.run(async (sql) => {
      while (!(await tryAdd(sql, addresses))) keys = await readKeys(sql)
    })
}

/** Puts rows of an older list on this one. Needs the lock. */
export async function importRows(sql: SQL, rows: readonly ImportRow[]): Promise<ImportTally> {
  const suppressed = await findSuppressed(
    sql,
    rows.map(({ email }) => email),
  )
  const kept = rows.filter((_, index) => !suppressed.has(index))
  const emails = sql.array(
    kept.map(({ email }) => email),
    'TEXT',
  )
  const dates = sql.array(
    kept.map(({ subscribedAt }) => subscribedAt?.getTime() ?? null),
    'DOUBLE PRECISION',
  )
  const [row] = await sql<{ added: number }[]>`
    WITH added AS (
      INSERT INTO rollcall.subscribers (email, subscribed_at)
      SELECT email, coalesce(to_timestamp(milliseconds / 1000), date_trunc('milliseconds', clock_timestamp()))
      FROM unnest(${emails}::text[], ${dates}::float8[]) WITH ORDINALITY AS given (email, milliseconds, position)
      ORDER BY position
      ON CONFLICT (lower(email)) DO NOTHING RETURNING 1
    ) SELECT count(*)::integer AS added FROM added`
  const added = row?.added ?? 0
  return { added, known: kept.length - added, suppressed: suppressed.size }
}

/** Takes addresses off the list, and tells how each had stood. Needs the lock. */
export async function removeAddresses(
  sql: SQL,
  addresses: readonly Address[],
  suppress: boolean,
): Promise<readonly SubscriptionState[]> {
  const once = new Map(addresses.map((address) => [toIdentity(address), address]))
  const identities = [...once.keys()]
  const unique = [...once.values()]
  const rows = await sql<{ identity: string }[]>`
    DELETE FROM rollcall.subscribers WHERE lower(email) = ANY (${sql.array(identities, 'TEXT')}::text[])
    RETURNING lower(email) AS identity`
  const states = new Map<string, SubscriptionState>(rows.map(({ identity }) => [identity, 'subscribed']))
  for (const index of await findSuppressed(sql, unique)) states.set(identities[index] ?? '', 'suppressed')
  if (!suppress) await liftSuppressions(sql, unique)
  else
    await insertSuppressed(
      sql,
      unique.filter((address) => states.get(toIdentity(address)) !== 'suppressed'),
    )
  return addresses.map((address) => {
    const identity = toIdentity(address)
    const state = states.get(identity) ?? 'absent'
    // For those that are named twice.
    states.set(identity, suppress ? 'suppressed' : 'absent')
    return state
  })
}

/**
 * Takes over suppressions of another list. Almost all of this list is held against them before the lock is taken; what
 * has come since is at its end.
 */
export async function mergeSuppressions(pool: Pool, suppressions: readonly Suppression[]): Promise<void> {
  const fresh = await pool.run((sql) => filterNew(sql, suppressions))
  if (fresh.length === 0) return
  const match = createMatch(fresh)
  const matches: [Subscriber, Suppression][] = []
  let last = 0

  async function matchOn(read: (after: number) => Promise<readonly Subscriber[]>): Promise<void> {
    for (let page = await read(last); page.length > 0; page = await read(last)) {
      matches.push(...match(page))
      last = page.at(-1)?.seq ?? last
    }
  }

  await matchOn((after) => pool.run((sql) => readPage(sql, after, PAGE)))
  await pool.runLocked(async (sql) => {
    await matchOn((after) => readPage(sql, after, PAGE))
    const outdated = await applyMatches(sql, matches)
    await insertSuppressions(
      sql,
      fresh.filter((suppression) => !outdated.has(suppression)),
    )
  })
}

/** Takes off those who subscribed before their suppression, and returns the suppressions of those who did after. Needs the lock. */
async function applyMatches(
  sql: SQL,
  matches: readonly (readonly [Subscriber, Suppression])[],
): Promise<ReadonlySet<Suppression>> {
  const isOlder = ([subscriber, suppression]: readonly [Subscriber, Suppression]) =>
    subscriber.subscribedAt < suppression.suppressedAt
  const older = matches.filter(isOlder).map(([{ seq }]) => seq)
  await sql`DELETE FROM rollcall.subscribers WHERE seq = ANY (${sql.array(older, 'BIGINT')}::bigint[])`
  const newer = matches.filter((match) => !isOlder(match))
  // It may have left the list since.
  const rows = await sql<{ seq: number }[]>`
    SELECT seq::float8 FROM rollcall.subscribers
    WHERE seq = ANY (${sql.array(
      newer.map(([{ seq }]) => seq),
      'BIGINT',
    )}::bigint[])`
  const there = new Set(rows.map(({ seq }) => seq))
  return new Set(newer.filter(([{ seq }]) => there.has(seq)).map(([, suppression]) => suppression))
}
