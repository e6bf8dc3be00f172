/** Renames removed addresses to suppressions. */
export const SUPPRESSIONS = `
  ALTER TABLE rollcall.list RENAME COLUMN removal_keys TO suppression_key_count;
  ALTER TABLE rollcall.removal_keys RENAME TO suppression_keys;
  ALTER TABLE rollcall.suppression_keys RENAME CONSTRAINT removal_keys_pkey TO suppression_keys_pkey;
  ALTER TABLE rollcall.suppression_keys RENAME CONSTRAINT removal_keys_key_key TO suppression_keys_key_key;
  ALTER TABLE rollcall.removed RENAME TO suppressions;
  ALTER TABLE rollcall.suppressions RENAME COLUMN removed_at TO suppressed_at;
  ALTER TABLE rollcall.suppressions RENAME CONSTRAINT removed_pkey TO suppressions_pkey;
  ALTER TABLE rollcall.suppressions RENAME CONSTRAINT removed_key_id_fkey TO suppressions_key_id_fkey;
  DROP FUNCTION rollcall.add(text[], bytea[], integer);
  -- Adds nothing and returns false if the process does not know all keys. One call, so that no process holds the
  -- lock while it waits for the network. Each statement sees what was committed before it got the lock.
  -- ON CONFLICT names its index: a seq that is taken must be an error.
  CREATE FUNCTION rollcall.add_subscribers(addresses text[], hashes bytea[], key_count integer) RETURNS boolean
  LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM FROM rollcall.list WHERE suppression_key_count = key_count FOR UPDATE;
    IF NOT FOUND THEN RETURN false; END IF;
    IF key_count > 0 THEN DELETE FROM rollcall.suppressions WHERE hash = ANY (hashes); END IF;
    INSERT INTO rollcall.subscribers (email, subscribed_at)
    SELECT address, date_trunc('milliseconds', clock_timestamp())
    FROM unnest(addresses) WITH ORDINALITY AS given (address, position)
    ORDER BY position
    ON CONFLICT (lower(email)) DO NOTHING;
    RETURN true;
  END $$`
