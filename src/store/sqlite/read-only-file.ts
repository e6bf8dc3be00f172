/**
 * Opens a list that cannot be written: its disk is full, or it, its folder or its disk is read-only. Writes nothing,
 * not even a lock or the index of the log (WAL).
 */

import { realpathSync } from 'node:fs'
import { STORE_DEADLINE_MS } from '../../limits.ts'
import { StoreError } from '../../subscriber.ts'
import { isBusy, toOpenError } from './error.ts'
import { readSignature, TICK_MS } from './file-signature.ts'
import { hasContent, isInWalMode } from './header.ts'
import { holdFile } from './held-file.ts'
import { ListFile } from './list-file.ts'
import { readVersion, SCHEMA_VERSION } from './migrations.ts'
import { prepareReading, type ReadAccess, toReadOnly } from './read-access.ts'

/**
 * Opens a list for reading.
 *
 * @param error why it cannot be written. The writing methods of the store throw it.
 * @throws StoreError `error`, when it cannot be read either
 */
export function openReadOnlyFile(path: string, error: StoreError): ListFile {
  // SQLite keeps the log next to the real file.
  const file = realpathSync(path)
  const attempts = [
    // With the locks and the index of a process that uses the list. A list that is closed needs no index.
    () => open(path, { access: 'shared', error }),
    () => openUnlocked(path, file, error),
  ]
  for (const attempt of attempts) {
    try {
      return attempt()
    } catch (reason) {
      if (reason instanceof StoreError) throw reason
      // A process uses the list, so it must not be read without locks.
      if (isBusy(reason)) throw toOpenError(path, reason)
    }
  }
  throw error
}

/**
 * Opens a list in WAL mode that no process uses: its index of the log is missing, or cannot be used. This connection
 * keeps an index in memory. It takes no lock, because a lock needs a file that can be written. So each read checks that
 * no file has changed.
 */
function openUnlocked(path: string, file: string, error: StoreError): ListFile {
  if (hasContent(`${file}-journal`)) throw error
  const readFiles = () => readSignature(file, ['', '-wal', '-shm'])
  const before = readFiles()
  Bun.sleepSync(TICK_MS)
  const checkUnchanged = () => {
    if (readFiles() === before) return
    throw new StoreError(`the list ${path} was changed while it was read: run the command again`)
  }
  // Without a log, the file is complete. SQLite would create an empty log.
  const access = hasContent(`${file}-wal`) ? 'log' : 'closed'
  return open(path, { access, error, checkUnchanged })
}

interface ReadOnlyOptions {
  readonly access: ReadAccess
  readonly error: StoreError
  readonly checkUnchanged?: () => void
}

function open(path: string, { access, error, checkUnchanged }: ReadOnlyOptions): ListFile {
  const held = holdFile(path)
  const db = new ListFile(path, held, { ...toReadOnly(path, access), error, checkUnchanged })
  try {
    if (checkUnchanged && !isInWalMode(held.descriptor)) throw error
    db.run(`PRAGMA busy_timeout = ${STORE_DEADLINE_MS}`)
    prepareReading(db, access)
    checkVersion(db, error)
    checkUnchanged?.()
    return db
  } catch (reason) {
    db.close()
    throw reason
  }
}

function checkVersion(db: ListFile, error: StoreError): void {
  const version = readVersion(db)
  if (version === 0) throw error
  if (version < SCHEMA_VERSION) {
    throw new StoreError(`${error.message}; a list of schema ${version} must be migrated before it can be read`)
  }
}
