/** Lists of lines: an address on each, or a JSON object. */

import { Failure } from '../../failure.ts'
import { findMember } from './columns.ts'
import { MAX_ROW, PAGE, type PeekedText, parseObject, type Source, type SourceRow } from './rows.ts'

/** Reads one address a line; blank lines are passed over. */
export function readLines(text: PeekedText): Source {
  return {
    header: ['email'],
    pages: toPages(text, (line, content) => ({ line, email: content, date: undefined, cells: [content] })),
  }
}

/** Reads one JSON object a line (NDJSON). */
export function readJsonLines(text: PeekedText): Source {
  return { header: ['email', 'subscribed_at'], pages: toPages(text, toJsonRow) }
}

function toJsonRow(line: number, content: string): SourceRow {
  const row = parseObject(content)
  if (!row)
    return { line, email: undefined, date: undefined, cells: [content], remark: 'it is no JSON object' }
  const take = (kind: 'email' | 'date') => row[findMember(row, kind) ?? '']
  const [email, date] = [take('email'), take('date')]
  return { line, email, date, cells: [toCell(email), toCell(date)] }
}

function toCell(value: unknown): string {
  return value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value)
}

/** Cuts a text into lines (LF, CRLF or CR), and makes a row of each that is not blank. */
async function* toPages(
  { name, parts }: PeekedText,
  toRow: (line: number, content: string) => SourceRow,
): AsyncGenerator<readonly SourceRow[]> {
  let rest = ''
  let line = 0
  let page: SourceRow[] = []
  for await (const part of withEnd(parts)) {
    // A carriage return at the end may be half of a CRLF.
    const text = rest + part
    const end = text.endsWith('\r') ? text.length - 1 : text.length
    const lines = text.slice(0, end).split(/\r\n|\n|\r/)
    rest = (lines.pop() ?? '') + text.slice(end)
    for (const [index, content] of [...lines, rest].entries()) {
      if (content.length > MAX_ROW) {
        throw new Failure(`${name}: line ${line + index + 1} is longer than ${MAX_ROW} characters`)
      }
    }
    for (const content of lines) {
      line++
      if (content.trim() === '') continue
      page.push(toRow(line, content))
      if (page.length < PAGE) continue
      yield page
      page = []
    }
  }
  if (page.length > 0) yield page
}

/** Ends the last line, whether it has an end or not. */
async function* withEnd(parts: AsyncIterable<string>): AsyncGenerator<string> {
  yield* parts
  yield '\n'
}
