/** Lists in CSV (RFC 4180), and in what programs write under that name. */

import { Readable } from 'node:stream'
import { CsvError, type Options, parse } from 'csv-parse'
import { Failure } from '../../failure.ts'
import { type Columns, findColumns } from './columns.ts'
import { MAX_ROW, PAGE, type PeekedText, parseObject, type Source, type SourceRow } from './rows.ts'

/** With `info`, csv-parse tells where each record ends. */
interface Parsed {
  readonly info: { readonly lines: number }
  readonly record: readonly string[]
}

const DELIMITERS = [',', ';', '\t', '|'] as const

/** Reads a CSV with a header, or, where the owner gives a column by its number, without one. */
export async function readCsv(text: PeekedText, wanted: string | undefined): Promise<Source> {
  const { name } = text
  const records = parseRecords(text)
  const first = await records.next()
  const header = first.done ? [] : first.value.record
  const columns = findColumns(header, wanted, name)
  const hasHeader = !header[columns.email]?.includes('@')
  return {
    header: hasHeader
      ? header
      : header.map((_, index) => (index === columns.email ? 'email' : `column_${index + 1}`)),
    pages: toPages(
      records,
      header,
      hasHeader ? columns : { ...columns, date: undefined, attributes: undefined },
      {
        first: hasHeader || first.done ? undefined : first.value,
      },
    ),
  }
}

async function* toPages(
  records: AsyncIterable<Parsed>,
  header: readonly string[],
  columns: Columns,
  { first }: { readonly first: Parsed | undefined },
): AsyncGenerator<readonly SourceRow[]> {
  let page = first ? [toRow(first, header.length, columns)] : []
  for await (const record of records) {
    page.push(toRow(record, header.length, columns))
    if (page.length < PAGE) continue
    yield page
    page = []
  }
  if (page.length > 0) yield page
}

function toRow({ info, record }: Parsed, width: number, columns: Columns): SourceRow {
  const { email, date, attributes } = columns
  return {
    line: info.lines,
    email: record[email],
    date: date === undefined ? readAttribute(record, attributes) : record[date],
    cells: record,
    remark:
      record.length === width ? undefined : `the row has ${record.length} columns, and the header ${width}`,
  }
}

/** The date that an export for listmonk has put among the attributes. */
function readAttribute(record: readonly string[], attributes: number | undefined): unknown {
  return attributes === undefined ? undefined : parseObject(record[attributes] ?? '')?.subscribed_at
}

async function* parseRecords({ name, firstLine, parts }: PeekedText): AsyncGenerator<Parsed> {
  const options: Options = {
    delimiter: findDelimiter(firstLine),
    info: true,
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
    max_record_size: MAX_ROW,
  }
  const parser = parse(options)
  const input = Readable.from(parts)
  input.on('error', (error) => parser.destroy(error))
  input.pipe(parser)
  try {
    yield* parser as AsyncIterable<Parsed>
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
    return `${line}: a row is longer than ${MAX_ROW} characters, or a quote before it is never closed`
  }
  return `${line}: it is not CSV (${error.code})`
}

/** The sign that parts the header into the most columns. */
function findDelimiter(header: string): string {
  const unquoted = header.replace(/"[^"]*"/g, '')
  const counts = DELIMITERS.map((sign) => unquoted.split(sign).length)
  return DELIMITERS[counts.indexOf(Math.max(...counts))] ?? ','
}
