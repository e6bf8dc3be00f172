/** The file of the rows that an import refused, made to be mended and imported again. */

import { toCsvRow } from './formats.ts'
import { createFileSink, type Sink } from './sink.ts'

export interface RejectedFile {
  readonly file: string
  /** Keeps rows with their reasons; the file is begun with the first of them. */
  add(rows: readonly RejectedRow[]): Promise<void>
  /** The file takes its name, if there is anything in it. */
  finish(): Promise<void>
  /** Leaves nothing behind. */
  discard(): Promise<void>
}

/** A row as it is written, with its line in the source and the reason. */
export interface RejectedRow {
  readonly row: { readonly line: number; readonly cells: readonly string[] }
  readonly reason: string
}

/** Longer cells are cut: what is refused may be anything. */
const MAX_CELL = 1000

/** Prepares the file, a CSV: `line`, `reason`, and the columns of the list. */
export function createRejectedFile(file: string, header: readonly string[]): RejectedFile {
  let sink: Sink | undefined
  return {
    file,
    async add(rows) {
      if (rows.length === 0) return
      if (!sink) {
        sink = await createFileSink(file)
        await sink.write(toCsvRow(['line', 'reason', ...header]))
      }
      await sink.write(rows.map(toText).join(''))
    },
    finish: async () => await sink?.finish(),
    discard: async () => await sink?.discard(),
  }
}

function toText({ row: { line, cells }, reason }: RejectedRow): string {
  return toCsvRow([String(line), reason, ...cells.map((cell) => cell.slice(0, MAX_CELL))])
}
