/** Text with one address or one JSON object per line. */

import { Failure } from '../../failure.ts'
import { MAX_ROW_LENGTH } from '../../limits.ts'
import { findMember } from './columns.ts'
import { type PeekedText, parseObject, type Source, type SourceRow } from './rows.ts'

/** Reads one address per line; skips blank lines. */
export function readLines(text: PeekedText): Source {
  return {
    header: ['email'],
    pages: toPages(text, (line, content) => ({ line, email: content, date: undefined, cells: [content] })),
  }
}

/** Reads one JSON object per line (NDJSON); skips blank lines. */
export function readJsonLines(text: PeekedText): Source {
  return { header: ['email', 'subscribed_at'], pages: toPages(text, toJsonRow) }
}

function toJsonRow(line: number, content: string): SourceRow {
  const row = parseObject(content)
  if (!row) {
    return { line, email: undefined, date: undefined, cells: [content], problem: 'it is not a JSON object' }
  }
  const [email, date] = [row[findMember(row, 'email') ?? ''], row[findMember(row, 'date') ?? '']]
  return { line, email, date, cells: [toCell(email), toCell(date)] }
}

function toCell(value: unknown): string {
  return value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value)
}

/** Splits a text into lines (LF, CRLF or CR). Each page has the rows of a part of the text. */
async function* toPages(
  { name, parts }: PeekedText,
  toRow: (line: number, content: string) => SourceRow,
): AsyncGenerator<readonly SourceRow[]> {
  let rest = ''
  let line = 0
  for await (const part of endLine(parts)) {
    // A carriage return at the end may be half of a CRLF.
    const text = rest + part
    const end = text.endsWith('\r') ? text.length - 1 : text.length
    const lines = text.slice(0, end).split(/\r\n|\n|\r/)
    rest = (lines.pop() ?? '') + text.slice(end)
    const page: SourceRow[] = []
    for (const content of lines) {
      checkLength(content, ++line, name)
      if (content.trim() !== '') page.push(toRow(line, content))
    }
    checkLength(rest, line + 1, name)
    yield page
  }
}

function checkLength(content: string, line: number, name: string): void {
  if (content.length <= MAX_ROW_LENGTH) return
  throw new Failure(`${name}: line ${line} is longer than ${MAX_ROW_LENGTH} characters`)
}

/** Ends the last line, which may lack its line break. */
async function* endLine(parts: AsyncIterable<string>): AsyncGenerator<string> {
  yield* parts
  yield '\n'
}
