/** The file of the rows that an import rejected. The owner can correct them and import the file. */

import type { RejectedRow } from '../reading/import-rows.ts'
import { toCsvRow } from './formats.ts'
import { createFileSink, type Sink } from './sink.ts'

export interface RejectedFile extends Pick<Sink, 'finish' | 'discard'> {
  /** Number of rows written so far. */
  readonly count: number
  /** Writes rows; the first of them creates the file. */
  add(rows: readonly RejectedRow[]): Promise<void>
}

/** Characters of a cell that are written: a rejected row may be very long. */
const MAX_CELL_LENGTH = 1000

/** Prepares the file, a CSV with the columns `line`, `reason` and those of the source. */
export function createRejectedFile(file: string, header: readonly string[]): RejectedFile {
  let sink: Sink | undefined
  let count = 0
  return {
    get count() {
      return count
    },
    async add(rows) {
      if (!sink) {
        sink = await createFileSink(file)
        await sink.write(toCsvRow(['line', 'reason', ...header]))
      }
      await sink.write(rows.map(toText).join(''))
      count += rows.length
    },
    finish: async () => await sink?.finish(),
    discard: async () => await sink?.discard(),
  }
}

function toText({ row: { line, cells }, reason }: RejectedRow): string {
  return toCsvRow([String(line), reason, ...cells.map((cell) => cell.slice(0, MAX_CELL_LENGTH))])
}
