/** Opens the file of a SQLite list: creates a missing one, migrates an older one, and refuses any other file. */

import { constants, Database } from 'bun:sqlite'
import { accessSync, existsSync, constants as modes, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Failure, IS_FOLDER, toErrorCode } from '../../failure.ts'
import { createPrivateFile } from '../../files.ts'
import { STORE_DEADLINE_MS } from '../../limits.ts'
import { StoreError } from '../../subscriber.ts'
import { isWriteError, toOpenError } from './error.ts'
import {
  checkExists,
  createFolder,
  hasContent,
  isInWalMode,
  readFileId,
  refuseForeignLog,
  refuseLoneMount,
  syncFolder,
  toMissing,
  toRealPath,
} from './paths.ts'
import { checkVersion, migrate } from './schema.ts'
import { getRow, waitForLock } from './transaction.ts'

/** Bytes of a page of a new list. Compaction changes pages all over the list, and more addresses share a large one. */
export const PAGE_BYTES = 16_384

/** After a burst, the log is truncated to this size. */
export const LOG_BYTES = 64 * 1024 * 1024

/** An open list. */
export interface ListFile {
  readonly db: Database
  /** The files at its paths, by their ids, when it was opened. None when it is open for reading only. */
  readonly files: ReadonlyMap<string, string | undefined>
  /** Whether it was created just now. */
  readonly isNew?: boolean
  /** Why it is open for reading only; undefined when it can be changed. */
  readonly readOnly?: Failure
}

/**
 * Opens a list to change it.
 *
 * @param options.create whether to create the list and its folders if they are missing
 * @throws StoreError with one line that names the file, when it cannot be opened or is not a list of this version
 */
export function openListFile(file: string, { create = true } = {}): ListFile {
  const name = resolve(file)
  let path = name
  try {
    path = toRealPath(name)
    const status = statSync(path, { throwIfNoEntry: false })
    if (status?.isDirectory()) throw toOpenError(path, IS_FOLDER)
    if (status) refuseLoneMount(path)
    if (!create) checkExists(path)
    refuseForeignLog(path)
    if (!existsSync(path)) {
      createFolder(dirname(path))
      // SQLite gives its mode to the log next to it.
      createPrivateFile(path, { mayExist: true })
    }
    return openWritable(path, name)
  } catch (error) {
    // Nobody can create a file in /proc, for example.
    const isMissing = create && toErrorCode(error) === 'ENOENT'
    throw toOpenError(path, isMissing ? 'it cannot be created' : error)
  }
}

/**
 * Opens a list to read it. It can be changed too, so that its inbox is compacted, unless it cannot be written, or is a backup.
 *
 * @throws as `openListFile`
 */
export function openToRead(file: string): ListFile {
  if (isBackup(file)) return openUnchanged(file, new StoreError(`${file} is a backup, which is only read`))
  try {
    return openListFile(file, { create: false })
  } catch (error) {
    if (!(error instanceof Failure) || !isWriteError(error.cause)) throw error
    return openUnchanged(file, error)
  }
}

/** Whether a file is in the mode of a backup, and of a list that was restored and not opened since. False if it cannot be read. */
function isBackup(file: string): boolean {
  try {
    const path = toRealPath(file)
    return statSync(path).isFile() && hasContent(path) && !isInWalMode(path)
  } catch {
    // To open it as a list fails too, and says why.
    return false
  }
}

/** @param readOnly why the list is not changed; thrown if it cannot be read either, and nothing else is known */
function openUnchanged(file: string, readOnly: Failure): ListFile {
  const path = toRealPath(file)
  try {
    return { db: openReadOnly(path), files: new Map(), readOnly }
  } catch (error) {
    throw error instanceof StoreError || !readOnly.cause ? toOpenError(path, error) : readOnly
  }
}

