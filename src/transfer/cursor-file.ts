/** The file in which an export or a copy saves its cursor. */

import { readFile } from 'node:fs/promises'
import { Failure, toErrorCode, toFileFailure } from '../failure.ts'
import type { SubscriberStore } from '../subscriber.ts'

/** A place in a list. */
export interface Cursor {
  /** The `seq` of the last subscriber before it; 0 is the start of the list. */
  readonly seq: number
  /** The id of the list; undefined when it is not known. */
  readonly list?: string | undefined
}

/**
 * Reads the cursor in a file: a number and, unless an older Rollcall wrote it, the id of the list.
 *
 * @returns the start of the list when there is no such file
 * @throws Failure when the file holds anything else
 */
export async function readCursorFile(file: string): Promise<Cursor> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    if (toErrorCode(error) === 'ENOENT') return '0'
    throw toFileFailure(error, file)
  })
  const [, number, list] = /^(\d{1,16})(?: ([0-9a-f]{16}))?\n?$/.exec(text) ?? []
  const seq = Number(number)
  if (!Number.isSafeInteger(seq)) throw new Failure(`${file}: it does not hold a cursor, which is a number`)
  return { seq, list }
}

/** The content of a cursor file. */
export function toCursorText({ seq, list }: Required<Cursor>): string {
  return `${seq} ${list}\n`
}

/**
 * Checks that a list has given out the number of a cursor. If it has not, an export after the cursor would leave out
 * everybody who subscribes until it has.
 *
 * @returns the cursor with the id of the list
 * @throws Failure when the cursor is ahead of the list, or of another list; StoreError when the list cannot be read
 */
export async function checkCursor(
  store: Pick<SubscriberStore, 'numbering'>,
  { seq, list }: Cursor,
): Promise<Cursor & { readonly list: string }> {
  const found = await store.numbering()
  if (list !== undefined && list !== found.list) {
    throw new Failure(
      `the cursor ${seq} belongs to another list (its id is ${list}, and this list is ${found.list}): use the cursor file of this list, or a new one, which starts at the first subscriber`,
    )
  }
  if (seq <= found.last) return { seq, list: found.list }
  throw new Failure(
    `the cursor ${seq} is ahead of the list, whose last number is ${found.last}: if an older state of the list was restored, start the service or import an address, which continues the numbers above all earlier ones, and try again; otherwise the cursor is of another list, so use a new cursor file, which starts at the first subscriber`,
  )
}
