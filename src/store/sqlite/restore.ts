/** Replaces a list with a backup. */

import { Database } from 'bun:sqlite'
import { linkSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Failure, toErrorCode, toFileFailure, UsageError } from '../../failure.ts'
import { renameSynced, syncPath, withPartialFile } from '../../files.ts'
import { StoreError } from '../../subscriber.ts'
import { checkAndCopy, type ListSummary, readSummary, toKeptName } from './backup.ts'
import { isBusy, isDamage, toReason, toStoreError } from './error.ts'
import { openReadOnly } from './file.ts'
import { checkExists, createFolder, hasContent, readFileId, refuseForeignLog, toRealPath } from './paths.ts'
import { readHead } from './read.ts'

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
 * @throws UsageError when the backup is the list itself; Failure; the reason of the signal. Then the list is unchanged
 */
export async function restoreList(
  backup: string,
  list: string,
  { signal, dryRun = false }: { readonly signal: AbortSignal; readonly dryRun?: boolean | undefined },
): Promise<Restored> {
  const target = toRealPath(list)
  const source = toRealPath(backup)
  checkBackup(source, target)
  const before = readBefore(target)
  if (dryRun) return { before, after: await checkAndCopy({ source }, signal), keptFiles: [] }
  // Held to the end: nobody may add to a list that is about to be replaced.
  using locked = hasContent(target) ? lockList(target) : undefined
  const lastSeq = readLastSeq(locked)
  createFolder(dirname(target))
  return await withPartialFile(target, target, async (partial) => {
    const after = await checkAndCopy({ source, target: partial, kind: 'list', lastSeq }, signal).catch((error) => {
      if (locked) restoreMode(locked)
      throw error
    })
    return { before, after, keptFiles: await replace(partial, target) }
  })
}

function checkBackup(source: string, target: string): void {
  // The advice for a missing list does not fit a missing backup.
  statSync(source)
  checkExists(source)
  if (readFileId(source) === readFileId(target)) throw new UsageError(`${source} is the list itself`)
  for (const path of [source, target]) refuseForeignLog(path)
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
 * Moves the log of a list into it, takes it out of WAL mode, and keeps other processes from opening it, until the connection is
 * closed. Undefined when it is damaged or no database. @throws StoreError when another process uses it, or this one may not; what
 * `check` throws
 */
export function lockList(file: string, check?: (locked: Database) => void): Database | undefined {
  let db: Database | undefined
  try {
    db = new Database(file, { readwrite: true })
    // No other process may open the list between the two statements.
    db.run('PRAGMA locking_mode = EXCLUSIVE')
    db.run('PRAGMA journal_mode = DELETE')
    db.run('BEGIN EXCLUSIVE')
    check?.(db)
    return db
  } catch (error) {
    db?.close()
    if (isBusy(error)) throw new StoreError(`${file} cannot be replaced: another process uses it: stop the service`)
    if (!isDamage(error)) throw toStoreError(file, error)
    return undefined
  }
}

/** Puts a locked list into the mode of a list in use again: otherwise it would pass for a backup. */
function restoreMode(locked: Database): void {
  locked.run('ROLLBACK')
  locked.run('PRAGMA journal_mode = WAL')
}

/** Returns the last number of a list, also of one that is damaged elsewhere. Otherwise 0: the clock is above its numbers. */
function readLastSeq(db: Database | undefined): number {
  try {
    return db ? readHead(db).lastSeq : 0
  } catch {
    return 0
  }
}

/**
 * Puts the copy in the place of the list, which first gets a second name, with its log: `rollcall.before-restore-TIME.db`. So a
 * crash leaves the list complete. Returns these names. @throws Failure
 */
async function replace(copy: string, target: string): Promise<readonly string[]> {
  const folder = dirname(target)
  const name = join(folder, toKeptName(target, 'before-restore'))
  const suffixes = ['', '-wal'].filter((suffix) => hasContent(target + suffix))
  const kept = suffixes.map((suffix) => name + suffix)
  try {
    for (const suffix of suffixes) linkSync(target + suffix, name + suffix)
    syncPath(folder)
    await renameSynced(copy, target)
  } catch (error) {
    for (const file of kept) rmSync(file, { force: true })
    if (!/^(?:EPERM|ENOTSUP|EOPNOTSUPP|ENOSYS)$/.test(toErrorCode(error))) throw toFileFailure(error, target)
    throw new Failure(
      `the file system of ${target} has no hard links: move the list to another folder, and restore again`,
    )
  }
  // A log is left only beside a damaged list, which lockList could not open. Nobody opens the new list before that log is gone.
  // Without one, a service may have opened the new list by now, and these files are its own.
  if (suffixes.includes('-wal')) for (const suffix of ['-shm', '-wal']) rmSync(target + suffix, { force: true })
  return kept
}
