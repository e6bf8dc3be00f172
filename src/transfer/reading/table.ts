/**
 * A text as a table: CSV with any usual delimiter, one JSON object per line (NDJSON), or one address per line.
 *
 * CSV is RFC 4180, with variants of other programs: a quote inside a cell that does not begin with one belongs to the cell.
 * So do all quotes of a cell that continues after its closing quote.
 */

import { Failure } from '../../failure.ts'
import { parseOwnerAddress, parseOwnerAddresses } from './addresses.ts'
import { isAddressName } from './names.ts'

export interface Row {
  /** The line on which it ends, from 1. */
  readonly line: number
  readonly cells: readonly string[]
  /** Its text, if it has several lines: a quote may not be closed. */
  readonly text?: string | undefined
  /** Why it cannot be read. */
  readonly problem?: string
}

export interface Table {
  /** The name of the file in messages. */
  readonly file: string
  /** The names of the columns; `undefined` when the text has one address per line. */
  readonly names: readonly string[] | undefined
  /** Of CSV. */
  readonly delimiter?: string
  /** Reads the rows, each time from the first one. Blank lines are left out. */
  rows(): Iterable<Row>
}

const DELIMITERS = [',', ';', '\t', '|'] as const

/** Most lines with content in which the header may be: some programs write a title before it. */
const MAX_TITLE_LINES = 5

/** A line where the table may start. */
interface Start {
  readonly content: string
  /** From 1. */
  readonly line: number
  /** Where the line begins in the text. */
  readonly at: number
}

/**
 * Finds the format and the header of a text.
 *
 * @param hasColumns whether a first line with addresses only is one row. Otherwise each address is a row
 * @throws Failure when the text is empty or in another format
 */
export function parseTable(text: string, name: string, hasColumns: boolean): Table {
  const lineBreak = text.includes('\n') || !text.includes('\r') ? '\n' : '\r'
  const { starts, named } = findStarts(text, lineBreak)
  const [first] = starts
  if (!first) throw new Failure(`${name}: it is empty`)
  const open = (start: Start, delimiter?: string) => () => readRecords(text, { name, start, delimiter, lineBreak })
  if (first.content.startsWith('{')) return openJson(name, open(first))
  if (first.content.startsWith('[')) {
    throw new Failure(`${name}: it is a JSON array; write one object per line instead (NDJSON): jq -c '.[]'`)
  }
  const toDelimiter = ({ content }: Start) => named ?? findDelimiter(content)
  const toCells = (start: Start) => open(start, toDelimiter(start))().next().value?.cells ?? []

  const holdsAddress = (start: Start) => toCells(start).some((cell) => parseOwnerAddress(cell).ok)
  const hasAddress = holdsAddress(first)
  const found = starts.find((start) => toCells(start).some(isAddressName) && !holdsAddress(start))
  // A title is skipped, but never a line with an address. Without the header, nobody knows what the columns say.
  if (hasAddress && found && toDelimiter(found) !== undefined) {
    throw new Failure(`${name}: line ${found.line} is the header, and there is an address before it: delete that line`)
  }
  const header = hasAddress ? undefined : found
  const start = header ?? first
  const delimiter = toDelimiter(start)
  if (delimiter === undefined || (!hasColumns && parseOwnerAddresses(first.content).ok)) {
    return { file: name, names: undefined, rows: () => open(start)().drop(header ? 1 : 0) }
  }
  const cells = toCells(start)
  const names = hasAddress ? cells.map((_, index) => `column ${index + 1}`) : cells
  return { file: name, names, delimiter, rows: () => open(start, delimiter)().drop(hasAddress ? 0 : 1) }
}

/** Finds the first lines with content, and the delimiter that Excel's line `sep=;` names. */
function findStarts(text: string, lineBreak: string): { starts: readonly Start[]; named: string | undefined } {
  const starts: Start[] = []
  let named: string | undefined
  for (let [at, line] = [0, 1]; at < text.length && starts.length < MAX_TITLE_LINES; line++) {
    const end = toEnd(text, lineBreak, at)
    const content = text.slice(at, end).trim()
    const separator = starts.length === 0 ? /^"?sep=(.)"?$/i.exec(content)?.[1] : undefined
    named = separator ?? named
    if (content !== '' && !separator && !isComment(content)) starts.push({ content, line, at })
    at = end + 1
  }
  return { starts, named }
}

