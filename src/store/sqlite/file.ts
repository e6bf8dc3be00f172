/** Opens the file of a SQLite list: creates a missing one, migrates an older one, and refuses any other file. */

import { Database } from 'bun:sqlite'
import { chmodSync, closeSync, existsSync, fsyncSync, mkdirSync, openSync, readSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { toErrorCode } from '../../failure.ts'
import { STORE_DEADLINE_MS } from '../../limits.ts'
import { StoreError } from '../../subscriber.ts'
import { toOpenError } from './error.ts'
import { createMissingFile } from './file-modes.ts'
import { checkMarks, migrate, readVersion } from './migrations.ts'

export interface OpenOptions {
  /** Create the list and its folders if they are missing. Default: true. */
  readonly create?: boolean
}

/**
 * Opens a list for reading and writing.
 *
 * @throws StoreError with one line that names the file, when it cannot be opened or is not a list of this version
 */
export function openSqliteFile(file: string, { create = true }: OpenOptions = {}): Database {
  const path = resolve(file)
  try {
    if (!create) checkExists(path)
    checkHeader(path)
    createFolder(dirname(path))
    createMissingFile(path)
    return open(path)
  } catch (error) {
    if (toErrorCode(error) !== 'ENOENT') throw toOpenError(path, error)
    // /proc, for example, takes no folders and no files.
    const isFolder = existsSync(dirname(path))
    throw toOpenError(path, isFolder ? 'it cannot be opened for writing' : 'its folder cannot be created')
  }
}

/** Bytes of a list on disk, with its write-ahead log. */
export function readSize(path: string): number {
  const toSize = (file: string) => statSync(file, { throwIfNoEntry: false })?.size ?? 0
  return toSize(path) + toSize(`${path}-wal`)
}

/** The device and the inode of a file: equal for all links to it. */
export function readFileId(path: string): string {
  const { dev, ino } = statSync(path, { bigint: true })
  return `${dev}:${ino}`
}

function open(path: string): Database {
  const db = new Database(path, { create: true })
  try {
    // A commit waits for the lock of another process as long as the deadline of a request allows.
    db.run(`PRAGMA busy_timeout = ${STORE_DEADLINE_MS}`)
    // Before anything is written. The header of the file may be older than the log that a crashed process left.
    const version = readVersion(db)
    db.run('PRAGMA journal_mode = WAL')
    // The promise of durability: a commit returns when it is on stable storage.
    db.run('PRAGMA synchronous = FULL')
    // 16 MiB: a larger cache was not faster.
    db.run('PRAGMA cache_size = -16384')
    // After a burst, the log is truncated to this size.
    db.run(`PRAGMA journal_size_limit = ${64 * 1024 * 1024}`)
    // Before the schema is committed: a process that finds the schema relies on the entry in the folder.
    if (version === 0) syncFolder(dirname(path))
    migrate(db)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

function checkExists(path: string): void {
  if (!existsSync(path)) throw new StoreError(`there is no list at ${path}`)
  if (statSync(path).size === 0) throw new StoreError(`there is no list at ${path}: the file is empty`)
}

/** Refuses a file by its header. SQLite cannot read it without creating a log next to it. */
function checkHeader(path: string): void {
  if (!existsSync(path)) return
  const header = Buffer.alloc(100)
  const length = useDescriptor(path, (descriptor) => readSync(descriptor, header))
  // A process that crashes while it creates a list can leave an empty file.
  if (length === 0) return
  // The format of the header: https://sqlite.org/fileformat2.html#the_database_header
  if (length < header.length || header.toString('latin1', 0, 16) !== 'SQLite format 3\0') {
    throw toOpenError(path, 'it is not a database')
  }
  checkMarks(path, {
    application: header.readUInt32BE(68),
    version: header.readUInt32BE(60),
    isEmpty: header.readUInt32BE(28) <= 1,
  })
}

function createFolder(folder: string): void {
  const first = mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (first === undefined) return
  for (let created = folder; created.length >= first.length; created = dirname(created)) {
    // The umask may have taken permissions from the owner.
    chmodSync(created, 0o700)
    // A new folder is durable when the folder that holds it is synced.
    syncFolder(dirname(created))
  }
}

function syncFolder(folder: string): void {
  useDescriptor(folder, fsyncSync)
}

function useDescriptor<T>(path: string, work: (descriptor: number) => T): T {
  const descriptor = openSync(path, 'r')
  try {
    return work(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
