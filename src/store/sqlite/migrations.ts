/**
 * The schema of a SQLite list, as numbered migrations. A new list runs all of them. An older list runs those it
 * lacks.
 *
 * The tables after the last migration:
 *
 *   list              one row: the random id of the list, which its backups keep
 *   inbox             accepted addresses that are not compacted yet; one row per commit. It is never empty:
 *                     `first_seq` plus the number of addresses of the last row is the next seq.
 *   subscribers       the list
 *   identity_hashes   index of the list: a subscriber for each hash of an identity
 *   collisions        the other subscribers, whose hash is in `identity_hashes` already
 *   identity_key      the key of these hashes
 *   compaction        how far compaction is
 *   hash_matches      addresses of the run whose hash is in `identity_hashes` already
 *   suppressions      keyed hashes of removed addresses
 *   suppression_keys  the keys of these hashes: key 1 belongs to this list, the others came with copies
 *   counts            how many subscribers and suppressions there are
 */

import type { Database } from 'bun:sqlite'
import { MIGRATION_TIMEOUT_MS, STORE_DEADLINE_MS } from '../../limits.ts'
import { resetCounts } from './counts.ts'
import { toOpenError } from './error.ts'
import { rebuildIndex } from './index-rebuild.ts'
import { getRow } from './row.ts'

/** Marks a file as a list of Rollcall: "Roll" in ASCII (https://sqlite.org/pragma.html#pragma_application_id). */
const APPLICATION_ID = 0x526f6c6c

/** A statement, or work that SQL alone cannot do. */
type Step = string | ((db: Database) => void)

/**
 * The steps of each migration; migration 1 comes first. Never change one that has been released: add the next.
 *
 * A process of an older version may run meanwhile. A change of what a table means changes its name too: then the
 * statements of that process fail, and it writes nothing that this version would misread.
 */
const MIGRATIONS: readonly (readonly Step[])[] = [
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
  [
    // Addresses could be prepared to have equal hashes in `identities`.
    'DROP TABLE identities',
    'DROP TABLE seed',
    `CREATE TABLE identity_key (
       key BLOB NOT NULL           -- random for each file
     )`,
    'INSERT INTO identity_key VALUES (randomblob(8))',
    `CREATE TABLE identity_hashes (
       hash INTEGER PRIMARY KEY,   -- HalfSipHash of the identity under the key
       seq INTEGER NOT NULL
     ) WITHOUT ROWID`,
    `CREATE TABLE collisions (
       hash INTEGER NOT NULL,
       identity TEXT NOT NULL,
       seq INTEGER NOT NULL,
       PRIMARY KEY (hash, identity)
     ) WITHOUT ROWID`,
    `CREATE TABLE compaction_run (
       end_seq INTEGER NOT NULL,   -- the run moves the addresses before this seq
       cursor INTEGER              -- the last entry in the index, see Buckets; NULL when all are
     )`,
    'INSERT INTO compaction_run SELECT min(first_seq), NULL FROM inbox',
    `CREATE TABLE hash_matches (
       id INTEGER PRIMARY KEY,
       seq INTEGER NOT NULL,
       hash INTEGER NOT NULL,
       earlier INTEGER NOT NULL    -- the seq in identity_hashes
     )`,
    rebuildIndex,
  ],
  [
    `CREATE TABLE list (
       id TEXT NOT NULL            -- random; backups and copies of the file keep it
     )`,
    'INSERT INTO list VALUES (lower(hex(randomblob(8))))',
    // Under this name, a process of the version before would change the list without its counts.
    'ALTER TABLE compaction_run RENAME TO compaction',
    `CREATE TABLE counts (
       subscribers INTEGER NOT NULL,
       reserved INTEGER NOT NULL,  -- subscribers in reserved domains
       suppressed INTEGER NOT NULL
     )`,
    resetCounts,
    `CREATE TRIGGER count_suppression AFTER INSERT ON suppressions
     BEGIN UPDATE counts SET suppressed = suppressed + 1; END`,
    `CREATE TRIGGER count_suppression_deleted AFTER DELETE ON suppressions
     BEGIN UPDATE counts SET suppressed = suppressed - 1; END`,
  ],
]

/** The number of the last migration. */
export const SCHEMA_VERSION = MIGRATIONS.length

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
  if (version <= SCHEMA_VERSION) return version
  const known = `this Rollcall knows version ${SCHEMA_VERSION}`
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
  if (before === SCHEMA_VERSION) return
  if (before > 0) db.run(`PRAGMA busy_timeout = ${MIGRATION_TIMEOUT_MS}`)
  for (let version = before; version < SCHEMA_VERSION; ) {
    version = db.transaction(() => runNext(db)).immediate()
  }
  db.run(`PRAGMA busy_timeout = ${STORE_DEADLINE_MS}`)
  // Writes the version from the log into the header of the file, where the next start looks first.
  db.run('PRAGMA wal_checkpoint(PASSIVE)')
}

/** Runs one migration, unless another process has done so before this one got the lock. Returns the new version. */
function runNext(db: Database): number {
  const version = readVersion(db)
  const steps = MIGRATIONS[version]
  if (!steps) return version
  for (const step of steps) {
    if (typeof step === 'string') db.run(step)
    else step(db)
  }
  db.run(`PRAGMA user_version = ${version + 1}`)
  return version + 1
}
