/** Opens the file of a SQLite list: made if missing, checked if there, and left alone when it is not ours. */

import { Database, SQLiteError } from 'bun:sqlite'
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { toErrorCode, toSystemReason } from '../../failure.ts'
import { STORE_DEADLINE_MS } from '../../limits.ts'
import { StoreError } from '../../subscriber.ts'

/** Marks a file as a list of ours: "Roll" in ASCII, where SQLite keeps a number for that. */
const APPLICATION_ID = 0x526f6c6c

/** The version of the schema below; it counts up with each change. */
const SCHEMA_VERSION = 1

// What each table is for is told in ARCHITECTURE.md, "The SQLite list".
const SCHEMA = `
  CREATE TABLE arrivals (
    first INTEGER PRIMARY KEY,  -- seq of the first address of the batch
    at INTEGER NOT NULL,        -- ms since 1970, UTC
    addresses TEXT NOT NULL     -- JSON array: "address", or ["address", ms] where it has a date of its own
  );
  CREATE TABLE subscribers (
    seq INTEGER PRIMARY KEY,
    email TEXT NOT NULL,        -- first spelling
    subscribed_at INTEGER NOT NULL
  );
  CREATE TABLE identities (
    hash INTEGER NOT NULL,      -- of the identity; equal ones are compared as text
    seq INTEGER NOT NULL,
    PRIMARY KEY (hash, seq)
  ) WITHOUT ROWID;
  CREATE TABLE removal_keys (
    id INTEGER PRIMARY KEY,     -- 1 is this list's own, the others came with copies
    key BLOB NOT NULL UNIQUE
  );
  CREATE TABLE removed (
    hash BLOB NOT NULL,         -- HMAC-SHA-256 of the identity under the key
    key_id INTEGER NOT NULL REFERENCES removal_keys,
    removed_at INTEGER NOT NULL,
    PRIMARY KEY (hash, key_id)
  ) WITHOUT ROWID;
  CREATE TABLE seed (
    hash INTEGER NOT NULL       -- of the hashes; each file has its own, so that nobody can prepare collisions
  );
  INSERT INTO seed VALUES (random() & 0xffffffff);
  INSERT INTO removal_keys VALUES (1, randomblob(32));
  INSERT INTO arrivals VALUES (1, 0, '[]');
  PRAGMA application_id = ${APPLICATION_ID};
  PRAGMA user_version = ${SCHEMA_VERSION};
`

export interface OpenOptions {
  /** Whether a list that is missing is made; it is by default. */
  readonly create?: boolean
}

/**
 * Opens a list for reading and writing.
 *
 * @param file created with its folders if missing, unless the options forbid it
 * @throws StoreError in one line that names the file, when it cannot be opened or is not a list of this version
 */
export function openSqliteFile(file: string, { create = true }: OpenOptions = {}): Database {
  const path = resolve(file)
  try {
    if (!create && !existsSync(path)) throw new StoreError(`there is no list at ${path}`)
    checkHeader(path)
    createFolder(dirname(path))
    return open(path)
  } catch (error) {
    throw toOpenError(path, error)
  }
}

/** The one line about a list that cannot be opened. */
export function toOpenError(path: string, error: unknown): StoreError {
  if (error instanceof StoreError) return error
  return new StoreError(`cannot open the list ${path}: ${toReason(error)}`)
}

/** Bytes that a list takes on disk, with the log beside it. */
export function readSize(path: string): number {
  const toSize = (file: string) => statSync(file, { throwIfNoEntry: false })?.size ?? 0
  return toSize(path) + toSize(`${path}-wal`)
}

/** Says in words for the owner what an error of SQLite or of the file system means. */
export function toReason(error: unknown): string {
  const code = toErrorCode(error) ?? ''
  const reason = SQLITE_REASONS.find(([pattern]) => pattern.test(code))?.[1]
  return reason ?? toSystemReason(error) ?? (code || String(error))
}