function openWritable(path: string, name: string): ListFile {
  const id = readFileId(path)
  // SQLite would open a file that it may not write for reading.
  accessSync(path, modes.W_OK)
  const db = new Database(path, { readwrite: true })
  try {
    // A commit waits for the lock of another process as long as the deadline of a request allows.
    db.run(`PRAGMA busy_timeout = ${STORE_DEADLINE_MS}`)
    // Before anything is written.
    const version = checkVersion(db, path)
    // Reads a page of each table, so that a damaged list is refused.
    const tables = db.query<{ name: string }, []>(`SELECT name FROM sqlite_schema WHERE type = 'table'`).all()
    for (const { name: table } of tables) db.query(`SELECT 1 FROM "${table}" LIMIT 1`).get()
    // Before the first table of a new list.
    db.run(`PRAGMA page_size = ${PAGE_BYTES}`)
    // A list stays in this mode. SQLite does not wait here when two processes open the list at once.
    const startWal = () => getRow<{ journal_mode: string }>(db, 'PRAGMA journal_mode = WAL')
    if (waitForLock(startWal).journal_mode !== 'wal') throw toOpenError(path, 'its file system cannot share it')
    // The promise of durability: a commit returns when it is on stable storage.
    db.run('PRAGMA synchronous = FULL')
    // 16 MiB. More does not help: compaction and imports use the pages in their order.
    db.run('PRAGMA cache_size = -16384')
    db.run(`PRAGMA journal_size_limit = ${LOG_BYTES}`)
    // Before the schema is committed: a process that finds the schema relies on the entry in the folder.
    if (version === 0) syncFolder(dirname(path))
    migrate(db, path)
    // A symbolic link may be changed, so the name counts too.
    const files = new Map([path, name].map((file) => [file, id]))
    for (const log of [`${path}-wal`, `${path}-shm`]) files.set(log, readFileId(log))
    const list: ListFile = { db, files, isNew: version === 0 }
    // Another file may have been put here since `id` was read.
    checkPlace(list)
    return list
  } catch (error) {
    // When the file was replaced, SQLite leaves the log at its path (databaseIsUnmoved in pager.c).
    db.close()
    throw readFileId(path) === id ? error : new LostListError(`${path} was replaced while it was opened: start again`)
  }
}

/** The files of a list were deleted, moved or replaced while it was open: what is written to it now is in none of them. */
export class LostListError extends StoreError {
  override readonly name = 'LostListError'
}

/**
 * Call it before a commit too: without the index of the log, two processes do not see each other's locks, and each
 * overwrites what the other one has committed.
 *
 * @throws LostListError
 */
export function checkPlace(list: ListFile): void {
  const loss = findLoss(list)
  if (loss) throw loss
}

function findLoss({ files }: ListFile): LostListError | undefined {
  for (const [file, id] of files) {
    const found = readFileId(file)
    if (found === id) continue
    return new LostListError(
      `the list is lost: ${found ? `another file is at ${file}` : `${file} was deleted or moved`}`,
    )
  }
  return undefined
}

/** Takes the lock that a writer needs, and writes nothing. @throws LostListError, SQLiteError */
export function checkWritable(list: ListFile): void {
  checkPlace(list)
  list.db.run('BEGIN IMMEDIATE')
  list.db.run('ROLLBACK')
}

/** Closes a list, unless it is lost. @returns how it is lost */
export function closeList(list: ListFile): LostListError | undefined {
  const loss = findLoss(list)
  if (loss) keepOpen(list.db)
  else list.db.close()
  return loss
}

const kept: Database[] = []

/**
 * Keeps a list open to the end of the process, also from the garbage collector. When SQLite closes a list, it deletes the log
 * at its path. After a loss, that log may belong to another list.
 */
export function keepOpen(db: Database): void {
  kept.push(db)
}

/** The parameters of the URI that opens a list for reading: https://sqlite.org/uri.html */
const READ_ONLY = {
  // With the locks and the index of the log (WAL) of a process that uses the list.
  shared: 'readonly_shm=1',
  // Without locks, with an index of the log in memory: no process uses the list.
  log: 'vfs=unix-none',
  // Without locks and without a log: the file is complete.
  closed: 'immutable=1',
  // With locks, because a service may begin to use it: a list that was restored is in this mode until then.
  backup: '',
} as const

/**
 * Opens a list for reading. Writes nothing, so that a disk that is full or read-only can be read, and a service is not disturbed.
 *
 * @param path the real path
 * @throws StoreError when it is not a list of this version; SQLiteError when it cannot be read
 */
export function openReadOnly(path: string): Database {
  refuseForeignLog(path)
  if (existsSync(`${path}-wal`) && existsSync(`${path}-shm`)) {
    try {
      return openAs(path, 'shared')
    } catch (error) {
      // No process uses the list, so the index of its log is out of date.
      if (!/^SQLITE_(?:READONLY|CANTOPEN)/.test(toErrorCode(error))) throw error
    }
  }
  if (hasContent(`${path}-wal`)) return openAs(path, 'log')
  return openAs(path, isInWalMode(path) ? 'closed' : 'backup')
}

function openAs(path: string, access: keyof typeof READ_ONLY): Database {
  const flags = constants.SQLITE_OPEN_READONLY | constants.SQLITE_OPEN_URI
  const db = new Database(`${pathToFileURL(path).href}?${READ_ONLY[access]}`, flags)
  try {
    db.run(`PRAGMA busy_timeout = ${STORE_DEADLINE_MS}`)
    // Without the index of the log, SQLite reads the log only if it has the list for itself.
    if (access === 'log') db.run('PRAGMA locking_mode = EXCLUSIVE')
    if (checkVersion(db, path) === 0) throw toMissing(path)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}
