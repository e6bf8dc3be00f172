/**
 * The schema of a SQLite list, as numbered migrations. A new list runs all of them. An older list runs those it
 * lacks.
 *
 * The tables after the last migration:
 *
 *   inbox             accepted addresses that are not compacted yet; one row per commit. It is never empty:
 *                     `first_seq` plus the number of addresses of the last row is the next seq.
 *   subscribers       the list
 *   identities        index of the list: (hash of the identity, seq)
 *   suppressions      keyed hashes of removed addresses
 *   suppression_keys  the keys of these hashes: key 1 belongs to this list, the others came with copies
 *   seed              seed of the hashes in `identities`
 */

import type { Database } from 'bun:sqlite'
import { toOpenError } from './error.ts'
import { getRow } from './row.ts'

/** Marks a file as a list of Rollcall: "Roll" in ASCII (https://sqlite.org/pragma.html#pragma_application_id). */
const APPLICATION_ID = 0x526f6c6c

/**
 * The statements of each migration; migration 1 comes first. Never change one that has been released: add the next.
 *
 * Statements that rename are safe while a process of an older version runs: its own statements fail, and it reports a
 * failure instead of writing to the wrong table.
 */
const MIGRATIONS: readonly (readonly string[])[] = [
  [
    `CREATE TABLE arrivals (
       first INTEGER PRIMARY KEY,  -- seq of the first address of the batch
       at INTEGER NOT NULL,        -- ms since 1970, UTC
       addresses TEXT NOT NULL     -- JSON array: "address", or ["address", ms] where it has a date of its own
     )`,
    `CREATE TABLE subscribers (
       seq INTEGER PRIMARY KEY,
       email TEXT NOT NULL,        -- first spelling
       subscribed_at INTEGER NOT NULL
     )`,
    `CREATE TABLE identities (
       hash INTEGER NOT NULL,      -- of the identity; equal ones are compared as text
       seq INTEGER NOT NULL,
       PRIMARY KEY (hash, seq)
     ) WITHOUT ROWID`,
    `CREATE TABLE removal_keys (
       id INTEGER PRIMARY KEY,     -- 1 is this list's own, the others came with copies
       key BLOB NOT NULL UNIQUE
     )`,
    `CREATE TABLE removed (
       hash BLOB NOT NULL,         -- HMAC-SHA-256 of the identity under the key
       key_id INTEGER NOT NULL REFERENCES removal_keys,
       removed_at INTEGER NOT NULL,
       PRIMARY KEY (hash, key_id)
     ) WITHOUT ROWID`,
    `CREATE TABLE seed (
       hash INTEGER NOT NULL       -- random for each file, so that nobody can prepare collisions
     )`,
    'INSERT INTO seed VALUES (random() & 0xffffffff)',
    'INSERT INTO removal_keys VALUES (1, randomblob(32))',
    `INSERT INTO arrivals VALUES (1, 0, '[]')`,
    `PRAGMA application_id = ${APPLICATION_ID}`,
  ],
  [
    'ALTER TABLE arrivals RENAME TO inbox',
    'ALTER TABLE inbox RENAME COLUMN first TO first_seq',
    'ALTER TABLE inbox RENAME COLUMN at TO accepted_at',
    'ALTER TABLE removal_keys RENAME TO suppression_keys',
    'ALTER TABLE removed RENAME TO suppressions',
    'ALTER TABLE suppressions RENAME COLUMN removed_at TO suppressed_at',
  ],
]

/**
 * Decides by the marks of a file whether this program may use it.
 *
 * @param marks.version the number of its last migration
 * @param marks.isEmpty it has no tables
 * @returns the version; 0 for a file without a schema
 * @throws StoreError when the file is not a list, or when a newer Rollcall has migrated it
 */
export function checkMarks(path: string, marks: { application: number; version: number; isEmpty: boolean }) {
  const { application, version, isEmpty } = marks
  if (isEmpty && application === 0 && version === 0) return 0
  if (application !== APPLICATION_ID) throw toOpenError(path, 'it is a database, but not a list of Rollcall')
  if (version <= MIGRATIONS.length) return version
  const known = `this Rollcall knows version ${MIGRATIONS.length}`
  throw toOpenError(path, `its schema is version ${version}, and ${known}; use a newer Rollcall`)
}

/** Checks an open file like `checkMarks`. Changes nothing. */
export function readVersion(db: Database): number {
  // One statement reads all of it at one moment: another process may be creating the schema.
  const { tables, ...marks } = getRow(
    db.query<{ application: number; version: number; tables: number }, []>(
      `SELECT application_id AS application, user_version AS version,
              (SELECT count(*) FROM sqlite_schema) AS tables
       FROM pragma_application_id, pragma_user_version`,
    ),
  )
  return checkMarks(db.filename, { ...marks, isEmpty: tables === 0 })
}

/** Runs the migrations that a file lacks. If another process migrates it, waits until that is done. */
export function migrate(db: Database): void {
  const before = readVersion(db)
  for (let version = before; version < MIGRATIONS.length; ) {
    version = db.transaction(() => runNext(db)).immediate()
  }
  // Writes the version from the log into the header of the file, where the next start looks first.
  if (before < MIGRATIONS.length) db.run('PRAGMA wal_checkpoint(PASSIVE)')
}

/** Runs one migration, unless another process has done so before this one got the lock. Returns the new version. */
function runNext(db: Database): number {
  const version = readVersion(db)
  const statements = MIGRATIONS[version]
  if (!statements) return version
  for (const statement of statements) db.run(statement)
  db.run(`PRAGMA user_version = ${version + 1}`)
  return version + 1
}
