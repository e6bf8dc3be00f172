/** Opens the file of a SQLite list for reading only. See version.ts for an older list. */

import { constants, Database } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { toErrorCode } from '../../failure.ts'
import { STORE_DEADLINE_MS } from '../../limits.ts'
import { toStoreError } from './error.ts'
import { checkExists, hasContent, isBackup, isInWalMode, refuseForeignLog, toMissing } from './paths.ts'
import { checkVersion, migrateInMemory, refuseOtherVersion, SCHEMA_VERSION } from './schema.ts'

/** What is done with a list of an older version that is opened for reading. */
type Older =
  /** An error: a service may migrate it at any moment. The default for a list. */
  | 'refuse'
  /** It is copied to memory, and the copy is migrated. The default for a backup. */
  | 'copy'
  /** It is read as it is. */
  | 'keep'

/**
 * Opens a list for reading, by its real path. Writes nothing, so that a disk that is full or read-only can be read, and a service
 * is not disturbed. @throws StoreError
 */
export function openReadOnly(path: string, given?: Older): Database {
  const db = openUnchecked(path)
  try {
    const older = given ?? (isBackup(path) ? 'copy' : 'refuse')
    if (older === 'keep' || checkVersion(db, path) === SCHEMA_VERSION) return db
    if (older === 'refuse') refuseOtherVersion(db)
    const copy = migrateInMemory(db, path)
    db.close()
    return copy
  } catch (error) {
    db.close()
    throw toStoreError(path, error)
  }
}

/** Opens a list of any version for reading. */
function openUnchecked(path: string): Database {
  const log = `${path}-wal`
  try {
    checkExists(path)
    refuseForeignLog(path)
    try {
      // With the locks and the index of the log (WAL) of a process that uses the list.
      if (existsSync(log) && existsSync(`${path}-shm`)) return openUri(path, 'readonly_shm=1')
    } catch (error) {
      // No process uses the list, so the index of its log is out of date.
      if (!/^SQLITE_(?:READONLY|CANTOPEN)/.test(toErrorCode(error))) throw error
    }
    // Without locks, and with an index of the log in memory: no process uses the list.
    if (hasContent(log)) return openUri(path, 'vfs=unix-none')
    // Without locks and without a log: the file is complete.
    if (isInWalMode(path)) return openUri(path, 'immutable=1')
    // A backup, or a list that was restored. With locks, because a service may begin to use it.
    return openUri(path, '')
  } catch (error) {
    throw toStoreError(path, error)
  }
}

/** @param parameters of the URI: https://sqlite.org/uri.html */
function openUri(path: string, parameters: string): Database {
  const flags = constants.SQLITE_OPEN_READONLY | constants.SQLITE_OPEN_URI
  const db = new Database(`${pathToFileURL(path).href}?${parameters}`, flags)
  try {
    db.run(`PRAGMA busy_timeout = ${STORE_DEADLINE_MS}`)
    // Without locks, SQLite reads the log only if it has the list for itself.
    if (parameters === 'vfs=unix-none') db.run('PRAGMA locking_mode = EXCLUSIVE')
    if (checkVersion(db, path) === 0) throw toMissing(path)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}
