/**
 * A text as a table: CSV with any usual delimiter, one JSON object per line (NDJSON), or one address per line.
 *
 * CSV is RFC 4180, with variants of other programs: a quote inside a cell that does not begin with one belongs to the cell.
 * So do all quotes of a cell that continues after its closing quote. A backslash before a quote doubles it where the row has
 * its cells only then.
 */

import { parseAddress } from '../../email.ts'
import { Failure } from '../../failure.ts'
import { parseOwnerAddress, parseOwnerAddresses } from './addresses.ts'
import { ADDRESS_NAMES } from './programs.ts'
import { toPlain } from './words.ts'

export interface Row {
  /** The line on which it ends, from 1. */
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
  /** Reads the rows, each time from the first one. Blank lines are left out. */
  rows(): IteratorObject<Row>
}

const DELIMITERS = [',', ';', '\t', '|'] as const

/** An address and the name of a column may begin with `#` too. Typeform calls its first column `#`. */
const COMMENT = /^#(?:\s|$)/

/** Most lines with content in which the header may be: some programs write a title before it. */
const MAX_TITLE_LINES = 5

/** How to split a text, and where to start. */
interface Csv {
  /** The name of the file in messages. */
  readonly file: string
  /** The number of the first line, from 1. */
  readonly line: number
  /** Where it begins in the text. */
  readonly at: number
  /** Undefined when each line is one cell. */
  readonly delimiter?: string | undefined
  /** The number of columns, if it is known. */
  readonly width?: number
}

/** A line that may be the header, or the first row. */
interface Start extends Csv {
  readonly content: string
}

/**
 * Finds the format and the header of a text. Throws a Failure when the text is empty or in another format.
 *
 * @param hasColumns whether a first line with addresses only is one row. Otherwise each address is a row
 */
export function parseTable(content: string, file: string, hasColumns: boolean): Table {
  // In old files, CR alone ends a line.
  const text = content.includes('\n') ? content : content.replaceAll('\r', '\n')
  const starts = findStarts(text, file)
  const [first] = starts
  if (!first) throw new Failure(`${file}: it is empty`)
  const openLines = (start: Start) => readRecords(text, { ...start, delimiter: undefined })
  // An address may begin with a brace.
  const isJson = first.content.startsWith('{') && !parseAddress(first.content).ok
  if (isJson) return openJson(file, () => openLines(first))
  if (first.content.startsWith('[')) {
    throw new Failure(`${file}: it is a JSON array; write one object per line instead (NDJSON): jq -c '.[]'`)
  }
  const toCells = (start: Start) => readRecords(text, start).next().value?.cells ?? []
  const holdsAddress = (start: Start) => toCells(start).some((cell) => parseOwnerAddress(cell).ok)
  const hasAddress = holdsAddress(first)
  const found = starts.find(
    (start) => toCells(start).some((cell) => ADDRESS_NAMES.includes(toPlain(cell))) && !holdsAddress(start),
  )
  // A title is skipped, but never a line with an address. Without the header, nobody knows what the columns say.
  if (hasAddress && found?.delimiter !== undefined) {
    throw new Failure(`${file}: line ${found.line} is the header, and there is an address before it: delete that line`)
  }
  const header = hasAddress ? undefined : found
  const start = header ?? first
  if (start.delimiter === undefined || (!hasColumns && parseOwnerAddresses(first.content).ok)) {
    return { file, names: undefined, rows: () => openLines(start).drop(header ? 1 : 0) }
  }
  const cells = toCells(start)
  const names = hasAddress ? cells.map((_, index) => `column ${index + 1}`) : cells
  const rows = () => readRecords(text, { ...start, width: names.length }).drop(hasAddress ? 0 : 1)
  return { file, names, rows }
}

/** Finds the first lines with content. Excel's line `sep=;` names their delimiter. */
function findStarts(text: string, file: string): readonly Start[] {
  const starts: Start[] = []
  let named: string | undefined
  for (let [at, line] = [0, 1]; at < text.length && starts.length < MAX_TITLE_LINES; line++) {
    const end = toLineEnd(text, at)
    const content = text.slice(at, end).trim()
    const separator = starts.length === 0 ? /^"?sep=(.)"?$/i.exec(content)?.[1] : undefined
    named = separator ?? named
    if (content !== '' && !separator && !COMMENT.test(content)) {
      starts.push({ file, line, at, content, delimiter: named ?? findDelimiter(content) })
    }
    at = end + 1
  }
  return starts
}

/** The delimiter that gives a line the most cells; undefined when it has one cell. */
function findDelimiter(line: string): string | undefined {
  const unquoted = line.replace(/"[^"]*"/g, '')
  const counts = DELIMITERS.map((delimiter) => unquoted.split(delimiter).length)
  const most = Math.max(...counts)
  return most > 1 ? DELIMITERS[counts.indexOf(most)] : undefined
}

