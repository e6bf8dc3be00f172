import { NUMBERING } from './numbering.ts'

/**
 * The numbered migrations of the PostgreSQL schema. A new schema is made by running all of them.
 *
 * The tables after the last migration:
 *
 *   list              one row: the version of the schema, the number of keys, the id of the list, and where its last
 *                     number was given out (numbering.ts). Its lock is the lock of all writers.
 *   subscribers       the list
 *   suppressions      keyed hashes of removed addresses: HMAC-SHA-256 of the identity
 *   suppression_keys  the keys of these hashes: key 1 belongs to this list, the others came with copies
 *
 * A released migration never changes. A new one gets the next number, and follows two rules because processes of older
 * versions may still run:
 *
 * - Its first statement locks the table `list` exclusively. Every writer locks it first as well, so the migration waits
 *   until no write is in progress, and cannot deadlock with one.
 * - It renames or drops what older processes write to or through. Their statements then fail, they report a StoreError,
 *   and their callers get a 500. They must never write to a place that a newer process does not read.
 */
export const MIGRATIONS: ReadonlyMap<number, string> = new Map([
  [
    1,
    `DO $$ BEGIN
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
     INSERT INTO rollcall.list VALUES (1, 1, 0)`,
  ],
  [
    2,
    `ALTER TABLE rollcall.list RENAME COLUMN removal_keys TO suppression_key_count;
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
     END $$`,
  ],
  [3, NUMBERING],
])
