/** Reads a list and changes nothing: no file is created or written, and no lock of a service is taken. */

import { Database } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import { Failure } from '../../failure.ts'
import { StoreError } from '../../subscriber.ts'
import { toReason } from './error.ts'
import { readSignature } from './file-signature.ts'
import { hasContent, readFileHeader } from './header.ts'
import { prepareReading, type ReadAccess, toReadOnly } from './read-access.ts'

const FILES = ['', '-wal', '-shm']

/** Reads of a list that changes its mode meanwhile are tried so many times. */
const ATTEMPTS = 3

/**
 * Runs work on a list. Needs no permission to write. A service may use the list; then the work sees one state of it in
 * each transaction.
 *
 * @param path the real path of the list
 * @param work must not change anything; it runs again after an error if the files have changed meanwhile
 * @throws StoreError
 */
export function readUnchanged<T>(path: string, work: (db: Database) => T): T {
  for (let attempt = 1; ; attempt++) {
    const signature = readSignature(path, FILES)
    try {
      using db = openUnchanged(path)
      return work(db)
    } catch (error) {
      if (attempt < ATTEMPTS && readSignature(path, FILES) !== signature) continue
      if (error instanceof Failure) throw error
      throw new StoreError(`the list cannot be read: ${toReason(error)}`, { cause: error })
    }
  }
}

function openUnchanged(path: string): Database {
  const access = toAccess(path)
  const { uri, flags } = toReadOnly(path, access)
  const db = new Database(uri, flags)
  prepareReading(db, access)
  return db
}

function toAccess(path: string): ReadAccess {
  const header = readFileHeader(path)
  // A lock would keep a service from starting.
  if (!header || header === 'empty' || !header.isWal) return 'closed'
  if (existsSync(`${path}-wal`) && existsSync(`${path}-shm`)) return 'shared'
  // Without an index of the log, no process uses the list.
  return hasContent(`${path}-wal`) ? 'log' : 'closed'
}
