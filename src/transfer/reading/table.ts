/** A text as a table: CSV with any usual delimiter, JSON (objects on lines, or in an array), or one address per line. */

import { Failure } from '../../failure.ts'
import { parseOwnerAddress, parseOwnerAddresses } from './addresses.ts'
import { type Csv, readRecords, type Table } from './csv.ts'
import { openJson } from './json.ts'
import { isAddressName } from './programs.ts'

const DELIMITERS = [',', ';', '\t', '|'] as const

/** An address and the name of a column may begin with `#` too. Typeform calls its first column `#`. */
const COMMENT = /^#(?:\s[^@]*)?$/

/** Most lines with content in which the header may be: some programs write a title before it. */
const MAX_TITLE_LINES = 5

/** A line that may be the header, or the first row. */
interface Start extends Csv {
  readonly content: string
}

/**
 * Finds the format and the header of a text. Throws a Failure when the text is empty, and as `openJson` and the reader of CSV do. A
 * text that does not begin as JSON is CSV, or has one cell on each line.
 *
 * @param isColumnNamed whether the owner named the column of the address: then a first line with addresses only has columns, and
 * is not one cell with several people
 */
export function parseTable(content: string, file: string, isColumnNamed: boolean): Table {
  // Old Excel writes CR between rows, and LF in cells.
  const text = content.includes('\r') ? content.replace(/\r\n?/g, '\n') : content
  const starts = findStarts(text, file)
  const [first] = starts
  if (!first) throw new Failure(`${file}: it is empty`)
  const holdsAddresses = parseOwnerAddresses(first.content).ok
  const isLikeJson = /^[{[]/.test(first.content)
  // An address may begin with a brace, and a link with a bracket.
  if (isLikeJson && !holdsAddresses) return openJson(text, file)
  const header = findHeader(text, starts, first)
  const start = header ?? first
  const described = {
    file,
    place: 'line',
    title: text.split('\n', start.line - 1),
    header: header?.content,
  } as const
  const headerRows = header ? 1 : 0
  // The delimiter in such a line is between the addresses of one cell.
  const isOneCell = !header && holdsAddresses && !isColumnNamed
  if (start.delimiter === undefined || isOneCell) {
    const lines = { ...start, delimiter: undefined }
    return { ...described, names: undefined, rows: () => readRecords(text, lines).drop(headerRows) }
  }
  const cells = toCells(text, start)
  const names = header ? cells : cells.map((_, index) => `column ${index + 1}`)
  const columns = { ...start, width: names.length }
  return { ...described, names, rows: () => readRecords(text, columns).drop(headerRows) }
}

const toCells = (text: string, start: Csv) => readRecords(text, start).next().value?.cells ?? []

/** Finds the header: the line with the name of an address, or else the first one. Undefined when the first line is a row. */
function findHeader(text: string, starts: readonly Start[], first: Start): Start | undefined {
  const holdsAddress = (start: Start) => toCells(text, start).some((cell) => parseOwnerAddress(cell).ok)
  const holdsName = (start: Start) => toCells(text, start).some(isAddressName)
  const named = starts.find((start) => holdsName(start) && !holdsAddress(start))
  if (named) return holdsAddress(first) ? undefined : named
  // The first line may have an address with an error.
  if (first.content.includes('@')) return undefined
  // A single column has a header only with a name that is known.
  return first.delimiter === undefined ? undefined : first
}

/** Finds the first lines with content. Excel's line `sep=;` names their delimiter. */
function findStarts(text: string, file: string): readonly Start[] {
  const starts: Start[] = []
  let named: string | undefined
  for (const { line, cells } of readRecords(text, { file, line: 1 })) {
    const content = cells[0] ?? ''
    const separator = starts.length === 0 ? /^sep=(.)$/i.exec(content)?.[1] : undefined
    if (separator !== undefined) {
      named = separator
      continue
    }
    if (COMMENT.test(content)) continue
    starts.push({ file, line, content, delimiter: named ?? findDelimiter(content) })
    if (starts.length === MAX_TITLE_LINES) break
  }
  return starts
}

/**
 * The delimiter with which a line has the name of an address as a cell, or else the one that gives it the most cells; undefined when it
 * has one cell. Names may have another delimiter in them, such as `Name, Vorname`.
 */
function findDelimiter(line: string): string | undefined {
  const unquoted = line.replace(/"[^"]*"/g, '')
  const countCells = (delimiter: string) => unquoted.split(delimiter).length
  const namesAddress = (delimiter: string) => line.split(delimiter).some(isAddressName)
  const possible = DELIMITERS.filter((delimiter) => countCells(delimiter) > 1)
  const named = possible.filter(namesAddress)
  const candidates = named.length > 0 ? named : possible
  const [most] = candidates.toSorted((one, other) => countCells(other) - countCells(one))
  return most
}
