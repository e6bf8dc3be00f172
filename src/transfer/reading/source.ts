/** Opens a list of another program: CSV, NDJSON or one address per line, detected from its first line. */

import { Failure } from '../../failure.ts'
import { type ColumnOptions, isEmailName } from './columns.ts'
import { openCsv } from './csv.ts'
import { peek } from './head.ts'
import { copyInput, type Input } from './input.ts'
import { openJsonLines, openLines } from './lines.ts'
import type { Source } from './rows.ts'
import { decodeText, type TextOptions } from './text.ts'

export type SourceOptions = ColumnOptions & TextOptions

/** A source that can be read any number of times. */
export interface RepeatableSource extends Source {
  close(): Promise<void>
}

/** Opens a list for reading. @throws Failure when its format is not known */
export async function openSource(input: Input, options: SourceOptions = {}): Promise<Source> {
  const text = await peek({ [Symbol.asyncIterator]: () => decodeText(input, options) }, input.name)
  const { firstLine } = text
  if (firstLine.startsWith('{')) return openJsonLines(text, options)
  if (firstLine.startsWith('[')) {
    throw new Failure(`${input.name}: it is a JSON array; write one object per line instead (NDJSON): jq -c '.[]'`)
  }
  const isOneColumn = !text.delimiter && !/[,;\t|]/.test(firstLine.replace(/"[^"]*"/g, ''))
  if (isOneColumn && options.column === undefined && !isEmailName(firstLine)) return openLines(text)
  return await openCsv(text, options)
}

/**
 * Opens a list that has to be read more than once when it has statuses or dates. Then a pipe is copied first.
 *
 * @throws Failure when its format is not known, or when the copy cannot be written
 */
export async function openRepeatableSource(input: Input, options: SourceOptions = {}): Promise<RepeatableSource> {
  const source = await openSource(input, options)
  const isSimple = !source.hasStatuses && source.columns.date.length === 0
  if (input.isFile || isSimple) return Object.assign(source, { close: async () => {} })
  const copy = await copyInput(input)
  return Object.assign(await openSource(copy, options), { close: copy.close })
}
