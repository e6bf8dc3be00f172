/**
 * Puts a new file in the place of a list: a backup (`restore`), or a copy of another list (`copy`). Both write a new file beside the
 * list, and rename it to the name of the list at the end. A restore locks the list before that. A copy finds an empty list or
 * none. It locks it for a moment before it begins, to be refused early, and again at the end.
 */

import type { Database } from 'bun:sqlite'
import { existsSync, linkSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Failure, toErrorCode, toFileFailure, UsageError } from '../../failure.ts'
import { createPrivateFile, renameSynced, syncPath, withPartialFile } from '../../files.ts'
import { MissingListError, StoreError } from '../../subscriber.ts'
import { NOT_EMPTY } from '../check.ts'
import { checkAndCopy, type ListSummary, readSummary, toKeptName } from './backup.ts'
import { openAlone, truncateLog } from './checkpoint.ts'
import { isBusy, isDamage, toReason, toStoreError } from './error.ts'
import { keepOpen } from './file.ts'
import { checkExists, createFolder, hasContent, readFileId, refuseForeignLog, toRealPath } from './paths.ts'
import { readHead } from './read.ts'
import { openReadOnly } from './read-only.ts'
import { checkVersion } from './schema.ts'

export interface Restored {
  /** What the list held. A text says why that is not known; undefined when there was no list. */
  readonly before?: ListSummary | string | undefined
  readonly after: ListSummary
  /** Where the files of the earlier list are now. */
  readonly keptFiles: readonly string[]
}

/**
 * Copies a backup to the path of a list, and keeps the earlier list under another name. The copy gives out only numbers
 * above those of the earlier list. A crash at any moment leaves the old list or the new one. A dry run only checks.
 *
 * @throws UsageError when the backup is the list itself; Failure; the reason of the signal. Then the list is unchanged, or the error
 * says where it is
 */
export async function restoreList(
  backup: string,
  list: string,
  { signal, dryRun = false }: { readonly signal: AbortSignal; readonly dryRun?: boolean | undefined },
): Promise<Restored> {
  const target = toRealPath(list)
  const source = toRealPath(backup)
  checkSource(source, target)
  const before = readBefore(target)
  if (dryRun) return { before, after: await checkAndCopy({ source }, signal), keptFiles: [] }
  // Held to the end: nobody may add to a list that is about to be replaced. Where there is no list, or only a damaged one, nothing is
  // locked. A service that starts meanwhile finds its list replaced, and keeps what it has in a rescue file.
  using locked = hasContent(target) ? lockList(target) : undefined
  const lastSeq = readLastSeq(locked)
  createFolder(dirname(target))
  return await withPartialFile(target, target, async (partial) => {
    const after = await checkAndCopy({ source, target: partial, kind: 'list', lastSeq }, signal)
    const keptFiles = await putInPlace(partial, target, chooseKeptNames(target))
    return { before, after, keptFiles }
  })
}

/**
 * Creates the file of a list, or replaces that of an empty one that no process uses. A crash at any moment leaves what was there
 * before, a file without a list where there was none, or the whole list. @throws StoreError; what `write` throws, which fills an empty file
 */
export async function createListFile<T>(file: string, write: (partial: string) => Promise<T>): Promise<T> {
  const path = toRealPath(file)
  refuseForeignLog(path)
  // Before the copy, which takes long. Under the lock that puts it in place, it is checked again.
  if (hasContent(path)) {
    refuseContentOf(path)
    lockEmptyList(path).close()
  }
  createFolder(dirname(path))
  return await withPartialFile(path, path, async (partial) => {
    const result = await write(partial)
    // A service may have begun to use this path, and its addresses must not be replaced.
    createPrivateFile(path, { mayExist: true })
    using _locked = lockEmptyList(path)
    await putInPlace(partial, path)
    return result
  })
}

function checkSource(source: string, target: string): void {
  // The advice for a missing list does not fit a missing backup.
  statSync(source)
  checkExists(source)
  if (readFileId(source) === readFileId(target)) throw new UsageError(`${source} is the list itself`)
  // A log beside the backup is looked at when the backup is opened.
  refuseForeignLog(target)
}

/** Reads what the list holds, or why it cannot be read: such a list is replaced too. */
function readBefore(target: string): Restored['before'] {
  if (!hasContent(target)) return undefined
  try {
    using db = openReadOnly(target)
    return db.transaction(readSummary)(db)
  } catch (error) {
    return toReason(error)
  }
}

/**
 * Moves the log of a list into it, and keeps other processes from opening it until the connection is closed. It holds the same
 * addresses after that, and stays in WAL mode, so nothing must be undone. Undefined when it is damaged or no database.
 *
 * @throws StoreError when another process uses it, or this one may not; what `check` throws
 */
function lockList(file: string, check?: (locked: Database) => void): Database | undefined {
  const db = openLocked(file, check)
  if (db) moveLog(db, file)
  return db
}

