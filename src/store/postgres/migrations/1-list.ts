/** The list, and the hashes of removed addresses. */
export const LIST = `
  DO $$ BEGIN
    -- An administrator may have created the schema for a user who may not create one.
    IF to_regnamespace('rollcall') IS NULL THEN CREATE SCHEMA rollcall; END IF;
  END $$;
  CREATE TABLE rollcall.list (
    id integer PRIMARY KEY CHECK (id = 1),
    version integer NOT NULL,
    removal_keys integer NOT NULL
  );
  CREATE TABLE rollcall.subscribers (
    seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    email text COLLATE "C" NOT NULL,  -- first spelling
    subscribed_at timestamptz NOT NULL
  );
  -- In the collation "C", lower() changes A to Z and nothing else.
  CREATE UNIQUE INDEX subscribers_identity ON rollcall.subscribers (lower(email));
  CREATE TABLE rollcall.removal_keys (id integer PRIMARY KEY, key bytea NOT NULL UNIQUE);
  CREATE TABLE rollcall.removed (
    hash bytea NOT NULL,
    key_id integer NOT NULL REFERENCES rollcall.removal_keys,
    removed_at timestamptz NOT NULL,
    PRIMARY KEY (hash, key_id)
  );
  CREATE FUNCTION rollcall.add(addresses text[], hashes bytea[], keys integer) RETURNS boolean
  LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM FROM rollcall.list WHERE removal_keys = keys FOR UPDATE;
    IF NOT FOUND THEN RETURN false; END IF;
    IF keys > 0 THEN DELETE FROM rollcall.removed WHERE hash = ANY (hashes); END IF;
    INSERT INTO rollcall.subscribers (email, subscribed_at)
    SELECT address, date_trunc('milliseconds', clock_timestamp())
    FROM unnest(addresses) WITH ORDINALITY AS given (address, position)
    ORDER BY position
    ON CONFLICT (lower(email)) DO NOTHING;
    RETURN true;
  END $$;
  INSERT INTO rollcall.list VALUES (1, 1, 0)`
