/** Errors of SQLite and of the file system, as one line for the owner. */

import type { Database } from 'bun:sqlite'
import { accessSync, constants } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Failure, toErrorCode, toSystemReason } from '../../failure.ts'
import { StoreError } from '../../subscriber.ts'

/** Says in words what an error means. @param path of the list, to name the file that cannot be written */
export function toReason(error: unknown, path?: string): string {
  if (error instanceof Failure) return error.message
  const code = toErrorCode(error)
  const denied = path !== undefined && /^SQLITE_(?:READONLY|CANTOPEN)/.test(code) ? findDenied(path) : undefined
  const reason = denied ?? SQLITE_REASONS.find(([pattern]) => pattern.test(code))?.[1] ?? toSystemReason(error)
  return reason ?? (error instanceof Error ? error.message : String(error))
}

/** Says why this process may not write to a list, its log or its folder. SQLite does not say which of them it could not write. */
function findDenied(path: string): string | undefined {
  for (const name of [path, `${path}-wal`, `${path}-shm`, dirname(path)]) {
    try {
      accessSync(name, constants.W_OK)
    } catch (error) {
      if (toErrorCode(error) !== 'ENOENT') return toSystemReason(error)
    }
  }
  return undefined
}

/** Names the list and the reason. @param error what was thrown, or the reason in words. A Failure is returned as it is */
export function toStoreError(path: string, error: unknown): Failure {
  if (error instanceof Failure) return error
  return new StoreError(`the list ${path} cannot be used: ${toReason(error, path)}`, { cause: error })
}

/** Whether another connection is in the way: it holds the write lock, or reads the log that must be truncated. */
export function isBusy(error: unknown): boolean {
  return /^SQLITE_BUSY/.test(toErrorCode(error))
}

/** Whether the file is damaged, is no database, or cannot be read by the disk. */
export function isDamage(error: unknown): boolean {
  return /^SQLITE_(?:NOTADB|(?:IOERR_)?CORRUPT|IOERR_(?:SHORT_)?READ)/.test(toErrorCode(error))
}

/** Whether the file, its folder or its disk cannot be written. It may be readable: SQLite does not always say. */
export function isWriteError(error: unknown): boolean {
  return /^(?:SQLITE_(?:FULL|READONLY|CANTOPEN|IOERR)|EACCES|EPERM|EROFS|ENOSPC|EDQUOT|EFBIG)/.test(toErrorCode(error))
}

/** Runs work on an open list. Turns its error into one for the owner. */
export async function wrapErrors<T>(db: Database, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw toStoreError(toPath(db), error)
  }
}

/** The error of a list with a part that cannot be right. */
export function toDamage(db: Database, reason: string): StoreError {
  return new StoreError(`the list ${toPath(db)} is damaged: restore a sound backup (${reason})`)
}

/** The error of a list whose one row of the table `list` is missing or wrong. */
export const toHeadDamage = (db: Database): StoreError => toDamage(db, 'its head cannot be read')

/** The paths of lists that were read into memory. */
const paths = new WeakMap<Database, string>()

/** Says which list is in memory. */
export function setPath(db: Database, path: string): void {
  paths.set(db, path)
}

/** The path of a list, also of one that was opened by a URI, or read into memory. */
export function toPath(db: Database): string {
  const filename = paths.get(db) ?? db.filename
  return filename.startsWith('file:') ? fileURLToPath(filename) : filename
}

// https://sqlite.org/rescode.html. A code of SQLite stands for several errors of the system, and Bun does not pass these on:
// a write returns FULL for ENOSPC, and IOERR_WRITE for EIO, EDQUOT and EFBIG (unixWrite in os_unix.c). A statement
// returns CORRUPT for a read with EIO (SQLITE_IOERR_CORRUPTFS in vdbe.c). The message of SQLite is for all other codes.
const SQLITE_REASONS = [
  [/^SQLITE_READONLY_DBMOVED$/, 'another file is at its path now, as after a restore: start again'],
  [/^SQLITE_NOTADB/, 'it is not a database, or it is damaged: correct the path, or restore a backup'],
  [/^SQLITE_(?:IOERR_)?CORRUPT/, 'it is damaged, or the disk cannot read it: restore a backup'],
  [/^SQLITE_BUSY/, 'another process holds its lock'],
  [/^SQLITE_FULL$/, 'the disk is full'],
  [/^SQLITE_IOERR_SHMSIZE$/, 'the disk is full, or reports an error'],
  [
    /^SQLITE_IOERR_(?:WRITE|TRUNCATE)$/,
    'the disk reports an error, or a quota or a limit on the size of a file is reached',
  ],
  [/^SQLITE_IOERR_(?:DIR_)?FSYNC$/, 'the disk reports an error'],
  [
    /^SQLITE_IOERR_SHM(?:OPEN|MAP)$/,
    'its file system has no shared memory, such as a share of a NAS: use a local disk',
  ],
  [/^SQLITE_IOERR_(?:\w*LOCK|BLOCKED)$/, 'its file system cannot lock it'],
  [/^SQLITE_IOERR_GETTEMPPATH$/, 'no folder for temporary files can be written: set TMPDIR to one'],
] as const
