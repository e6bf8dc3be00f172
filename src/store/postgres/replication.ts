/**
 * Synchronous replication. A commit waits until a standby has it, unless an administrator cancels the wait: then PostgreSQL
 * commits all the same, with a warning. Bun's client shows no warnings. So after a commit that may have waited, the
 * position of the standbys in the log (WAL) is compared with that of the primary.
 */

import type { SQL } from 'bun'
import { StoreError } from '../../subscriber.ts'
import type { Pool } from './pool.ts'

/** Milliseconds in which the standbys must have a commit that has waited for them. They usually have it at once. */
const CONFIRM_MS = 2_000

/** Milliseconds between two looks at the standbys. */
const POLL_MS = 10

interface Standbys {
  /** The setting that says how many must confirm. */
  readonly names: string
  /** The position in the log that they must have on stable storage. */
  readonly position: string
  /** How many have it. */
  readonly confirmed: number
  /** Whether this user may see that. */
  readonly isVisible: boolean
}

/** For this many milliseconds, a server without synchronous standbys is not asked again: a cancelled wait takes longer. */
export const RECHECK_MS = 100

/**
 * Creates a function that resolves when the synchronous standbys have every commit that ended before the call.
 *
 * @returns rejects with a StoreError when they do not have it
 */
export function createConfirmation(pool: Pool): () => Promise<void> {
  let hasStandbys = true
  let checkedAt = 0
  return async () => {
    const now = performance.now()
    if (!hasStandbys && now - checkedAt < RECHECK_MS) return
    hasStandbys = await pool.run(confirmOnStandbys)
    checkedAt = now
  }
}

/**
 * Resolves when the standbys have everything that this server has committed. A user who may not see their positions must
 * believe the server.
 *
 * @returns whether the server has synchronous standbys
 * @throws StoreError when they do not have it
 */
export async function confirmOnStandbys(sql: SQL): Promise<boolean> {
  const end = performance.now() + CONFIRM_MS
  for (let position: string | null = null; ; await Bun.sleep(POLL_MS)) {
    const standbys: Standbys = await readStandbys(sql, position)
    if (standbys.names === '') return false
    if (!standbys.isVisible || standbys.confirmed >= toRequired(standbys.names)) return true
    if (performance.now() > end) throw new StoreError('its synchronous standby has not confirmed the commit')
    position = standbys.position
  }
}

async function readStandbys(sql: SQL, position: string | null): Promise<Standbys> {
  const [row] = await sql<[Standbys]>`
    SELECT current_setting('synchronous_standby_names') AS names, position::text,
           (SELECT count(*)::integer FROM pg_stat_replication
            WHERE sync_state IN ('sync', 'quorum') AND flush_lsn >= position) AS confirmed,
           pg_has_role('pg_read_all_stats', 'USAGE') AS "isVisible"
    FROM coalesce(${position}::pg_lsn, pg_current_wal_flush_lsn()) AS position`
  return row
}

/**
 * Reads how many standbys must confirm:
 * https://www.postgresql.org/docs/current/runtime-config-replication.html#GUC-SYNCHRONOUS-STANDBY-NAMES
 */
function toRequired(names: string): number {
  return Number(/^\s*(?:(?:first|any)\s+)?([0-9]+)\s*\(/i.exec(names)?.[1] ?? 1)
}

/** Finds settings of the server with which a confirmed address may be lost. Each is one line that says what to do. */
export async function findDurabilityWarnings(sql: SQL): Promise<readonly string[]> {
  const [row] = await sql<[{ off: string; isBlind: boolean; user: string }]>`
    SELECT concat_ws(', ', CASE WHEN NOT current_setting('fsync')::boolean THEN 'fsync' END,
                           CASE WHEN NOT current_setting('full_page_writes')::boolean THEN 'full_page_writes' END) AS off,
           current_setting('synchronous_standby_names') <> '' AND NOT pg_has_role('pg_read_all_stats', 'USAGE') AS "isBlind",
           quote_ident(current_user) AS user`
  return [
    ...(row.off ? [`a crash of the server loses confirmed addresses: turn on ${row.off}, and reload the server`] : []),
    ...(row.isBlind
      ? [`Rollcall cannot see whether standbys have a commit: GRANT pg_read_all_stats TO ${row.user}`]
      : []),
  ]
}
