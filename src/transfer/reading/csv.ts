/** CSV with a header, or without one when the owner gives the number of the address column. */

import { parseAddress } from '../../email.ts'
import { Failure } from '../../failure.ts'
import { type ColumnOptions, type Columns, checkColumns, createColumnFinder, hasDate } from './columns.ts'
import { isPlainDate } from './dates.ts'
import { type CsvRecord, type CsvText, readRecords } from './records.ts'
import { type PeekedText, parseObject, type Source, type SourceRow } from './rows.ts'
import { TREATED_AS, toStatusCells } from './statuses.ts'

const DELIMITERS = [',', ';', '\t', '|'] as const

interface Layout {
  readonly header: readonly string[]
  readonly columns: Columns
  /** Whether the first record is a row. */
  readonly isHeaderless: boolean
}

/** Opens a CSV. @throws Failure when its columns are not found */
export async function openCsv(text: PeekedText, options: ColumnOptions): Promise<Source> {
  const csv: CsvText = { ...text, delimiter: text.delimiter ?? findDelimiter(text.firstLine) }
  const { header, columns, isHeaderless } = findLayout(await readFirst(csv), options, text.name)
  const email = columns.email ?? 0
  const own = countOwnColumns(header)

  function toRow(record: CsvRecord): SourceRow {
    const { line, cells } = record
    if (record.lines) checkQuotes(record, csv, header.length, email)
    return {
      line,
      email: cells[email],
      date: findDate(cells, columns),
      statuses: toStatusCells(columns.statuses, ({ index }) => cells[index]),
      cells: own > 0 ? cells.slice(own) : cells,
      problem:
        cells.length === header.length ? undefined : `the row has ${cells.length} columns, the header ${header.length}`,
    }
  }

  async function* readPages(): AsyncGenerator<readonly SourceRow[]> {
    let skipped = isHeaderless ? 0 : 1
    for await (const records of readRecords(csv)) {
      yield records.slice(skipped).map(toRow)
      if (records.length > 0) skipped = 0
    }
  }

  return {
    name: text.name,
    header: header.slice(own),
    columns: {
      email: [header[email] ?? ''],
      date: columns.dates.map((index) => header[index] ?? ''),
      status: columns.statuses.map(({ column }) => column.name),
    },
    hasStatuses: columns.statuses.length > 0,
    pages: { [Symbol.asyncIterator]: readPages },
  }
}

/** A file of rejected rows has columns of its own before those of the source. */
function countOwnColumns(header: readonly string[]): number {
  if (header[0] !== 'line' || header[1] !== 'reason') return 0
  return header[2] === TREATED_AS ? 3 : 2
}

async function readFirst(csv: CsvText): Promise<readonly string[]> {
  for await (const [first] of readRecords(csv)) if (first) return first.cells
  return []
}

function findLayout(first: readonly string[], options: ColumnOptions, file: string): Layout {
  const email = Number(options.column) - 1
  const isHeaderless = first[email]?.includes('@') ?? false
  const header = isHeaderless ? first.map((_, index) => (index === email ? 'email' : `column_${index + 1}`)) : first
  const columns = createColumnFinder(options)(header)
  checkColumns(header, columns, options, file)
  if (!isHeaderless || options.dateColumn !== undefined) return { header, columns, isHeaderless }
  // Without names, only a single date can be the right one.
  const dates = first.flatMap((cell, index) => (isPlainDate(cell) ? [index] : []))
  return { header, columns: { ...columns, dates: dates.length === 1 ? dates : [] }, isHeaderless }
}

/** The first date that is not empty, or the one among the attributes, where an export for listmonk puts it. */
function findDate(cells: readonly string[], { dates, attributes }: Columns): unknown {
  if (dates.length === 0 && attributes !== undefined) return parseObject(cells[attributes] ?? '')?.subscribed_at
  const index = dates.find((date) => hasDate(cells[date]))
  return index === undefined ? undefined : cells[index]
}

/**
 * Checks a record of several lines: when one of them is a row of the file, a quote that is not closed has swallowed it.
 *
 * @throws Failure that names the line on which the record begins
 */
function checkQuotes({ line, lines = [] }: CsvRecord, csv: CsvText, width: number, email: number): void {
  const isRow = lines.slice(1).some((text) => {
    const unquoted = text.replace(/"[^"]*"/g, (quoted) => quoted.replaceAll('"', '').replaceAll(csv.delimiter, ''))
    const cells = unquoted.split(csv.delimiter)
    return cells.length === width && parseAddress(cells[email]).ok
  })
  if (!isRow) return
  const start = line - lines.length + 1
  throw new Failure(
    `${csv.name}: line ${start}: a quote is not closed, and the rows up to line ${line} are inside it; close or double it`,
  )
}

/** The delimiter that gives the header the most columns. */
function findDelimiter(header: string): string {
  const unquoted = header.replace(/"[^"]*"/g, '')
  const counts = DELIMITERS.map((delimiter) => unquoted.split(delimiter).length)
  return DELIMITERS[counts.indexOf(Math.max(...counts))] ?? ','
}