/** An address and the name of a column may begin with `#` too. */
function isComment(line: string): boolean {
  return (
    line.startsWith('#') && !line.split(/[,;\t|]/).some((cell) => isAddressName(cell) || parseOwnerAddress(cell).ok)
  )
}

/** The delimiter that gives a line the most cells; undefined when it has one cell. */
function findDelimiter(line: string): string | undefined {
  const unquoted = line.replace(/"[^"]*"/g, '')
  const counts = DELIMITERS.map((delimiter) => unquoted.split(delimiter).length)
  const most = Math.max(...counts)
  return most > 1 ? DELIMITERS[counts.indexOf(most)] : undefined
}

function toEnd(text: string, lineBreak: string, from: number): number {
  const found = text.indexOf(lineBreak, from)
  return found < 0 ? text.length : found
}

/** The columns are the members of all objects. A member that an object lacks is an empty cell, and so is null. */
function openJson(file: string, lines: () => Iterable<Row>): Table {
  const names = new Set<string>()
  for (const { cells } of lines()) for (const name of Object.keys(parseObject(cells[0]) ?? {})) names.add(name)
  const header = [...names]
  const toCell = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))

  function* rows(): Generator<Row> {
    for (const { line, cells } of lines()) {
      const object = parseObject(cells[0])
      if (object) yield { line, cells: header.map((name) => toCell(object[name] ?? '')) }
      else yield { line, cells, problem: 'it is not a JSON object' }
    }
  }

  return { file, names: header, rows }
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

interface Csv {
  readonly name: string
  readonly start: Pick<Start, 'line' | 'at'>
  /** Undefined when each line is one cell. */
  readonly delimiter: string | undefined
  /** What ends a line. A carriage return before LF is left out. */
  readonly lineBreak: string
}

/** Splits CSV into records; leaves out blank lines. @throws Failure that names the line of a quote that is not closed */
export function* readRecords(text: string, { name, start, delimiter, lineBreak }: Csv): Generator<Row, undefined> {
  let { line, at } = start
  while (at < text.length) {
    const end = toEnd(text, lineBreak, at)
    const content = text.slice(at, end > at && text[end - 1] === '\r' ? end - 1 : end)
    if (delimiter === undefined || !content.includes('"')) {
      const cells = delimiter === undefined ? [toSingleCell(content.trim())] : content.split(delimiter)
      if (content.trim() !== '') yield { line, cells }
      line++
      at = end + 1
      continue
    }
    const record = parseQuoted(text, at, delimiter, lineBreak)
    if (!record) throw new Failure(`${name}: line ${line}: a quote is opened and never closed`)
    const lines = text.slice(at, record.end).split(lineBreak)
    line += lines.length
    yield { line: line - 1, cells: record.cells, text: lines.length > 1 ? lines.join('\n') : undefined }
    at = record.end + 1
  }
}

/** A line without columns never goes on in the next one. Some programs quote it. */
function toSingleCell(line: string): string {
  return /^"(.*)"$/.exec(line)?.[1]?.replaceAll('""', '"') ?? line
}

/** Parses a record with quotes. Returns undefined when the text ends in a quote. */
function parseQuoted(text: string, start: number, delimiter: string, lineBreak: string) {
  const cells: string[] = []
  for (let from = start; ; ) {
    const closing = text[from] === '"' ? findClosingQuote(text, from) : undefined
    if (closing === -1) return undefined
    let end = closing === undefined ? from : closing + 1
    while (end < text.length && text[end] !== delimiter && text[end] !== lineBreak) end++
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

/** @throws Failure when a line in a row of several lines looks like a whole row: then a quote before it is not closed */
export function checkQuotes({ line, text }: Row, { names, delimiter = ',', file }: Table, address: number): void {
  const lines = text?.split('\n') ?? []
  const isRow = lines.slice(1).some((content) => {
    const unquoted = content.replace(/"[^"]*"/g, (quoted) => quoted.replaceAll('"', '').replaceAll(delimiter, ''))
    const cells = unquoted.split(delimiter)
    return cells.length === names?.length && parseOwnerAddress(cells[address]).ok
  })
  if (!isRow) return
  const first = line - lines.length + 1
  throw new Failure(
    `${file}: line ${first}: a quote is not closed, and the rows up to line ${line} are inside it; close or double it`,
  )
}
