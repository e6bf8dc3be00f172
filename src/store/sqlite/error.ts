/** Errors of SQLite and of the file system, as one line for the owner. */

import type { Database } from 'bun:sqlite'
import { toErrorCode, toSystemReason } from '../../failure.ts'
import { StoreError } from '../../subscriber.ts'

/** Says in words what an error means. */
export function toReason(error: unknown): string {
  const code = toErrorCode(error) ?? ''
  const reason = SQLITE_REASONS.find(([pattern]) => pattern.test(code))?.[1]
  return reason ?? toSystemReason(error) ?? (code || String(error))
}

/** @param error what was thrown, or the reason in words */
export function toOpenError(path: string, error: unknown): StoreError {
  if (error instanceof StoreError) return error
  return new StoreError(`cannot open the list ${path}: ${toReason(error)}`)
}

/** Another connection holds the write lock. */
export function isBusy(error: unknown): boolean {
  return /^SQLITE_BUSY/.test(toErrorCode(error) ?? '')
}

/** Runs work on an open list. Turns an error that is not a StoreError into one. */
export async function wrapErrors<T>(db: Database, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof StoreError) throw error
    throw new StoreError(`the list ${db.filename} cannot be used: ${toReason(error)}`, { cause: error })
  }
}

// https://sqlite.org/rescode.html
const SQLITE_REASONS = [
  [/^SQLITE_CANTOPEN_ISDIR$/, 'it is a folder'],
  [/^SQLITE_READONLY/, 'permission denied'],
  [/^SQLITE_CANTOPEN/, 'it cannot be opened for writing'],
  [/^SQLITE_(?:NOTADB|CORRUPT)/, 'it is not a database, or it is damaged'],
  [/^SQLITE_BUSY/, 'another process holds its lock'],
  [/^(?:SQLITE_FULL|SQLITE_IOERR_WRITE)$/, 'the disk is full'],
] as const
