/**
 * CSV as rows: RFC 4180, and what other programs write.
 *
 * - `"a, b" ,c`: spaces may be around a cell in quotes. `5" disk` and `"a" b` are no such cells, and keep their quotes.
 * - `"a;""b; c""";;`: Excel writes a whole row into its first cell.
 */

import { Failure } from '../../failure.ts'
import { parseOwnerAddress } from './addresses.ts'

export interface Row {
  /** The line on which it ends, from 1. In a document of JSON, the number of the record. */
  readonly line: number
  readonly cells: readonly string[]
  /** Why it cannot be read. */
  readonly problem?: string | undefined
}

export interface Table {
  /** The name of the file in messages. */
  readonly file: string
  /** The names of the columns; `undefined` when the text has one address per line. */
  readonly names: readonly string[] | undefined
  /**
   * What is above the rows, which may say who is in them: the lines before the header, or before the first row; in a document of
   * JSON, the name of the list.
   */
  readonly title: readonly string[]
  /** The line of the header; undefined in JSON, and when the text has none. */
  readonly header?: string | undefined
  /** What the number of a row counts. */
  readonly place: 'line' | 'record'
  /** Reads the rows, each time from the first one. Blank lines are left out. */
  rows(): IteratorObject<Row>
}

/** How to split a text. */
export interface Csv {
  /** The name of the file in messages. */
  readonly file: string
  /** The line at which to start, from 1. */
  readonly line: number
  /** Undefined when each line is one cell. */
  readonly delimiter?: string | undefined
  /** The number of columns, if it is known. */
  readonly width?: number
}

/** Removes the quotes around a whole line; undefined when there are none. Excel adds delimiters of another kind after it. */
function unquoteLine(line: string): string | undefined {
  return /^"((?:[^"]|"")*)"[,;\t|]*$/.exec(line)?.[1]?.replaceAll('""', '"')
}

/** Splits a text, whose lines end with LF, into rows; leaves out blank lines. @throws Failure for a quote that is not closed */
export function* readRecords(text: string, csv: Csv): Generator<Row, undefined> {
  const { delimiter, width } = csv
  let line = csv.line
  let start = findLine(text, csv.line)
  while (start < text.length) {
    let end = findLineEnd(text, start)
    const content = text.slice(start, end)
    const trimmed = content.trim()
    let cells: readonly string[]
    if (delimiter === undefined) {
      // A line without columns never goes on in the next one. Some programs quote it.
      cells = [unquoteLine(trimmed) ?? trimmed]
    } else if (!content.includes('"')) {
      cells = content.split(delimiter)
    } else {
      const record = readQuoted(text, start, { ...csv, delimiter, line })
      cells = record.cells
      end = record.end
      line = record.line
    }
    if (trimmed !== '') yield { line, cells, problem: findProblem(cells, width) }
    line++
    start = end + 1
  }
}

/** Where a line begins in a text. @param number from 1 */
function findLine(text: string, number: number): number {
  let start = 0
  for (let line = 1; line < number; line++) start = text.indexOf('\n', start) + 1
  return start
}

function findLineEnd(text: string, start: number): number {
  const end = text.indexOf('\n', start)
  return end < 0 ? text.length : end
}

/** A row with more cells than columns has a delimiter in a cell without quotes, so the cells after it are in wrong columns. */
function findProblem(cells: readonly string[], width: number | undefined): string | undefined {
  if (width === undefined) return undefined
  const isWide = cells.slice(width).some((cell) => cell.trim() !== '')
  return isWide ? `the row has ${cells.length} columns in the place of ${width}` : undefined
}

type QuotedCsv = Csv & { readonly delimiter: string }

/** Reads a record with quotes, which may have several lines. Returns its end, and the line of that. @throws Failure */
function readQuoted(text: string, start: number, csv: QuotedCsv) {
  const { file, line, delimiter, width } = csv
  const record = parseQuoted(text, start, delimiter)
  const end = record?.end ?? text.trimEnd().length
  const lines = text.slice(start, end).split('\n')
  const last = line + lines.length - 1
  if (!record || swallowsRow(lines, record.cells, csv)) {
    const advice = `the rows up to line ${last} are inside it; close or double it`
    throw new Failure(`${file}: line ${line}: a quote is not closed, and ${advice}`)
  }
  const hasAllColumns = record.cells.length === width
  const nested = hasAllColumns ? undefined : splitNestedRow(lines[0]?.trim() ?? '', delimiter, width)
  return { cells: nested ?? record.cells, end, line: last }
}

