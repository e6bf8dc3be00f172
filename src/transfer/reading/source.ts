/** Opens a list of another program: CSV, NDJSON or one address per line, detected from its first line. */

import { Failure } from '../../failure.ts'
import { MAX_ROW_LENGTH } from '../../limits.ts'
import { isEmailName } from './columns.ts'
import { readCsv } from './csv.ts'
import { readJsonLines, readLines } from './lines.ts'
import type { PeekedText, Source } from './rows.ts'
import { decodeText, type Input } from './text.ts'

export interface SourceOptions {
  /** The column of the address: its name, or its number from 1. */
  readonly column?: string | undefined
  /** Called with the number of bytes read so far. */
  readonly onBytes?: ((total: number) => void) | undefined
}

/** Opens a list for reading. @throws Failure when its format is not known */
export async function openSource(input: Input, options: SourceOptions = {}): Promise<Source> {
  const text = await peek(decodeText(input, options.onBytes), input.name)
  const { firstLine } = text
  if (firstLine.startsWith('{')) return readJsonLines(text)
  if (/^\s*\[/.test(firstLine)) {
    throw new Failure(`${input.name}: it is a JSON array; write one object per line instead (NDJSON): jq -c '.[]'`)
  }
  const isOneColumn = !/[,;\t|]/.test(firstLine)
  if (isOneColumn && options.column === undefined && !isEmailName(firstLine)) return readLines(text)
  return await readCsv(text, options.column)
}

async function peek(parts: AsyncGenerator<string>, name: string): Promise<PeekedText> {
  let start = ''
  for (;;) {
    const { value, done } = await parts.next()
    start += value ?? ''
    const firstLine = start.trimStart().split(/\r\n|\n|\r/, 1)[0] ?? ''
    if (firstLine.length > MAX_ROW_LENGTH) {
      throw new Failure(`${name}: line 1 is longer than ${MAX_ROW_LENGTH} characters`)
    }
    if (!done && start.trimStart().length === firstLine.length) continue
    if (firstLine === '') throw new Failure(`${name}: it is empty`)
    return { name, firstLine: firstLine.trimEnd(), parts: prepend(start, parts) }
  }
}

async function* prepend(start: string, rest: AsyncIterable<string>): AsyncGenerator<string> {
  yield start
  yield* rest
}
