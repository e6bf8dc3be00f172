/**
 * Splits CSV text into records: RFC 4180, and what other programs write. A quote inside a cell that does not begin with
 * one belongs to the cell. So do all quotes of a cell that goes on after its closing quote.
 */

import { Failure } from '../../failure.ts'
import { MAX_ROW_LENGTH } from '../../limits.ts'

export interface CsvText {
  /** The name of the file in messages. */
  readonly name: string
  readonly parts: AsyncIterable<string>
  /** The number of the first line of the text, from 1. */
  readonly line: number
  /** One character. */
  readonly delimiter: string
  /** What ends a line. A carriage return before LF is left out. */
  readonly lineBreak: '\n' | '\r'
}

export interface CsvRecord {
  /** The line on which it ends, from 1. */
  readonly line: number
  readonly cells: readonly string[]
  /** Its lines, if it has more than one. */
  readonly lines?: readonly string[]
}

/**
 * Reads the records, one page for each part of the text; skips empty lines.
 *
 * @throws Failure that names the line on which a record begins that is too long, or that has a quote without an end
 */
export async function* readRecords({ name, parts, line, delimiter, lineBreak }: CsvText) {
  const parseQuoted = createQuotedParser(delimiter, lineBreak)
  let rest = ''
  let current = line

  function parse(text: string, isEnd: boolean): CsvRecord[] {
    const records: CsvRecord[] = []
    let start = 0
    while (start < text.length) {
      const found = text.indexOf(lineBreak, start)
      if (found < 0 && !isEnd) break
      const end = found < 0 ? text.length : found
      const content = text.slice(start, end > start && text[end - 1] === '\r' ? end - 1 : end)
      if (content.includes('"')) {
        const record = parseQuoted(text, start, isEnd)
        if (!record) break
        const lines = text.slice(start, record.end).split(lineBreak)
        current += lines.length
        records.push({ line: current - 1, cells: record.cells, ...(lines.length > 1 && { lines }) })
        start = record.end + 1
      } else {
        if (content !== '') records.push({ line: current, cells: content.split(delimiter) })
        current++
        start = end + 1
      }
    }
    rest = text.slice(start)
    if (rest !== '' && isEnd) throw new Failure(`${name}: line ${current}: a quote is opened and never closed`)
    if (rest.length <= MAX_ROW_LENGTH) return records
    throw new Failure(
      `${name}: line ${current}: a row is longer than ${MAX_ROW_LENGTH} characters, or a quote in it is never closed`,
    )
  }

  for await (const part of parts) yield parse(rest + part, false)
  yield parse(rest, true)
}

/** Creates a parser of records with quotes. It returns undefined when the text ends before the record. */
function createQuotedParser(delimiter: string, lineBreak: string) {
  function findCellEnd(text: string, start: number): number {
    let end = start
    while (end < text.length && text[end] !== delimiter && text[end] !== lineBreak) end++
    return end
  }

  return (text: string, start: number, isEnd: boolean) => {
    const cells: string[] = []
    for (let from = start; ; ) {
      const closing = text[from] === '"' ? findClosingQuote(text, from) : undefined
      if (closing === -1) return undefined
      const end = findCellEnd(text, closing === undefined ? from : closing + 1)
      if (end === text.length && !isEnd) return undefined
      const last = text[end] !== delimiter && text[end - 1] === '\r' ? end - 1 : end
      cells.push(closing === last - 1 ? text.slice(from + 1, closing).replaceAll('""', '"') : text.slice(from, last))
      if (text[end] !== delimiter) return { cells, end }
      from = end + 1
    }
  }
}

/** Finds the quote that closes a cell: the first one that is not doubled. */
function findClosingQuote(text: string, opening: number): number {
  let at = text.indexOf('"', opening + 1)
  while (at >= 0 && text[at + 1] === '"') at = text.indexOf('"', at + 2)
  return at
}
