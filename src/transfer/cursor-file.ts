/** The file in which an export saves its cursor. One export or import at a time uses it; doctor only reads it. */

import { Database } from 'bun:sqlite'
import { accessSync, constants, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { Failure, toErrorCode, toFileFailure } from '../failure.ts'
import { createPrivateFile, findFile, replaceFile, toLockName } from '../files.ts'
import type { ListHead } from '../subscriber.ts'

/** A place in a list. */
export interface Cursor {
  /** The `seq` of the last subscriber before it; 0 is the start of the list. */
  readonly seq: number
  /** The id of the list; undefined when it is not known. */
  readonly list?: string | undefined
}

/** An open cursor file. No other command opens it before this one is disposed of. */
export interface CursorFile extends Disposable {
  /** The path of the file, without links. */
  readonly path: string
  /** The cursor when the file was opened; the start of the list when there was no file. */
  readonly cursor: Cursor
  /** Replaces the content, completely or not at all. */
  save(cursor: Required<Cursor>): Promise<void>
}

/**
 * Opens a cursor file, and keeps other exports and imports from doing so, at most until the process ends.
 *
 * It locks another file, because each save replaces the cursor file: an empty database of SQLite, whose locks the system ends
 * with the process. Nobody deletes that file: an export that has just opened the old one would lock that, and another export a new one.
 *
 * @throws Failure when the file holds anything but a cursor, cannot be written, or another process has it open;
 * UsageError as `findFile` does
 */
export async function openCursorFile(file: string): Promise<CursorFile> {
  const path = await findFile(file)
  const lockFile = toLockName(path)
  try {
    // Each save creates a file. Otherwise a batch would be handed over at every run, and the cursor never saved.
    accessSync(dirname(path), constants.W_OK)
    createPrivateFile(lockFile, { mayExist: true })
    const lock = new Database(lockFile)
    // Without a journal file: nothing is written.
    lock.run('PRAGMA journal_mode = MEMORY')
    lock.run('BEGIN EXCLUSIVE')
    return {
      path,
      cursor: readCursor(file) ?? { seq: 0 },
      save: ({ seq, list }) => replaceFile(path, `${seq} ${list}\n`),
      [Symbol.dispose]: () => lock.close(),
    }
  } catch (error) {
    const code = toErrorCode(error)
    if (code === 'SQLITE_BUSY') throw new Failure(`${file}: another command uses this cursor file: wait for its end`)
    if (!code.startsWith('SQLITE_')) throw toFileFailure(error, file)
    throw new Failure(`${file}: its lock cannot be used: delete ${lockFile} while no export and no import runs`)
  }
}

/** A number and the id of a list, as `save` writes them. A person may have written the number alone. */
const CURSOR = /^(\d{1,16})(?: ([0-9a-f]{16}))?\n?$/

/** Reads a cursor file; undefined when there is none. @throws Failure */
export function readCursor(file: string): Cursor | undefined {
  try {
    const found = CURSOR.exec(readFileSync(file, 'utf8'))
    const seq = Number(found?.[1])
    if (found && Number.isSafeInteger(seq)) return { seq, list: found[2] }
  } catch (error) {
    if (toErrorCode(error) === 'ENOENT') return undefined
    throw toFileFailure(error, file)
  }
  throw new Failure(`${file}: it does not hold a cursor, which is a number: use another file`)
}

/**
 * Returns the cursor with the id of the list. @throws Failure when it is of another list, or above the numbers of this one: an
 * export after it would leave out everybody who subscribes before the list reaches that number
 */
export function checkCursor({ id, lastSeq, clockSeq }: ListHead, { seq, list }: Cursor): Required<Cursor> {
  if (list !== undefined && list !== id) {
    throw new Failure(
      `the cursor ${seq} belongs to another list (its id is ${list}, and this list is ${id}): use the cursor file of this list, or a new one, which starts at the first subscriber`,
    )
  }
  // A list that was restored continues with the numbers of the clock.
  if (seq <= Math.max(lastSeq, clockSeq)) return { seq, list: id }
  throw new Failure(
    `the cursor ${seq} is higher than the last number of the list (${lastSeq}): start without a cursor, at the first subscriber`,
  )
}