/** Whether a record has another row in it. Then a quote is not closed, and the quote of a later row closes it. */
function swallowsRow(lines: readonly string[], cells: readonly string[], { delimiter, width }: QuotedCsv): boolean {
  if (lines.length === 1) return false
  // Only the first lines are read before the number of columns is known, to find the header.
  if (width === undefined) return holdsRowBelowHeader(lines, delimiter)
  return holdsRow(lines, cells, delimiter, width)
}

/** Splits a row that is nested in its first cell, such as `"a;""b; c""";;`; undefined when it is none, or has other cells than the header. */
function splitNestedRow(line: string, delimiter: string, width: number | undefined): readonly string[] | undefined {
  const cells = parseQuoted(unquoteLine(line) ?? '', 0, delimiter)?.cells ?? []
  // Before the header is found, the number of columns is not known. Then several cells are enough.
  const isRow = width === undefined ? cells.length > 1 : cells.length === width
  return isRow ? cells : undefined
}

/** Parses a record with quotes. Returns undefined when one is not closed. */
function parseQuoted(text: string, start: number, delimiter: string) {
  const cells: string[] = []
  let from = start
  while (true) {
    const found = readCell(text, from, delimiter)
    if (!found) return undefined
    cells.push(found.cell)
    if (text[found.end] !== delimiter) return { cells, end: found.end }
    from = found.end + 1
  }
}

/** Reads a cell, with or without quotes. Returns it and its end; undefined when a quote is not closed. */
function readCell(text: string, start: number, delimiter: string) {
  // Spaces may be around the quotes.
  let opening = start
  while (text[opening] === ' ') opening++
  if (text[opening] !== '"') {
    const end = findCellEnd(text, start, delimiter)
    return { cell: text.slice(start, end), end }
  }
  const closing = findClosingQuote(text, opening)
  if (closing < 0) return undefined
  const end = findCellEnd(text, closing + 1, delimiter)
  // A cell with more than the quotes is taken as it is, such as `"Ann" Smith`.
  if (text.slice(closing + 1, end).trim() !== '') return { cell: text.slice(start, end), end }
  return { cell: text.slice(opening + 1, closing).replaceAll('""', '"'), end }
}

function findCellEnd(text: string, start: number, delimiter: string): number {
  let end = start
  while (end < text.length && text[end] !== delimiter && text[end] !== '\n') end++
  return end
}

/** Finds the quote that closes a cell: the first one that is not doubled; -1 when there is none. */
function findClosingQuote(text: string, opening: number): number {
  let at = text.indexOf('"', opening + 1)
  while (at >= 0 && text[at + 1] === '"') {
    const afterBoth = at + 2
    at = text.indexOf('"', afterBoth)
  }
  return at
}

/** Whether only a later line of a header has an address. Then it is a row, and a quote before it is not closed. */
function holdsRowBelowHeader([header = '', ...lines]: readonly string[], delimiter: string): boolean {
  const isRow = (line: string) => line.split(delimiter).some((cell) => parseOwnerAddress(cell.replaceAll('"', '')).ok)
  return !isRow(header) && lines.some(isRow)
}

/** Whether a line in a record of several lines looks like a whole row. Then a quote before it is not closed. */
function holdsRow(lines: readonly string[], cells: readonly string[], delimiter: string, width: number): boolean {
  const isRow = (line: string) => {
    const others = unquoteCells(line, delimiter).split(delimiter)
    return others.length === width && others.some((cell) => parseOwnerAddress(cell).ok)
  }
  // The row stands in the text as in other lines: behind `"Ann, not closed` the line `bob@b.org,active`. A line with an odd number of
  // quotes is no row, but the end of a cell.
  const wholeLines = lines.slice(1).filter((line) => countQuotes(line) % 2 === 0)
  if (wholeLines.some(isRow)) return true
  // The row stands in a quoted text, which doubles its quotes: `""bob@b.org"",active`. The cell has them once: `"bob@b.org",active`.
  const linesOfCells = cells.flatMap((cell) => cell.split('\n').slice(1))
  return linesOfCells.some(isRow)
}

function countQuotes(line: string): number {
  return line.split('"').length - 1
}

/** Removes the quotes around parts of a line, and the delimiters in them, which separate no cells. */
function unquoteCells(line: string, delimiter: string): string {
  return line.replace(/"[^"]*"/g, (quoted) => quoted.replaceAll('"', '').replaceAll(delimiter, ''))
}
