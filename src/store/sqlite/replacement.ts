/** Puts a complete copy of a list in the place of another file. */

import { Database } from 'bun:sqlite'
import { lstatSync, rmSync } from 'node:fs'
import { renameSynced } from '../../complete-file.ts'
import { StoreError } from '../../subscriber.ts'
import { isBusy } from './error.ts'
import { findForeignLog, hasContent, readFileHeader, toForeignReason } from './header.ts'

/**
 * Gives a copy of a list its name. If the name belongs to a list, moves the log (WAL) of that list into it first, because
 * SQLite would play the log back into the copy. So a crash at any moment leaves one of the two, and it can be read.
 *
 * @param copy is closed, and in the folder of `file`
 * @throws StoreError when a process uses the list that has the name, or when there is a log that belongs to no file;
 * Failure when the file cannot be replaced
 */
export async function replaceList(copy: string, file: string): Promise<void> {
  refuseLog(file, findForeignLog(file))
  using _locked = lockList(file)
  // What is left belongs to the name only: next to a missing file, a symbolic link or another kind of file.
  const log = `${file}-wal`
  refuseLog(file, hasContent(log) ? log : undefined)
  for (const suffix of ['-wal', '-shm', '-journal', '-state']) rmSync(file + suffix, { force: true })
  await renameSynced(copy, file)
}

function refuseLog(file: string, log: string | undefined): void {
  if (log !== undefined) throw new StoreError(`${file} cannot be replaced: ${toForeignReason(log)}`)
}

/**
 * Ends the WAL mode of a list, and keeps other processes from opening it, until the connection is closed.
 *
 * @param file has no foreign log
 * @returns undefined when the file cannot be locked, because it is missing, damaged or not a list
 * @throws StoreError when another process uses the list
 */
export function lockList(file: string): Database | undefined {
  // A rename replaces a symbolic link, and not the list that it leads to.
  if (!lstatSync(file, { throwIfNoEntry: false })?.isFile()) return undefined
  const header = readFileHeader(file)
  if (header === undefined || header === 'empty') return undefined
  const db = new Database(file, { readwrite: true })
  try {
    db.run('PRAGMA journal_mode = DELETE')
    db.run('BEGIN EXCLUSIVE')
    return db
  } catch (error) {
    db.close()
    if (isBusy(error)) throw new StoreError(`${file} cannot be replaced: it is a list that another process uses`)
    // It is damaged. Then it has no log that could be moved into it.
    return undefined
  }
}
