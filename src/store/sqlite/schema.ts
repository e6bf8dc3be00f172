/** The schema of a SQLite list. A new list gets all migrations, an older one those that it lacks: see version.ts for when. */

import { Database } from 'bun:sqlite'
import { randomBytes } from 'node:crypto'
import { RESERVED_DOMAINS } from '../../email.ts'
import { BACKUP_ID, LIST_ID, WRITE_VERSION_OFFSET } from '../../files.ts'
import { toVersionError } from '../version.ts'
import { setPath, toPath, toStoreError } from './error.ts'
import { readSize } from './paths.ts'
import { getRow } from './transaction.ts'

/** A case for each reserved domain, by its last four characters, which no two of them share: whether `email` ends in it. */
const RESERVED_CASES = RESERVED_DOMAINS.map((domain) => {
  const ending = `substr(email, -${domain.length + 1}) COLLATE NOCASE`
  return `WHEN '${domain.slice(-4)}' THEN ${ending} IN ('@${domain}', '.${domain}')`
})

/** Whether `email` is in a reserved domain. The last four characters decide about most, which takes a third of the time. */
export const IS_RESERVED = `CASE substr(email, -4) COLLATE NOCASE ${RESERVED_CASES.join(' ')} ELSE 0 END`

const BASELINE = `
  -- One row: the head of the list.
  CREATE TABLE list (
    id TEXT PRIMARY KEY,              -- random; backups and copies keep it
    suppression_key BLOB NOT NULL,    -- random; backups and copies keep it
    last_seq INTEGER NOT NULL,        -- no seq above this was given out, except in the inbox
    forgotten_seq INTEGER NOT NULL    -- a subscriber up to this seq has no suppression; a later one may have come back
  ) STRICT, WITHOUT ROWID;

  -- Accepted addresses that are not compacted yet, one row per commit.
  CREATE TABLE inbox (
    first_seq INTEGER PRIMARY KEY,    -- seq of the first address of the commit
    accepted_at INTEGER NOT NULL,     -- ms since 1970, UTC
    addresses TEXT NOT NULL           -- JSON array
  ) STRICT;

  CREATE TABLE subscribers (
    seq INTEGER PRIMARY KEY,
    email TEXT NOT NULL,              -- first spelling
    subscribed_at INTEGER NOT NULL    -- ms since 1970, UTC
  ) STRICT;

  -- The list in the order of the identities, which makes it a set. An index of subscribers would be the same, but SQLite writes an
  -- index and its table together, and compaction writes them in two orders.
  CREATE TABLE identities (
    identity TEXT PRIMARY KEY,        -- the address in lower case: lower() folds A to Z, and addresses are ASCII
    seq INTEGER NOT NULL              -- of the subscriber, or of an address in the inbox that becomes one
  ) STRICT, WITHOUT ROWID;

  CREATE INDEX reserved ON subscribers (seq) WHERE ${IS_RESERVED};

  CREATE TABLE suppressions (
    hash BLOB PRIMARY KEY,            -- HMAC-SHA-256 of the identity under suppression_key
    suppressed_at INTEGER NOT NULL    -- ms since 1970, UTC
  ) STRICT, WITHOUT ROWID;
`

/** The numbered migrations. A new list gets all of them. One that was released never changes: add the next. */
const MIGRATIONS: readonly string[] = [BASELINE]

/** The version of the schema that this Rollcall uses. */
export const SCHEMA_VERSION = MIGRATIONS.length

/** Returns the version of a list; 0 for a file without a schema. @throws StoreError when it is no list, or newer */
export function checkVersion(db: Database, path: string, migrations = MIGRATIONS): number {
  // In one statement, because another process may be creating the schema.
  const { application, version, tables } = getRow<Record<'application' | 'version' | 'tables', number>>(
    db,
    `SELECT application_id AS application, user_version AS version, (SELECT count(*) FROM sqlite_schema) AS tables
     FROM pragma_application_id, pragma_user_version`,
  )
  if (tables === 0 && application === 0 && version === 0) return 0
  if (application !== LIST_ID && application !== BACKUP_ID) {
    throw toStoreError(path, 'it is a database, but not a list of Rollcall')
  }
  if (version > migrations.length) throw toVersionError(path, { found: version, known: migrations.length })
  return version
}

/** Refuses an open list of another version. @throws OutdatedError when it is newer; StoreError when it is older */
export function refuseOtherVersion(db: Database): void {
  const { user_version: found } = getRow<{ user_version: number }>(db, 'PRAGMA user_version')
  if (found !== SCHEMA_VERSION) throw toVersionError(toPath(db), { found, known: SCHEMA_VERSION })
}

/** Creates the schema, or runs the migrations that a list lacks, in one transaction. Several processes may do it at once. */
export function migrate(db: Database, path: string, migrations = MIGRATIONS): void {
  if (checkVersion(db, path, migrations) === migrations.length) return
  // The version is read again under the lock: another process may have migrated the list while this one waited.
  db.transaction(() => runMigrations(db, checkVersion(db, path, migrations), migrations)).immediate()
}

/** Bytes of the largest list that is read into memory: twice for a moment, as bytes and as a database. SQLite allows 1 GiB. */
const MOST_IN_MEMORY = 512 * 1024 * 1024

/** Returns a copy of an older list in memory, which is migrated. The list stays as it is. @throws StoreError when it is too large */
export function migrateInMemory(db: Database, path: string): Database {
  if (readSize(path) > MOST_IN_MEMORY)
    throw toStoreError(path, 'it is too large to be read in an older version: restore it')
  const bytes = db.serialize()
  // The write version and the read version say that the list is in WAL mode. A database in memory has no log, and could not be opened.
  bytes[WRITE_VERSION_OFFSET] = 1
  bytes[WRITE_VERSION_OFFSET + 1] = 1
  const copy = Database.deserialize(bytes)
  setPath(copy, path)
  migrate(copy, path)
  return copy
}

/** Runs the migrations after a version, in the transaction of the caller. */
export function runMigrations(db: Database, version: number, migrations = MIGRATIONS): void {
  for (const migration of migrations.slice(version)) db.run(migration)
  if (version === 0) {
    db.run('INSERT INTO list VALUES (?, ?, 0, 0)', [randomBytes(8).toString('hex'), randomBytes(32)])
    db.run(`PRAGMA application_id = ${LIST_ID}`)
  }
  db.run(`PRAGMA user_version = ${migrations.length}`)
}
