/** The file of the rows that an import rejected. The owner can correct them and import the file. */

import { open, rm } from 'node:fs/promises'
import { toErrorCode, toFileFailure } from '../../failure.ts'
import { type Output, openOutput } from '../../files.ts'
import type { RejectedRow } from '../reading/import-rows.ts'
import { TREATED_AS } from '../reading/statuses.ts'
import { toCsvRow } from './formats.ts'

/** Where rejected rows go. */
export interface RejectedFile extends Pick<Output, 'finish' | 'discard'> {
  /** Number of rows so far. */
  readonly count: number
  add(rows: readonly RejectedRow[]): Promise<void>
}

/** Rows that a dry run prints, at most. */
const MAX_NOTES = 10

/** Characters of a cell that are written: a rejected row may be very long. */
const MAX_CELL_LENGTH = 1000

/**
 * Prepares the file, a CSV with the columns `line`, `reason` and those of the source. The first row creates it. Without
 * rows, `finish` deletes the file of an earlier import, if it belongs to the same source.
 *
 * @param options.replacesOld whether the name of the file belongs to this source only
 * @param options.hasStatus adds the column `treated_as`, so that nobody who left is added when the file is imported
 */
export function createRejectedFile(
  file: string,
  header: readonly string[],
  { hasStatus, replacesOld }: { readonly hasStatus: boolean; readonly replacesOld: boolean },
): RejectedFile {
  let sink: Output | undefined
  let count = 0

  function toText({ row: { line, cells }, reason, status }: RejectedRow): string {
    const own = [String(line), reason, ...(hasStatus ? [status ?? ''] : [])]
    return toCsvRow([...own, ...cells.map((cell) => cell.slice(0, MAX_CELL_LENGTH))])
  }

  return {
    get count() {
      return count
    },
    async add(rows) {
      if (!sink) {
        sink = await openOutput(file)
        await sink.write(toCsvRow(['line', 'reason', ...(hasStatus ? [TREATED_AS] : []), ...header]))
      }
      await sink.write(rows.map(toText).join(''))
      count += rows.length
    },
    async finish() {
      if (sink) await sink.finish()
      else if (replacesOld) await removeOld(file)
    },
    discard: async () => await sink?.discard(),
  }
}

/** Prints the lines and reasons of the first rejected rows, and writes no file. */
export function createRejectedNotes(print: (text: string) => void): RejectedFile {
  let count = 0
  return {
    get count() {
      return count
    },
    async add(rows) {
      for (const { row, reason } of rows.slice(0, Math.max(MAX_NOTES - count, 0))) print(`line ${row.line}: ${reason}`)
      count += rows.length
    },
    async finish() {
      if (count > MAX_NOTES) print(`and ${count - MAX_NOTES} more rejected rows`)
    },
    async discard() {},
  }
}

/** Deletes the file of an earlier import. Leaves any other file. */
async function removeOld(file: string): Promise<void> {
  try {
    const start = 'line,reason,'
    const handle = await open(file, 'r')
    const { buffer } = await handle.read(Buffer.alloc(start.length), 0, start.length, 0).finally(() => handle.close())
    if (buffer.toString() === start) await rm(file)
  } catch (error) {
    if (toErrorCode(error) !== 'ENOENT') throw toFileFailure(error, file)
  }
}
