/** Opens the file of a SQLite list: creates a missing one, migrates an older one, and refuses any other file. */

import { chmodSync, closeSync, existsSync, fsyncSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { toErrorCode } from '../../failure.ts'
import { STORE_DEADLINE_MS } from '../../limits.ts'
import { MissingListError } from '../../subscriber.ts'
import { isWriteError, toOpenError } from './error.ts'
import { createMissingFile } from './file-modes.ts'
import { findForeignLog, isInWalMode, readFileHeader, readHeader, toForeignReason } from './header.ts'
import { type FileId, type HeldFile, holdFile, isSameFile, readTargetId } from './held-file.ts'
import { ListFile } from './list-file.ts'
import { checkMarks, migrate, readVersion, SCHEMA_VERSION } from './migrations.ts'
import { openReadOnlyFile } from './read-only-file.ts'
import { endFailedWalMode, startWalMode } from './wal-mode.ts'

export interface OpenOptions {
  /** Create the list and its folders if they are missing. Default: true. */
  readonly create?: boolean
  /** Open this file, and no other that may be at the path now. */
  readonly id?: FileId | undefined
  /** Open a list that exists but cannot be written for reading only. Default: false. */
  readonly orReadOnly?: boolean
}

/**
 * Opens a list for reading and writing.
 *
 * @throws StoreError with one line that names the file, when it cannot be opened or is not a list of this version
 */
export function openSqliteFile(file: string, { create = true, id, orReadOnly }: OpenOptions = {}): ListFile {
  const path = resolve(file)
  try {
    if (!create) checkExists(path)
    refuseForeignLog(path)
    if (!existsSync(path)) createFolder(dirname(path))
    createMissingFile(path)
    return openHeld(path, id)
  } catch (error) {
    if (orReadOnly && isWriteError(error)) return openReadOnlyFile(path, toOpenError(path, error))
    if (toErrorCode(error) !== 'ENOENT') throw toOpenError(path, error)
    // /proc, for example, takes no folders and no files.
    const isFolder = existsSync(dirname(path))
    throw toOpenError(path, isFolder ? 'it cannot be opened for writing' : 'its folder cannot be created')
  }
}

/** Says in one line that a list will be migrated when it is opened; undefined when it will not, or cannot be opened. */
export function describeMigration(file: string): string | undefined {
  const path = resolve(file)
  try {
    const header = readFileHeader(path)
    if (!header || header === 'empty') return undefined
    const version = checkMarks(path, header)
    if (version === 0 || version === SCHEMA_VERSION) return undefined
    const speed = 'about two seconds for a million addresses'
    return `the list ${path} is migrated from schema ${version} to ${SCHEMA_VERSION}; this takes ${speed}`
  } catch {
    return undefined
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

function refuseForeignLog(path: string): void {
  const log = findForeignLog(path)
  if (log !== undefined) throw toOpenError(path, toForeignReason(log))
}

function openHeld(path: string, id: FileId | undefined): ListFile {
  const held = holdFile(path)
  try {
    checkHeader(path, held)
    if (id && !isSameFile(id, held.id)) throw toOpenError(path, 'another file is at its path')
    return open(path, held)
  } catch (error) {
    held.release()
    throw error
  }
}

function open(path: string, held: HeldFile): ListFile {
  const wasClosed = !isInWalMode(held.descriptor)
  const db = new ListFile(path, held)
  try {
    // A commit waits for the lock of another process as long as the deadline of a request allows.
    db.run(`PRAGMA busy_timeout = ${STORE_DEADLINE_MS}`)
    // Before anything is written. The header of the file may be older than the log that a crashed process left.
    const version = readVersion(db)
    // That may have waited for a command which put another file here. SQLite would report a missing permission.
    if (!isSameFile(readTargetId(path), held.id)) throw toOpenError(path, 'another file was put in its place')
    startWalMode(db)
    // The promise of durability: a commit returns when it is on stable storage.
    db.run('PRAGMA synchronous = FULL')
    // 16 MiB: a larger cache was not faster.
    db.run('PRAGMA cache_size = -16384')
    // After a burst, the log is truncated to this size.
    db.run(`PRAGMA journal_size_limit = ${64 * 1024 * 1024}`)
    // Before the schema is committed: a process that finds the schema relies on the entry in the folder.
    if (version === 0) syncFolder(dirname(path))
    // A new list has given out no number.
    if (version === 0) db.isLatest = true
    migrate(db)
    db.rememberPlace()
    if (db.isLatest) db.state.saveOpen()
    return db
  } catch (error) {
    const isLeftOpen = wasClosed && isInWalMode(held.descriptor)
    db.close()
    if (isLeftOpen) endFailedWalMode(path)
    throw error
  }
}

function checkExists(path: string): void {
  if (!existsSync(path)) throw new MissingListError(`there is no list at ${path}`)
  if (statSync(path).size === 0) throw new MissingListError(`there is no list at ${path}: the file is empty`)
}

/** Refuses a file by its header. SQLite cannot read it without creating a log next to it. */
function checkHeader(path: string, { descriptor }: HeldFile): void {
  const header = readHeader(descriptor)
  // A process that crashes while it creates a list can leave an empty file.
  if (header === 'empty') return
  if (!header) throw toOpenError(path, 'it is not a database')
  checkMarks(path, header)
}

/** Creates a missing folder, and those above it. */
export function createFolder(folder: string): void {
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
