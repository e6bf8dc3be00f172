/** Reads a list and changes nothing: no file is created or written, and no lock of a service is taken. */

import { constants, Database } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { Failure } from '../../failure.ts'
import { StoreError } from '../../subscriber.ts'
import { toReason } from './error.ts'
import { readSignature } from './file-signature.ts'
import { hasContent, readFileHeader } from './header.ts'

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

/** Opens a list by a URI (https://sqlite.org/uri.html), whose parameters depend on the log (WAL). */
function openUnchanged(path: string): Database {
  const mode = toMode(path)
  const db = new Database(`${pathToFileURL(path)}?${MODES[mode]}`, OPEN_FLAGS)
  // Without the index of the log, SQLite reads the log only if it has the list for itself.
  if (mode === 'log') db.run('PRAGMA locking_mode = EXCLUSIVE')
  return db
}

const OPEN_FLAGS = constants.SQLITE_OPEN_READONLY | constants.SQLITE_OPEN_URI

const MODES = {
  // A process uses the list, or was killed. If it was, SQLite reads the log into memory.
  shared: 'readonly_shm=1',
  // There is no index of the log, so no process uses the list: it needs no locks.
  log: 'vfs=unix-none',
  // The list is closed. A lock would keep a service from starting.
  closed: 'immutable=1',
} as const

function toMode(path: string): keyof typeof MODES {
  const header = readFileHeader(path)
  if (!header || header === 'empty' || !header.isWal) return 'closed'
  if (existsSync(`${path}-wal`) && existsSync(`${path}-shm`)) return 'shared'
  return hasContent(`${path}-wal`) ? 'log' : 'closed'
}
