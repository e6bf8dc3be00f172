/**
 * Keeps a number (`seq`) from being given out twice when a list continues from an older state: after `pg_restore`, or a
 * failover that lost commits. `list` says where the last number was given out: by which start of a server, and in which
 * file of which database. The statement that takes numbers compares that, under the lock. After a change, numbering
 * continues at the present time in microseconds since 2026: see src/store/sqlite/numbering.ts.
 *
 * A restored copy of a server has its system identifier and its timeline. But it is started again, and so is every
 * standby that was promoted. So the time of the start is compared instead.
 */

import type { SQL } from 'bun'
import type { Numbering } from '../../subscriber.ts'
import { createMissingRowError } from './schema.ts'

/**
 * An expression: whether the last number was given out by this start of the server, in this file of this database, and no
 * subscriber has a higher one, as after a partial restore.
 */
function isUnchanged(sql: SQL, highest: number) {
  return sql`coalesce(server_started = pg_postmaster_start_time()
    AND next_seq > ${highest}::float8::bigint
    AND subscribers_file = pg_relation_filepath('rollcall.subscribers'), false)`
}

/**
 * Takes numbers that no subscriber has had, and skips some if the list may be in an older state. The caller must hold the
 * lock.
 *
 * @returns the first one
 */
export async function takeNumbers(sql: SQL, size: number): Promise<number> {
  // A statement of its own: Citus plans no change of a local table that reads a distributed one.
  const [list] = await sql<{ highest: number }[]>`
    SELECT coalesce(max(seq), 0)::float8 AS highest FROM rollcall.subscribers`
  const highest = list?.highest ?? 0
  const [row] = await sql<{ first: number }[]>`
    UPDATE rollcall.list SET
      next_seq = ${size}::integer + CASE WHEN ${isUnchanged(sql, highest)} THEN next_seq ELSE (
        SELECT CASE WHEN present > given THEN present ELSE given + (2 ^ 32)::bigint END  -- the clock may be behind
        FROM (
          SELECT greatest(next_seq - 1, ${highest}::float8::bigint) AS given,
                 (extract(epoch FROM clock_timestamp() - timestamptz '2026-01-01T00:00Z') * 1000000)::bigint AS present
        ) AS numbers) END,
      server_started = pg_postmaster_start_time(),
      subscribers_file = pg_relation_filepath('rollcall.subscribers')
    RETURNING (next_seq - ${size}::integer)::float8 AS first`
  if (!row) throw createMissingRowError()
  return row.first
}

/** The last number is read from the counter: the subscribers who had the last numbers may have been removed. */
export async function readNumbering(sql: SQL): Promise<Numbering> {
  const [row] = await sql<Numbering[]>`
    SELECT list_id AS list, (next_seq - 1)::float8 AS last FROM rollcall.list`
  if (!row) throw createMissingRowError()
  return row
}