function toLineEnd(text: string, from: number): number {
  const found = text.indexOf('\n', from)
  return found < 0 ? text.length : found
}

/** The columns are the members of all objects. A member that an object lacks is an empty cell, and so is null. */
function openJson(file: string, lines: () => IteratorObject<Row>): Table {
  const names = [...new Set(lines().flatMap(({ cells }) => Object.keys(parseObject(cells[0]) ?? {})))]
  const toCell = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))
  const toRow = ({ line, cells }: Row): Row => {
    const object = parseObject(cells[0])
    if (!object) return { line, cells, problem: 'it is not a JSON object' }
    return { line, cells: names.map((name) => toCell(object[name] ?? '')) }
  }
  return { file, names, rows: () => lines().map(toRow) }
}

/** Parses a JSON object; undefined for anything else. */
export function parseObject(text = ''): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return value instanceof Object && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

/** Splits a text into rows; leaves out blank lines. @throws Failure that names the line of a quote that is not closed */
export function* readRecords(text: string, csv: Csv): Generator<Row, undefined> {
  const { file, delimiter, width = Number.POSITIVE_INFINITY } = csv
  let { line, at } = csv
  let doubled: string | undefined
  for (let end = at; at < text.length; line++, at = end + 1) {
    end = toLineEnd(text, at)
    const content = text.slice(at, end > at && text[end - 1] === '\r' ? end - 1 : end)
    const trimmed = content.trim()
    let cells: readonly string[]
    if (delimiter === undefined) {
      // A line without columns never goes on in the next one. Some programs quote it.
      const isQuoted = trimmed.length > 1 && trimmed.startsWith('"') && trimmed.endsWith('"')
      cells = [isQuoted ? trimmed.slice(1, -1).replaceAll('""', '"') : trimmed]
    } else if (!content.includes('"')) {
      cells = content.split(delimiter)
    } else {
      let record = parseQuoted(text, at, delimiter)
      if (csv.width !== undefined && record?.cells.length !== width) {
        // MailPoet writes `\"` for `""`. Elsewhere a cell may end in a backslash, so the number of cells decides.
        doubled ??= text.replaceAll('\\"', '""')
        const other = parseQuoted(doubled, at, delimiter)
        if (other?.cells.length === width) record = other
      }
      if (!record) throw new Failure(`${file}: line ${line}: a quote is opened and never closed`)
      const lines = text.slice(at, record.end).split('\n')
      const last = line + lines.length - 1
      if (last > line && holdsRow(lines, record.cells, csv)) {
        const advice = `the rows up to line ${last} are inside it; close or double it`
        throw new Failure(`${file}: line ${line}: a quote is not closed, and ${advice}`)
      }
      cells = record.cells
      end = record.end
      line = last
    }
    // Then a delimiter is not quoted, so cells may be in the wrong columns.
    const isWide = cells.length > width && cells.slice(width).some((cell) => cell.trim() !== '')
    const problem = isWide ? `the row has ${cells.length} columns, the header ${width}` : undefined
    if (trimmed !== '') yield { line, cells, problem }
  }
}

/** Parses a record with quotes. Returns undefined when the text ends in a quote. */
function parseQuoted(text: string, start: number, delimiter: string) {
  const cells: string[] = []
  for (let from = start; ; ) {
    const closing = text[from] === '"' ? findClosingQuote(text, from) : undefined
    if (closing === -1) return undefined
    let end = closing === undefined ? from : closing + 1
    while (end < text.length && text[end] !== delimiter && text[end] !== '\n') end++
    const last = text[end] !== delimiter && text[end - 1] === '\r' ? end - 1 : end
    cells.push(closing === last - 1 ? text.slice(from + 1, closing).replaceAll('""', '"') : text.slice(from, last))
    if (text[end] !== delimiter) return { cells, end }
    from = end + 1
  }
}

/** Finds the quote that closes a cell: the first one that is not doubled. */
function findClosingQuote(text: string, opening: number): number {
  let at = text.indexOf('"', opening + 1)
  while (at >= 0 && text[at + 1] === '"') at = text.indexOf('"', at + 2)
  return at
}

/** Whether a line in a record of several lines looks like a whole row. Then a quote before it is not closed. */
function holdsRow(lines: readonly string[], cells: readonly string[], { delimiter = ',', width }: Csv): boolean {
  // A line with an odd number of quotes ends a cell, and begins with a part of that.
  const whole = lines.slice(1).filter((line) => line.split('"').length % 2 === 1)
  return [...whole, ...cells.flatMap((cell) => cell.split('\n').slice(1))].some((line) => {
    const unquoted = line.replace(/"[^"]*"/g, (quoted) => quoted.replaceAll('"', '').replaceAll(delimiter, ''))
    const others = unquoted.split(delimiter)
    return others.length === width && others.some((cell) => parseOwnerAddress(cell).ok)
  })
}
