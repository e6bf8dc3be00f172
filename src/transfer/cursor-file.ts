/** The file in which an export saves its cursor. Only one process at a time uses it. */

import { Database } from 'bun:sqlite'
import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { Failure } from '../failure.ts'
import { createPrivateFile, findFile, type ProtectedList, replaceFile } from '../files.ts'
import { toClockSeq } from '../store/head.ts'
import type { SubscriberStore } from '../subscriber.ts'

/** A place in a list. */
export interface Cursor {
  /** The `seq` of the last subscriber before it; 0 is the start of the list. */
  readonly seq: number
  /** The id of the list; undefined when it is not known. */
  readonly list: string | undefined
}

type KnownCursor = Cursor & { readonly list: string }

export interface CursorFile {
  /** The path of the file, without links. */
  readonly path: string
  /** The cursor when the file was opened; the start of the list when there was no file. */
  readonly cursor: Cursor
  /** Replaces the content, completely or not at all. */
  save(cursor: KnownCursor): Promise<void>
  /** Lets other processes use the file. */
  close(): void
}

/**
 * Opens a cursor file, and keeps other processes from doing so.
 *
 * @param list no cursor file replaces its files
 * @throws Failure when the file holds anything but a cursor, cannot be written, or another process has it open;
 * UsageError as `findFile` does
 */
export async function openCursorFile(file: string, list: ProtectedList): Promise<CursorFile> {
  const path = await findFile(file, list)
  const lock = createLock(path, file)
  try {
    return {
      path,
      cursor: readCursor(path, file),
      save: ({ seq, list }) => replaceFile(path, `${seq} ${list}\n`),
      close: () => lock.close(),
    }
  } catch (error) {
    lock.close()
    throw error
  }
}

/**
 * Locks a file of its own, because each save replaces the cursor file. The file is an empty database of SQLite, whose
 * locks the system ends with the process, on all systems. It stays: a process may wait for the name just deleted.
 */
function createLock(path: string, file: string): Database {
  const name = join(dirname(path), `.${basename(path)}.lock`)
  if (!existsSync(name)) createPrivateFile(name)
  const lock = new Database(name)
  try {
    // Without a journal file: nothing is written.
    lock.run('PRAGMA journal_mode = MEMORY')
    lock.run('BEGIN EXCLUSIVE')
    return lock
  } catch {
    lock.close()
    throw new Failure(`${file}: another export uses this cursor file`)
  }
}

/** Reads a cursor file; the start of the list when there is none. @param name of the file, for errors. @throws Failure */
export function readCursor(path: string, name = path): Cursor {
  const text = existsSync(path) ? readFileSync(path, 'utf8') : '0'
  const [, number, list] = /^(\d{1,16})(?: ([0-9a-f]{16}))?\n?$/.exec(text) ?? []
  const seq = Number(number)
  if (!Number.isSafeInteger(seq)) throw new Failure(`${name}: it does not hold a cursor, which is a number`)
  return { seq, list }
}

/**
 * Checks that a list has given out the number of a cursor. Otherwise an export after the cursor would leave out everybody
 * who subscribes before the list reaches that number.
 *
 * @returns the cursor with the id of the list
 * @throws Failure when the cursor is above the list, or of another list; StoreError when the list cannot be read
 */
export async function checkCursor(store: Pick<SubscriberStore, 'head'>, { seq, list }: Cursor): Promise<KnownCursor> {
  const { id, lastSeq } = await store.head()
  if (list !== undefined && list !== id) {
    throw new Failure(
      `the cursor ${seq} belongs to another list (its id is ${list}, and this list is ${id}): use the cursor file of this list, or a new one, which starts at the first subscriber`,
    )
  }
  // A list that was restored continues with the numbers of the clock.
  if (seq <= Math.max(lastSeq, toClockSeq())) return { seq, list: id }
  throw new Failure(
    `the cursor ${seq} is higher than the last number of the list (${lastSeq}): use a new cursor file, which starts at the first subscriber`,
  )
}
