/** The schema of a PostgreSQL list: made if missing, brought up if older, left alone when it is newer. */

import { SQL } from 'bun'
import { StoreError } from '../../subscriber.ts'

/** The version of the schema below; it counts up with each change. */
const SCHEMA_VERSION = 1

/** The advisory lock under which one process at a time looks after the schema: "Roll" in ASCII. */
const SCHEMA_LOCK = 0x526f6c6c

// What each table is for is told in ARCHITECTURE.md, "The PostgreSQL list".
const SCHEMA = `
  DO $$ BEGIN
    -- An administrator may have made it for a user who must not make any.
    IF to_regnamespace('rollcall') IS NULL THEN CREATE SCHEMA rollcall; END IF;
  END $$;
  CREATE TABLE rollcall.list (
    id integer PRIMARY KEY CHECK (id = 1),
    version integer NOT NULL,
    removal_keys integer NOT NULL     -- how many there are; whoever hashes under fewer must not write
  );
  CREATE TABLE rollcall.subscribers (
    seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    email text COLLATE "C" NOT NULL,  -- first spelling
    subscribed_at timestamptz NOT NULL
  );
  -- In the collation "C", lower folds A to Z and nothing else.
  CREATE UNIQUE INDEX subscribers_identity ON rollcall.subscribers (lower(email));
  CREATE TABLE rollcall.removal_keys (
    id integer PRIMARY KEY,           -- 1 is this list's own, the others came with copies
    key bytea NOT NULL UNIQUE
  );
  CREATE TABLE rollcall.removed (
    hash bytea NOT NULL,              -- HMAC-SHA-256 of the identity under the key
    key_id integer NOT NULL REFERENCES rollcall.removal_keys,
    removed_at timestamptz NOT NULL,
    PRIMARY KEY (hash, key_id)
  );
  -- One round trip, so that no process holds the lock while it waits for the network. Each statement in it sees
  -- what was committed before it got the lock. ON CONFLICT names its index: a seq that is taken must be an error.
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
  INSERT INTO rollcall.list VALUES (1, ${SCHEMA_VERSION}, 0);
`

/**
 * Makes sure that the schema is there, in this version. Any number of processes may do so at once.
 *
 * @param create whether it is made when it is missing
 * @throws StoreError when it is missing and not to be made, or of a newer Rollcall
 */
export async function migrate(sql: SQL, create: boolean): Promise<void> {
  const found = await readVersion(sql)
  if (found === SCHEMA_VERSION) return
  if (found === 0 && !create) throw new StoreError('there is no list in this database yet')
  await sql.begin(async (transaction) => {
    await transaction`SELECT pg_advisory_xact_lock(${SCHEMA_LOCK})`
    const [{ there } = {}] = await transaction`SELECT to_regclass('rollcall.list') IS NOT NULL AS there`
    if (!there) await transaction.unsafe(SCHEMA)
  })
  const version = await readVersion(sql)
  if (version === SCHEMA_VERSION) return
  throw new StoreError(
    `its schema is version ${version}, and this Rollcall knows version ${SCHEMA_VERSION}; use a newer Rollcall`,
  )
}

async function readVersion(sql: SQL): Promise<number> {
  try {
    const [row] = await sql<{ version: number }[]>`SELECT version FROM rollcall.list`
    return row?.version ?? 0
  } catch (error) {
    if (error instanceof SQL.PostgresError && error.errno === UNDEFINED_TABLE) return 0
    throw error
  }
}

// https://www.postgresql.org/docs/current/errcodes-appendix.html
const UNDEFINED_TABLE = '42P01'