function openLocked(file: string, check?: (locked: Database) => void): Database | undefined {
  let db: Database | undefined
  try {
    db = openAlone(file)
    check?.(db)
    return db
  } catch (error) {
    db?.close()
    if (isBusy(error)) throw new StoreError(`${file} cannot be replaced: another process uses it: stop the service`)
    if (!isDamage(error)) throw toStoreError(file, error)
    return undefined
  }
}

/** Moves the log of a locked list into it, and removes what would be next to the new list: the log is empty then, and its index worthless. */
function moveLog(db: Database, file: string): void {
  try {
    truncateLog(db)
    for (const suffix of ['-wal', '-shm']) rmSync(file + suffix, { force: true })
  } catch (error) {
    // To close it would move the log again, and delete it. After a failed sync, only the log has what was not written.
    keepOpen(db)
    throw toStoreError(file, error)
  }
}

/** Keeps other processes from opening a file that has no list, or an empty one, until the connection is closed. */
function lockEmptyList(path: string): Database {
  const db = lockList(path, (locked) => refuseContent(locked, path))
  if (!db) throw toStoreError(path, 'it is damaged')
  return db
}

/** Refuses a list that is not empty. The lock would say of one in use only that another process uses it. */
function refuseContentOf(path: string): void {
  try {
    using db = openReadOnly(path, 'keep')
    refuseContent(db, path)
  } catch (error) {
    // The lock of an earlier copy, which failed, left a page of SQLite without a list.
    if (!(error instanceof MissingListError)) throw error
  }
}

function refuseContent(db: Database, path: string): void {
  if (checkVersion(db, path) === 0) return
  // It may be an older list, which is replaced by one of the present version.
  const isEmpty = ['subscribers', 'suppressions', 'inbox'].every(
    (table) => !db.query(`SELECT 1 FROM ${table} LIMIT 1`).get(),
  )
  if (isEmpty) return
  throw new StoreError(NOT_EMPTY)
}

/** Returns the last number of a list, also of one that is damaged elsewhere. Otherwise 0: the clock is above its numbers. */
function readLastSeq(db: Database | undefined): number {
  try {
    return db ? readHead(db).lastSeq : 0
  } catch {
    return 0
  }
}

/** The other names that the files of the earlier list get, by their names now. */
type Kept = ReadonlyMap<string, string>

/** Chooses other names for the list and its log: `rollcall.before-restore-TIME.db`. */
function chooseKeptNames(target: string): Kept {
  const name = join(dirname(target), toKeptName(target, 'before-restore'))
  const suffixes = ['', '-wal'].filter((suffix) => hasContent(target + suffix))
  return new Map(suffixes.map((suffix) => [target + suffix, name + suffix]))
}

/**
 * Gives a new file, which is complete, the name of a list. The earlier list first gets its other name, so a crash at any moment
 * leaves it complete. Returns the other names. @throws Failure, which says where the earlier list is
 */
async function putInPlace(file: string, target: string, kept: Kept = new Map()): Promise<readonly string[]> {
  const earlier = readFileId(target)
  try {
    for (const [path, name] of kept) {
      if (path === target) linkSync(path, name)
      // Only a list that could not be locked still has a log: a damaged one, or one that was created meanwhile. It must not be next to
      // the new list: SQLite would play it back into that.
      else renameSync(path, name)
    }
    if (kept.size > 0) syncPath(dirname(target))
    await renameSynced(file, target)
    return [...kept.values()]
  } catch (error) {
    throw undo(error, { target, kept, isReplaced: readFileId(target) !== earlier })
  }
}

/**
 * Takes the other names away from the earlier list, unless the new file has its name: the error may be that of the last sync. Looks at
 * what is there, because each step may have failed. Returns the error, which says where the earlier list is.
 */
function undo(
  error: unknown,
  { target, kept, isReplaced }: { readonly target: string; readonly kept: Kept; readonly isReplaced: boolean },
): unknown {
  const failure = toFailure(error, target)
  if (!(failure instanceof Failure)) return failure
  const { message } = failure
  if (isReplaced) {
    const earlier = kept.get(target)
    const advice = earlier
      ? `a power cut may bring the earlier one back: restore again. The earlier list is complete in ${earlier}`
      : 'a power cut may take it away: delete it, and try again'
    return new Failure(`${message}; ${target} is the new list now, but ${advice}`)
  }
  try {
    for (const [path, name] of kept) {
      if (existsSync(path)) rmSync(name, { force: true })
      else renameSync(name, path)
    }
    return failure
  } catch {
    // The first error is the reason, and what could not be undone is named.
    const left = [...kept.values()].filter((name) => existsSync(name))
    return new Failure(`${message}; the list is complete in ${left.join(' and ')}`)
  }
}

const NO_LINKS = /^(?:EPERM|ENOTSUP|EOPNOTSUPP|ENOSYS)$/

function toFailure(error: unknown, target: string): unknown {
  const { syscall } = Object(error) as NodeJS.ErrnoException
  if (syscall !== 'link' || !NO_LINKS.test(toErrorCode(error))) return toFileFailure(error, target)
  return new Failure(
    `the file system of ${target} has no hard links: move the list to another folder, and restore again`,
  )
}
