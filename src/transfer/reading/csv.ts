/** CSV (RFC 4180), and the variants that other programs write. */

import { Readable } from 'node:stream'
import { CsvError, type Options, parse } from 'csv-parse'
import { Failure } from '../../failure.ts'
import { MAX_ROW_LENGTH } from '../../limits.ts'
import { type Columns, findColumns } from './columns.ts'
import { type PeekedText, parseObject, type Source, type SourceRow } from './rows.ts'

/** A record of csv-parse with the option `info`: the number of the line on which it ends, and its cells. */
interface CsvRecord {
  readonly info: { readonly lines: number }
  readonly record: readonly string[]
}

/** Rows in a page. */
const PAGE_SIZE = 1000

const DELIMITERS = [',', ';', '\t', '|'] as const

/** Reads a CSV with a header, or without one if `column` is a number and that cell of the first row is an address. */
export async function readCsv(text: PeekedText, column: string | undefined): Promise<Source> {
  const records = readRecords(text)
  const first = await records.next()
  const cells = first.done ? [] : first.value.record
  const columns = findColumns(cells, column, text.name)
  const width = cells.length
  if (first.done || !cells[columns.email]?.includes('@')) {
    return { header: cells, pages: toPages(records, (record) => toRow(record, width, columns)) }
  }
  const toAddressRow = (record: CsvRecord) => toRow(record, width, { email: columns.email })
  return {
    header: cells.map((_, index) => (index === columns.email ? 'email' : `column_${index + 1}`)),
    pages: toPages(records, toAddressRow, [toAddressRow(first.value)]),
  }
}

async function* toPages(
  records: AsyncIterable<CsvRecord>,
  toPageRow: (record: CsvRecord) => SourceRow,
  firstRows: readonly SourceRow[] = [],
): AsyncGenerator<readonly SourceRow[]> {
  let page = [...firstRows]
  for await (const record of records) {
    page.push(toPageRow(record))
    if (page.length < PAGE_SIZE) continue
    yield page
    page = []
  }
  if (page.length > 0) yield page
}

function toRow({ info, record }: CsvRecord, width: number, { email, date, attributes }: Columns): SourceRow {
  return {
    line: info.lines,
    email: record[email],
    date: date === undefined ? readAttribute(record, attributes) : record[date],
    cells: record,
    problem: record.length === width ? undefined : `the row has ${record.length} columns, the header ${width}`,
  }
}

/** The date among the attributes, where an export for listmonk puts it. */
function readAttribute(record: readonly string[], attributes: number | undefined): unknown {
  return attributes === undefined ? undefined : parseObject(record[attributes] ?? '')?.subscribed_at
}

async function* readRecords({ name, firstLine, parts }: PeekedText): AsyncGenerator<CsvRecord> {
  const options: Options = {
    delimiter: findDelimiter(firstLine),
    info: true,
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
    max_record_size: MAX_ROW_LENGTH,
  }
  const parser = parse(options)
  const input = Readable.from(parts)
  input.on('error', (error) => parser.destroy(error))
  input.pipe(parser)
  try {
    yield* parser
  } catch (error) {
    throw error instanceof CsvError ? new Failure(`${name}: ${toReason(error)}`) : error
  } finally {
    input.destroy()
  }
}

function toReason(error: CsvError): string {
  const line = `line ${typeof error.lines === 'number' ? error.lines : '?'}`
  if (error.code === 'CSV_QUOTE_NOT_CLOSED') return `${line}: a quote is opened and never closed`
  if (error.code === 'CSV_MAX_RECORD_SIZE') {
    return `${line}: a row is longer than ${MAX_ROW_LENGTH} characters, or a quote before it is never closed`
  }
  return `${line}: it is not CSV (${error.code})`
}

/** The delimiter that gives the header the most columns. */
function findDelimiter(header: string): string {
  const unquoted = header.replace(/"[^"]*"/g, '')
  const counts = DELIMITERS.map((delimiter) => unquoted.split(delimiter).length)
  return DELIMITERS[counts.indexOf(Math.max(...counts))] ?? ','
}
