/** Keeps numbers from being given out twice after a restore: see numbering.ts. */
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
