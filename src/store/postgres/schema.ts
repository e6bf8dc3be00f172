/** The schema of a PostgreSQL list, and how a database gets it. */

import { randomBytes } from 'node:crypto'
import type { SQL } from 'bun'
import { RESERVED_DOMAINS } from '../../email.ts'
import { MissingListError, StoreError } from '../../subscriber.ts'
import { toVersionError } from '../version.ts'

const ENDINGS = RESERVED_DOMAINS.flatMap((domain) => [`@${domain}`, `.${domain}`])
const LAST_FIVE = new Set(ENDINGS.map((ending) => `'${ending.slice(-5)}'`))

/** Whether `email` is in a reserved domain. The last characters decide about most, which takes a third of the time. */
export const IS_RESERVED = `(lower(right(email, 5)) IN (${[...LAST_FIVE].join()})
  AND lower(email) LIKE ANY (ARRAY[${ENDINGS.map((ending) => `'%${ending}'`).join()}]))`

const BASELINE = `
  -- An administrator may have created the schema for a user who may not create one, and who may not run IF NOT EXISTS.
  DO $$ BEGIN IF to_regnamespace('rollcall') IS NULL THEN CREATE SCHEMA rollcall; END IF; END $$;

  -- A value of this type is refused where it is written unless the commit is durable there. With Citus, that is the
  -- machine of the row. The error of a constraint of a table would contain the row, and so addresses. NOT VALID: the rows
  -- of a dump are not checked when it is restored.
  CREATE DOMAIN rollcall.durable_number AS bigint;
  ALTER DOMAIN rollcall.durable_number ADD CONSTRAINT turn_on_synchronous_commit_and_fsync
    CHECK (current_setting('synchronous_commit') <> 'off' AND current_setting('fsync') = 'on') NOT VALID;

  -- One row. Its lock is the lock of all that changes the list. Only acceptance does not need it.
  CREATE TABLE rollcall.list (
    version integer NOT NULL,           -- of this schema
    -- Every table has a primary key: without one, PostgreSQL refuses each UPDATE beside a publication for all tables.
    id text PRIMARY KEY,
    suppression_key bytea NOT NULL,     -- of the hashes of suppressions
    last_seq rollcall.durable_number NOT NULL, -- a crash must not give out a number again that an export has read
    forgotten_seq bigint NOT NULL       -- a subscriber up to this seq has no suppression; a later one may have come back
  );

  -- Accepted addresses, which compaction moves to the list.
  CREATE TABLE rollcall.inbox (
    id uuid PRIMARY KEY,                -- version 7: in the order of the clock of the client
    accepted_at timestamptz NOT NULL DEFAULT date_trunc('milliseconds', clock_timestamp()),
    size rollcall.durable_number NOT NULL, -- how many addresses it has
    addresses text NOT NULL             -- one per line
  );
  -- Compressing a large batch would take longer than writing it.
  ALTER TABLE rollcall.inbox ALTER COLUMN addresses SET STORAGE EXTERNAL;

  CREATE TABLE rollcall.subscribers (
    seq bigint PRIMARY KEY,
    email text COLLATE "C" NOT NULL,
    subscribed_at timestamptz NOT NULL
  );
  -- In the collation "C", lower() changes A to Z and nothing else: it is the identity.
  CREATE UNIQUE INDEX subscribers_identity ON rollcall.subscribers (lower(email));
  CREATE INDEX subscribers_reserved ON rollcall.subscribers (seq) WHERE ${IS_RESERVED};

  CREATE TABLE rollcall.suppressions (hash bytea PRIMARY KEY, suppressed_at timestamptz NOT NULL);
`

/**
 * The numbered migrations. A new schema is made by running all of them. One that was released never changes.
 *
 * Processes of older versions may still run. So a migration begins with `LOCK TABLE rollcall.list`, and renames or drops
 * what they write to: their statements must fail, and never write to a place that a newer process does not read.
 */
const MIGRATIONS: readonly string[] = [BASELINE]

/** The version of the schema that this Rollcall uses. */
export const SCHEMA_VERSION = MIGRATIONS.length

/** The key of the advisory lock for migrations, the same in every version: "Roll" in ASCII. */
const MIGRATION_LOCK = 0x526f6c6c

/** How a client finds the schema of its list. */
export interface SchemaOptions {
  /** Whether to create a list that is missing, and to migrate an older one that is empty, unless there is `onOlder`. */
  readonly create: boolean
  /** Milliseconds for which it waits for a process that migrates the list. */
  readonly lockMs: number
  /** Is called with the version of an older list, and returns the error of the call. Default: the advice to start the service. */
  readonly onOlder?: ((version: number) => StoreError) | undefined
}

