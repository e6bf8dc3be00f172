/** Opens the file of a SQLite list: creates a missing one, and refuses any other file. See version.ts for an older list. */

import { Database } from 'bun:sqlite'
import { accessSync, existsSync, constants as modes, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { type Failure, toErrorCode } from '../../failure.ts'
import { createPrivateFile, LIST_ID, syncPath } from '../../files.ts'
import { STORE_DEADLINE_MS } from '../../limits.ts'
import { StoreError, type StoreOptions } from '../../subscriber.ts'
import { checkClock } from '../numbers.ts'
import { configureLog, createLogState, type ListLog, moveLeftLog, openAlone, writeSoundly } from './checkpoint.ts'
import { isBusy, isWriteError, toPath, toStoreError } from './error.ts'
import {
  checkExists,
  createFolder,
  isBackup,
  readFileId,
  readFreeBytes,
  refuseForeignLog,
  refuseLoneMount,
  toMissing,
  toRealPath,
} from './paths.ts'
import { openReadOnly } from './read-only.ts'
import { checkVersion, migrate, refuseOtherVersion } from './schema.ts'
import { getRow, waitForLock } from './transaction.ts'

/** Bytes of a page of a new list. Compaction changes pages all over the list, and more addresses share a large one. */
export const PAGE_BYTES = 16_384

/** An open list. */
export interface ListFile extends ListLog {
  /** The ids of the files at its paths when it was opened, by their paths. None when the list is only read. */
  readonly files: ReadonlyMap<string, string | undefined>
  /** Whether it was created just now. */
  readonly isNew?: boolean
  /** Why the list is only read: it is a backup, or it cannot be written. */
  readonly readOnly?: 'backup' | Failure
}

/** How a list is opened: by a command, or by the service, which creates a missing one and migrates an older one. */
type Access = StoreOptions['access'] | 'serve'

/** Whether a missing list is an error. */
const mustExist = (access: Access) => access === 'read' || access === 'change'

/**
 * Opens a list. A log that no process uses is moved into it first: see checkpoint.ts. With the access `read` too, it is opened for
 * writing, to compact its inbox, unless it is a backup or cannot be written. With `serve`, an older list is opened too, and the caller
 * migrates it. @throws StoreError; as `toRealPath`
 */
export function openListFile(file: string, access: Access = 'serve'): ListFile {
  const path = toRealPath(file)
  try {
    if (access === 'read' && isBackup(path)) return openUnchanged(path, 'backup')
    refuseLoneMount(path)
    if (mustExist(access)) checkExists(path)
    refuseForeignLog(path)
    if (!existsSync(path)) {
      createFolder(dirname(path))
      // SQLite gives its mode to the log next to it.
      createPrivateFile(path, { mayExist: true })
    }
    refuseSecondName(path)
    const state = moveLeftLog(path)
    return openWritable(path, { name: resolve(file), access, state })
  } catch (error) {
    if (access === 'read' && isWriteError(error)) return openUnchanged(path, toStoreError(path, error))
    // Nobody can create a file in /proc, for example.
    throw toStoreError(path, toErrorCode(error) === 'ENOENT' ? 'it cannot be created' : error)
  }
}

/**
 * Refuses a list that another process uses by another name, which is a hard link. SQLite keeps a log for each name, and what is written by
 * one of them is lost or damages the other (https://sqlite.org/howtocorrupt.html, section 2.5). Both hold locks on the same file, so the
 * lock tells that it is in use, and the index of the log tells by which name. @throws StoreError
 */
function refuseSecondName(path: string): void {
  const isOpenByThisName = () => existsSync(`${path}-shm`)
  if (statSync(path).nlink <= 1 || isOpenByThisName()) return
  try {
    openAlone(path).close()
  } catch (error) {
    if (!isBusy(error)) throw error
    // Another process has opened it by this name meanwhile.
    if (isOpenByThisName()) return
    throw toStoreError(path, 'another process uses it by another name, a hard link: use that name, and delete this one')
  }
}

function openUnchanged(path: string, readOnly: 'backup' | Failure): ListFile {
  return { db: openReadOnly(path), files: new Map(), state: createLogState(), readOnly }
}

interface OpenOptions {
  /** The path as it was given, absolute: it may be a symbolic link. */
  readonly name: string
  readonly access: Access
  /** That of the log, which was there before. */
  readonly state: ListFile['state']
}

/** Opens a file that exists, and creates the schema in an empty one. The order matters: nothing of ours is written to a file of others. */
function openWritable(path: string, { name, access, state }: OpenOptions): ListFile {
  const id = readFileId(path)
  // SQLite does not refuse a file that it may not write: it opens it for reading, and the first commit would fail instead of the start.
  accessSync(path, modes.W_OK)
  const db = new Database(path, { readwrite: true })
  try {
    // Until the list is open, SQLite waits for others itself.
    db.run(`PRAGMA busy_timeout = ${STORE_DEADLINE_MS}`)
    const isNew = checkVersion(db, path) === 0
    // A service of an older version may have the list open, so no command writes to it.
    if (!isNew && access !== 'serve') refuseOtherVersion(db)
    // A process that was killed while it created the list leaves a file without a schema.
    if (isNew && mustExist(access)) throw toMissing(path)
    // A damaged list is refused before an address is written to it and confirmed.
    touchTables(db)
    unmarkBackup(db, path)
    configure(db, path)
    if (isNew) createSchema(db, path)
    createLog(db, path)
    const list: ListFile = { db, files: findFiles(path, name, id), state, isNew }
    // Another file may have been put here since `id` was read.
    refuseLost(list)
    // From now on, waits are those of transaction.ts.
    db.run('PRAGMA busy_timeout = 0')
    return list
  } catch (error) {
    // When the file was replaced, SQLite leaves the log at its path (databaseIsUnmoved in pager.c).
    db.close()
    throw readFileId(path) === id ? error : new LostListError(`${path} was replaced while it was opened: start again`)
  }
}

/** Reads a page of each table. @throws SQLiteError when one is damaged */
function touchTables(db: Database): void {
  const tables = db.query<{ name: string }, []>(`SELECT name FROM sqlite_schema WHERE type = 'table'`).all()
  for (const { name } of tables) db.query(`SELECT 1 FROM "${name}" LIMIT 1`).get()
}

/** Takes the mark of a backup away, before anything else is written to it: from now on, `backup` does not replace it. */
function unmarkBackup(db: Database, path: string): void {
  if (isBackup(path)) db.run(`PRAGMA application_id = ${LIST_ID}`)
}

function createSchema(db: Database, path: string): void {
  // Before the schema is committed: a process that finds the schema relies on the entry in the folder.
  syncPath(dirname(path))
  migrate(db, path)
}

/** SQLite creates the log and its index at the first read in WAL mode, and `findFiles` must find both. */
function createLog(db: Database, path: string): void {
  checkVersion(db, path)
}

function configure(db: Database, path: string): void {
  // Before the first table of a new list. An older list keeps the size that it has.
  db.run(`PRAGMA page_size = ${PAGE_BYTES}`)
  // A list stays in this mode. SQLite does not wait here when two processes open the list at once.
  const startWal = () => getRow<{ journal_mode: string }>(db, 'PRAGMA journal_mode = WAL')
  if (waitForLock(startWal).journal_mode !== 'wal') throw toStoreError(path, 'its file system cannot share it')
  configureLog(db)
  // 16 MiB. More does not help: compaction and imports use the pages in their order.
  db.run('PRAGMA cache_size = -16384')
  // What is sorted stays in memory, a few megabytes for a batch: a /tmp that is full must not stop a list on another disk.
  db.run('PRAGMA temp_store = MEMORY')
}

/** @param id of the file that was opened */
function findFiles(path: string, name: string, id: string | undefined): ListFile['files'] {
  const log = `${path}-wal`
  const index = `${path}-shm`
  return new Map([
    [path, id],
    // A symbolic link may be changed while the list is open, and then leads to another list.
    [name, id],
    [log, readFileId(log)],
    [index, readFileId(index)],
  ])
}

/** The files of a list were deleted, moved or replaced while it was open: what is written to it now is in none of them. */
export class LostListError extends StoreError {
  override readonly name = 'LostListError'
}

/**
 * Throws a LostListError unless the files at the paths of a list are those that were opened, and an OutdatedError when a newer program
 * has migrated it. Call it before a commit and after it:
 *
 * - Before it, because the index of the log may have been deleted. Then the next process makes a new one, the two do not see each other's
 *   locks, and each overwrites what the other one has committed.
 * - After it, because the commit is in the files that were opened, which may not be at their paths any more.
 */
export function checkPlace(list: ListFile): void {
  refuseLost(list)
  refuseOtherVersion(list.db)
}

function refuseLost(list: ListFile): void {
  const loss = findLoss(list)
  if (loss) throw loss
}

function findLoss({ files }: ListFile): LostListError | undefined {
  for (const [file, id] of files) {
    const found = readFileId(file)
    const loss = found ? `another file is at ${file}` : `${file} was deleted or moved`
    if (found !== id) return new LostListError(`the list is lost: ${loss}`)
  }
  return undefined
}

/** Writes to a list whose files are at their paths. @throws as `checkPlace` and `writeSoundly` */
export function write<T>(list: ListFile, work: () => T): T {
  checkPlace(list)
  return writeSoundly(list, work)
}

/**
 * Commits what a caller is told about. It looks twice at the files and the version, because neither look is under the lock of the
 * commit: the first one keeps an old program from writing to a list that was migrated, and the second one from confirming what it
 * wrote while another process migrated the list. @throws as `write`
 */
export function commit(list: ListFile, work: () => void): void {
  write(list, work)
  // After the sync and before the confirmation, so that only addresses in the files at the paths are confirmed.
  checkPlace(list)
}

/** The space that a commit may need. */
export const MIN_COMMIT_BYTES = 256 * 1024

/**
 * Shows whether the list can be written, without a commit: takes the lock that a writer needs, and gives it back. Only a commit would
 * meet a wrong clock or a full disk, so it looks for these itself. @throws StoreError, SQLiteError
 */
export function checkWritable(list: ListFile): void {
  // First, although `write` does it too: the free space is that of the disk at the path.
  checkPlace(list)
  checkClock()
  const path = toPath(list.db)
  if (readFreeBytes(path) < MIN_COMMIT_BYTES) throw toStoreError(path, 'the disk is full')
  write(list, () => {
    list.db.run('BEGIN IMMEDIATE')
    list.db.run('ROLLBACK')
  })
}

/**
 * Connections that nothing closes before the process ends, the garbage collector neither: to close a list deletes the log at its path. That
 * log may be the one of another process by now, which made it anew when ours was deleted, or it has what could not be moved. Only when the
 * file of the list itself was replaced does SQLite leave the log (databaseIsUnmoved in pager.c).
 */
const kept: Database[] = []

/** Keeps a connection from being closed, also by the garbage collector, before the process ends. */
export function keepOpen(db: Database): void {
  kept.push(db)
}

/**
 * Closes a list, unless it is lost. When nobody else has it open, SQLite moves its log into it and deletes the log. It ignores an error
 * of that (sqlite3WalClose in wal.c), and nothing is lost: the log then stays, with all that was confirmed, and `moveLeftLog` moves it
 * when the list is opened again.
 *
 * @returns how the list is lost
 */
export function closeList(list: ListFile): LostListError | undefined {
  const loss = findLoss(list)
  if (loss) keepOpen(list.db)
  else list.db.close()
  return loss
}
