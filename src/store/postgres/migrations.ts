import { NUMBERING } from './numbering.ts'

/**
 * The numbered migrations of the PostgreSQL schema. A new schema is made by running all of them.
 *
 * The tables after the last migration:
 *
 *   inbox             accepted addresses, in groups, which compaction moves to the list
 *   subscribers       the list
 *   list              one row: the version of the schema, the next seq, the last one that a reader may use, the id of the
 *                     list, and where its last number was given out (numbering.ts). Its lock is the lock of all that
 *                     changes the list.
 *   suppressions      keyed hashes of removed addresses: HMAC-SHA-256 of the identity
 *   suppression_keys  the keys of these hashes: key 1 belongs to this list, the others came with copies
 *
 * A table that grows has one key, with the column by which Citus can distribute it: `shard`, `identity` or `hash`. No table
 * refers to another one, and no index has an expression.
 *
 * A released migration never changes. A new one gets the next number, and follows two rules because processes of older
 * versions may still run:
 *
 * - Its first statement locks the table `list` exclusively. What changes the list locks it first as well, so the migration
 *   waits until no such change is in progress, and cannot deadlock with one. Acceptances lock only `inbox`.
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
  [
    4,
    `ALTER TABLE rollcall.list
       DROP COLUMN suppression_key_count,
       ADD COLUMN next_seq bigint NOT NULL DEFAULT 1,
       ADD COLUMN visible_seq bigint NOT NULL DEFAULT 0;
     UPDATE rollcall.list SET next_seq = greatest(
       (SELECT last_value + is_called::integer FROM rollcall.subscribers_seq_seq),
       (SELECT max(seq) + 1 FROM rollcall.subscribers));
     UPDATE rollcall.list SET visible_seq = next_seq - 1;
     -- The table gets another file below.
     UPDATE rollcall.list SET subscribers_file = 'same'
     WHERE subscribers_file = pg_relation_filepath('rollcall.subscribers');

     -- A generated column fills itself while the table is written once. An UPDATE would leave every row twice.
     DROP INDEX rollcall.subscribers_identity;
     ALTER TABLE rollcall.subscribers
       DROP CONSTRAINT subscribers_pkey,
       ALTER COLUMN seq DROP IDENTITY,
       ADD COLUMN identity text COLLATE "C" GENERATED ALWAYS AS (lower(email)) STORED;
     ALTER TABLE rollcall.subscribers
       ALTER COLUMN identity DROP EXPRESSION,
       ADD PRIMARY KEY (identity);
     CREATE INDEX subscribers_seq ON rollcall.subscribers (seq);
     UPDATE rollcall.list SET subscribers_file = pg_relation_filepath('rollcall.subscribers')
     WHERE subscribers_file = 'same';

     CREATE TABLE rollcall.inbox (
       id bigint GENERATED BY DEFAULT AS IDENTITY,
       accepted_at timestamptz NOT NULL DEFAULT date_trunc('milliseconds', clock_timestamp()),
       shard integer NOT NULL,   -- random: a column by which Citus can distribute the table
       size integer NOT NULL,    -- the number of addresses
       addresses text NOT NULL,  -- a JSON array
       PRIMARY KEY (id, shard)
     );
     -- Compressing a large group would take longer than writing it.
     ALTER TABLE rollcall.inbox ALTER COLUMN addresses SET STORAGE EXTERNAL;
     -- Users who may work with the list may work with its inbox.
     DO $$ DECLARE permission record; BEGIN
       FOR permission IN
         SELECT privilege_type AS name, CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END AS grantee
         FROM pg_class, aclexplode(relacl) WHERE oid = 'rollcall.subscribers'::regclass
       LOOP
         EXECUTE format('GRANT %s ON rollcall.inbox TO %s', permission.name, permission.grantee);
       END LOOP;
     END $$;

     ALTER TABLE rollcall.suppressions DROP CONSTRAINT suppressions_key_id_fkey;
     -- Every older process that changes the list reads the keys under the lock.
     ALTER TABLE rollcall.suppression_keys RENAME COLUMN id TO key_id;
     DROP FUNCTION rollcall.skip_numbers();
     DROP FUNCTION rollcall.add_subscribers(text[], bytea[], integer)`,
  ],
])