/**
 * Finds a list of the present version. Changes no list that has addresses.
 *
 * @returns whether it created the list
 * @throws MissingListError when the schema is missing, and must not be created
 * @throws StoreError when it is older, and must not be migrated here; OutdatedError when it is newer
 */
export async function prepareSchema(sql: SQL, { create, lockMs, onOlder }: SchemaOptions): Promise<boolean> {
  const { version, mayMigrate } = await sql.begin(async (transaction) => {
    // A migration locks the list, for as long as it takes.
    await transaction`SELECT set_config('lock_timeout', ${String(lockMs)}, true)`
    const found = await readVersion(transaction)
    // Nobody must wait for the migration of an empty list, so it needs no service. `onOlder` below counts before this.
    const isOlder = found < SCHEMA_VERSION
    return { version: found, mayMigrate: create && isOlder && (await hasNothing(transaction, found)) }
  })
  if (version === SCHEMA_VERSION) return false
  if (version === 0 && !create) {
    throw new MissingListError('there is no list in this database yet: use the settings of the service, or start it')
  }
  if (version > 0 && version < SCHEMA_VERSION && onOlder) throw onOlder(version)
  // A newer one, or an older one that is not to be migrated here.
  if (!mayMigrate) throw toVersionError(NAME, { found: version, known: SCHEMA_VERSION })
  return (await migrate(sql)) === 0
}

/** How errors name the list. */
const NAME = 'in this database'

/** Whether a list of any version has no address and no suppression. */
async function hasNothing(sql: SQL, version: number): Promise<boolean> {
  if (version === 0) return true
  const [row] = await sql<[{ isEmpty: boolean }]>`
    SELECT NOT (EXISTS (SELECT FROM rollcall.subscribers) OR EXISTS (SELECT FROM rollcall.suppressions)
                OR EXISTS (SELECT FROM rollcall.inbox)) AS "isEmpty"`
  return row.isEmpty
}

/**
 * Creates the schema, or migrates an older one, in one transaction that takes as long as it needs. Any number of processes may do
 * this at once. Returns the version before. @throws OutdatedError when it is newer
 */
export async function migrate(sql: SQL, migrations = MIGRATIONS): Promise<number> {
  return await sql.begin('isolation level read committed', async (transaction) => {
    // The limits of the server are for requests. The last setting ends the work of a process that was killed, on systems that have it.
    await transaction.unsafe(`
      SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0;
      DO $$ BEGIN SET LOCAL client_connection_check_interval = '2s'; EXCEPTION WHEN OTHERS THEN NULL; END $$`)
    await transaction`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK}::bigint)`
    // Another process may have migrated it meanwhile.
    const version = await readVersion(transaction)
    if (version > migrations.length) throw toVersionError(NAME, { found: version, known: migrations.length })
    if (version === migrations.length) return version
    for (const migration of migrations.slice(version)) await transaction.unsafe(migration)
    if (version === 0) {
      await transaction`
        INSERT INTO rollcall.list VALUES (0, ${randomBytes(8).toString('hex')}, ${randomBytes(32)}::bytea, 0, 0)`
    }
    await transaction`UPDATE rollcall.list SET version = ${migrations.length}::integer`
    return version
  })
}

/** Reads the version of the schema: 0 when there is none. */
async function readVersion(sql: SQL): Promise<number> {
  // A scan of the catalog. to_regclass() may answer from a cache that is older than the lock.
  const [table] = await sql<object[]>`
    SELECT FROM pg_catalog.pg_tables WHERE schemaname = 'rollcall' AND tablename = 'list'`
  if (!table) return 0
  return toHeadRow(await sql<{ version: number }[]>`SELECT version FROM rollcall.list`).version
}

/** Refuses a list of another version. @param found its version. @throws OutdatedError when it is newer; StoreError when it is older */
export function refuseOtherVersion(found: number): void {
  if (found !== SCHEMA_VERSION) throw toVersionError(NAME, { found, known: SCHEMA_VERSION })
}

/**
 * Returns the row of the table `list`. It has two after a dump was restored into the schema that a service had created, and
 * only one of them has the key of the suppressions.
 *
 * @throws StoreError when there is not one row
 */
export function toHeadRow<Row>(rows: readonly Row[]): Row {
  const [row] = rows
  if (row && rows.length === 1) return row
  const advice = row ? 'delete the row of the new list, as docs/backup.md says' : 'put back the row that a backup has'
  throw new StoreError(`the table rollcall.list has ${rows.length} rows instead of 1: ${advice}`)
}