// https://sqlite.org/rescode.html
const SQLITE_REASONS = [
  [/^ENOENT$/, 'its folder cannot be created'],
  [/^SQLITE_CANTOPEN_ISDIR$/, 'it is a folder'],
  [/^SQLITE_READONLY/, 'permission denied'],
  [/^SQLITE_CANTOPEN/, 'it cannot be opened for writing'],
  [/^SQLITE_(?:NOTADB|CORRUPT)/, 'it is not a database, or it is damaged'],
  [/^SQLITE_BUSY/, 'another process holds its lock'],
  [/^(?:SQLITE_FULL|SQLITE_IOERR_WRITE)$/, 'the disk is full'],
] as const

function open(path: string): Database {
  const isNew = !existsSync(path)
  const db = new Database(path, { create: true })
  try {
    // A lock of another process is waited for as long as a caller would wait.
    db.run(`PRAGMA busy_timeout = ${STORE_DEADLINE_MS}`)
    db.run('PRAGMA journal_mode = WAL')
    // The promise: a commit returns when it is on stable storage.
    db.run('PRAGMA synchronous = FULL')
    // 16 MiB: more gained nothing in the measurements, in ARCHITECTURE.md.
    db.run('PRAGMA cache_size = -16384')
    // After a burst the log is cut back to this size.
    db.run(`PRAGMA journal_size_limit = ${64 * 1024 * 1024}`)
    createSchema(db, path)
    if (isNew) syncFolder(dirname(path))
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

function createSchema(db: Database, path: string): void {
  const version = () => (db.query('PRAGMA user_version').get() as { user_version: number }).user_version
  if (version() === 0) {
    // Another process may be at it too: whoever gets the lock first makes the schema.
    db.transaction(() => {
      if (version() === 0) createTables(db, path)
    }).immediate()
    // So that the version is in the file itself, where checkHeader looks.
    db.run('PRAGMA wal_checkpoint(PASSIVE)')
  }
  checkVersion(version(), path)
}

function createTables(db: Database, path: string): void {
  // What another application has written may still be in its log, and not in the header.
  if (db.query('SELECT 1 FROM sqlite_schema').get()) throw new StoreError(toNotOurs(path))
  db.run(SCHEMA)
}

const toNotOurs = (path: string) =>
  `cannot open the list ${path}: it is a database, but not a list of Rollcall`

/** Looks at a file that is there before SQLite does, which would leave its log beside it. */
function checkHeader(path: string): void {
  if (!existsSync(path)) return
  const header = Buffer.alloc(100)
  const descriptor = openSync(path, 'r')
  try {
    const length = readSync(descriptor, header)
    if (length === 0) return
    // The format of the header: https://sqlite.org/fileformat2.html#the_database_header
    if (length < header.length || header.toString('latin1', 0, 16) !== 'SQLite format 3\0') {
      throw new StoreError(`cannot open the list ${path}: it is not a database`)
    }
  } finally {
    closeSync(descriptor)
  }
  const [version, application] = [header.readUInt32BE(60), header.readUInt32BE(68)]
  // A process that is just making the file has not written these yet; the schema is looked at again later.
  if (version === 0 && application === 0 && header.readUInt32BE(28) <= 1) return
  if (application !== APPLICATION_ID) {
    throw new StoreError(toNotOurs(path))
  }
  checkVersion(version, path)
}

function checkVersion(version: number, path: string): void {
  if (version === SCHEMA_VERSION) return
  throw new StoreError(
    `cannot open the list ${path}: its schema is version ${version}, and this Rollcall knows version ${SCHEMA_VERSION}; use a newer Rollcall`,
  )
}

function createFolder(folder: string): void {
  const first = mkdirSync(folder, { recursive: true })
  if (first === undefined) return
  // A folder is on stable storage when the one that holds it is.
  for (let made = folder; made.length >= first.length; made = dirname(made)) syncFolder(dirname(made))
}

function syncFolder(folder: string): void {
  const descriptor = openSync(folder, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** Whether an error says that another process holds the lock. */
export function isBusy(error: unknown): boolean {
  return error instanceof SQLiteError && /^SQLITE_BUSY/.test(error.code ?? '')
}
