/** A text as a table: CSV with any usual delimiter, JSON (objects on lines, or in an array), or one address per line. */

import { Failure } from '../../failure.ts'
import { parseOwnerAddress, parseOwnerAddresses } from './addresses.ts'
import { type Csv, readRecords, type Table, toLineEnd, unquoteLine } from './csv.ts'
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
 * Finds the format and the header of a text. Throws a Failure when the text is empty or in another format.
 *
 * @param hasColumns whether a first line with addresses only is one row. Otherwise each address is a row
 */
export function parseTable(content: string, file: string, hasColumns: boolean): Table {
  // Old Excel writes CR between rows, and LF in cells.
  const text = content.includes('\r') ? content.replace(/\r\n?/g, '\n') : content
  const starts = findStarts(text, file)
  const [first] = starts
  if (!first) throw new Failure(`${file}: it is empty`)
  const openLines = (start: Start) => readRecords(text, { ...start, delimiter: undefined })
  // An address may begin with a brace, and a link with a bracket.
  const isJson = /^[{[]/.test(first.content) && !parseOwnerAddresses(first.content).ok
  if (isJson) return openJson(text, file, () => openLines(first))
  const toCells = (start: Start) => readRecords(text, start).next().value?.cells ?? []
  const holdsAddress = (start: Start) => toCells(start).some((cell) => parseOwnerAddress(cell).ok)
  const found = starts.find((start) => toCells(start).some(isAddressName) && !holdsAddress(start))
  // A title is skipped, but never a line with an address.
  const isFirstRow = found ? holdsAddress(first) : first.content.includes('@')
  const start = isFirstRow ? first : (found ?? first)
  const isColumn = start.delimiter === undefined || (!hasColumns && parseOwnerAddresses(first.content).ok)
  // A single column has a header only with a name that is known.
  const header = isFirstRow ? undefined : isColumn ? found : start
  const head = header ? starts.slice(0, starts.indexOf(header) + 1) : []
  const rest = { file, place: 'line', title: text.slice(0, start.at), head } as const
  const skipped = header ? 1 : 0
  if (isColumn) return { ...rest, names: undefined, rows: () => openLines(start).drop(skipped) }
  const cells = toCells(start)
  const names = header ? cells : cells.map((_, index) => `column ${index + 1}`)
  return { ...rest, names, rows: () => readRecords(text, { ...start, width: names.length }).drop(skipped) }
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
  const inner = unquoteLine(line)
  const whole = inner && findDelimiter(inner)
  if (whole) return whole
  const unquoted = line.replace(/"[^"]*"/g, '')
  const counts = DELIMITERS.map((delimiter) => unquoted.split(delimiter).length)
  const most = Math.max(...counts)
  return most > 1 ? DELIMITERS[counts.indexOf(most)] : undefined
}
