/**
 * Keeps a number (`seq`) from being given out twice when a list continues from an older state: after `pg_restore`, or a
 * failover that lost commits. `list` says where the last number was given out: by which start of a server, and in which
 * file of which database. Each insertion compares that, under the lock. After a change, numbering continues at the present time in
 * microseconds since 2026: see src/store/sqlite/numbering.ts.
 *
 * A restored copy of a server has its system identifier and its timeline. But it is started again, and so is every
 * standby that was promoted. So the time of the start is compared instead.
 */

import type { SQL } from 'bun'
import { type Numbering, StoreError } from '../../subscriber.ts'

/** The statements of migration 3. */
export const NUMBERING = `
  ALTER TABLE rollcall.list
    ADD COLUMN list_id text NOT NULL DEFAULT left(md5(gen_random_uuid()::text), 16),
    ADD COLUMN server_started timestamptz,
    ADD COLUMN subscribers_file text;
  -- A new list has given out no number.
  UPDATE rollcall.list SET server_started = pg_postmaster_start_time(),
                           subscribers_file = pg_relation_filepath('rollcall.subscribers')
  WHERE NOT (SELECT is_called FROM rollcall.subscribers_seq_seq);
  -- Runs as the owner of the list, because other users may add addresses.
  CREATE FUNCTION rollcall.skip_numbers() RETURNS void
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  DECLARE
    given bigint;
    number bigint := (extract(epoch FROM clock_timestamp() - timestamptz '2026-01-01T00:00Z') * 1000000)::bigint;
  BEGIN
    -- Another transaction may have done it before this one got the lock.
    PERFORM FROM rollcall.list
    WHERE server_started = pg_postmaster_start_time()
      AND subscribers_file = pg_relation_filepath('rollcall.subscribers')
    FOR UPDATE;
    IF FOUND THEN RETURN; END IF;
    SELECT greatest(last_value, (SELECT max(seq) FROM rollcall.subscribers)) INTO given
    FROM rollcall.subscribers_seq_seq;
    -- The clock may be behind.
    IF number <= given THEN number := given + (2 ^ 32)::bigint; END IF;
    PERFORM setval('rollcall.subscribers_seq_seq', number, false);
    UPDATE rollcall.list SET server_started = pg_postmaster_start_time(),
                             subscribers_file = pg_relation_filepath('rollcall.subscribers');
    RAISE LOG 'rollcall: the list was restored, or the server started: numbering continues at %', number;
  END $$;
  -- The same as before, except that it also compares where the last number was given out, in the same statement.
  CREATE OR REPLACE FUNCTION rollcall.add_subscribers(addresses text[], hashes bytea[], key_count integer)
  RETURNS boolean LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM FROM rollcall.list
    WHERE suppression_key_count = key_count AND server_started = pg_postmaster_start_time()
      AND subscribers_file = pg_relation_filepath('rollcall.subscribers')
    FOR UPDATE;
    IF NOT FOUND THEN
      PERFORM rollcall.skip_numbers();
      PERFORM FROM rollcall.list WHERE suppression_key_count = key_count FOR UPDATE;
      IF NOT FOUND THEN RETURN false; END IF;
    END IF;
    IF key_count > 0 THEN DELETE FROM rollcall.suppressions WHERE hash = ANY (hashes); END IF;
    INSERT INTO rollcall.subscribers (email, subscribed_at)
    SELECT address, date_trunc('milliseconds', clock_timestamp())
    FROM unnest(addresses) WITH ORDINALITY AS given (address, position)
    ORDER BY position
    ON CONFLICT (lower(email)) DO NOTHING;
    RETURN true;
  END $$`

/** An expression: whether the last number was given out by this start of the server, in this file of this database. */
function isUnchanged(sql: SQL) {
  return sql`coalesce(server_started = pg_postmaster_start_time()
    AND subscribers_file = pg_relation_filepath('rollcall.subscribers'), false)`
}

/**
 * Takes numbers that no subscriber has had, and skips some if the list may be in an older state. The caller must hold the
 * lock.
 *
 * @returns the first one
 */
export async function takeNumbers(sql: SQL, size: number): Promise<number> {
  const [row] = await sql<{ first: number }[]>`
    UPDATE rollcall.list SET
      next_seq = ${size}::integer + CASE WHEN ${isUnchanged(sql)} THEN next_seq ELSE (
        SELECT CASE WHEN present > given THEN present ELSE given + (2 ^ 32)::bigint END  -- the clock may be behind
        FROM (
          SELECT greatest(next_seq - 1, (SELECT max(seq) FROM rollcall.subscribers)) AS given,
                 (extract(epoch FROM clock_timestamp() - timestamptz '2026-01-01T00:00Z') * 1000000)::bigint AS present
        ) AS numbers) END,
      server_started = pg_postmaster_start_time(),
      subscribers_file = pg_relation_filepath('rollcall.subscribers')
    RETURNING (next_seq - ${size}::integer)::float8 AS first`
  if (!row) throw new StoreError('its table list has no row')
  return row.first
}

/** The last number is read from the counter: the subscribers who had the last numbers may have been removed. */
export async function readNumbering(sql: SQL): Promise<Numbering> {
  const [row] = await sql<Numbering[]>`
    SELECT list_id AS list, (next_seq - 1)::float8 AS last FROM rollcall.list`
  return row ?? { list: '', last: 0 }
}
