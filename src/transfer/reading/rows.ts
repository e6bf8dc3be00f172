/** Reads the rows of a table: who would be added, who left, and what the columns hold that are not read. Pure. */

import type { ImportRow, OptOut } from '../../subscriber.ts'
import { parseOwnerAddresses } from './addresses.ts'
import { type Cell, type Column, type Columns, findColumns, type ReadOptions } from './columns.ts'
import type { Row, Table } from './csv.ts'
import { type DateOrder, isBlank, type ParsedDate, parseDate, toDateText } from './dates.ts'
import type { Value } from './statuses.ts'
import { findFlag, type Status, saysLeft, toPlain } from './words.ts'

/** What becomes of a row. `unknown`: it has a status that nobody knows. */
type Kind = 'added' | 'left' | 'skipped' | 'rejected' | 'empty' | 'unknown'

/** What was read, row by row. Nobody with an unknown status is in it. */
export class Reading {
  readonly table: Table
  readonly options: ReadOptions
  readonly columns: Columns
  readonly subscribers: ImportRow[] = []
  readonly optOuts: OptOut[] = []
  /** Rows that cannot be imported: why, and the cell that is the reason, with at most MAX_CELL_TEXT characters. */
  readonly rejected: (Cell & { readonly reason: string })[] = []
  /** How many rows there are; each is in one of the kinds. */
  readonly rows = { all: 0, added: 0, left: 0, skipped: 0, rejected: 0, empty: 0, unknown: 0 }
  /** The values of the status columns. */
  readonly values = new Set<Value>()
  /** The orders that dates show. */
  readonly orders = new Set<DateOrder>()
  /** The first and the last date, and the first row with one; undefined without any. */
  dates: { first: Date; last: Date; readonly line: number; readonly date: Date } | undefined
  /** Rows of subscribers without a date, and the cell of the first one. */
  undated: { rows: number; readonly first: Cell } | undefined

  constructor(table: Table, options: ReadOptions) {
    this.table = table
    this.options = options
    this.columns = findColumns(table, options)
  }
}

const MAX_CELL_TEXT = 1000

/** Different values of a column that are kept. One more says that there are others. */
export const MAX_VALUES = 20

/** Reads a table. @throws Failure when a quote is not closed, and as `findColumns` */
export function readRows(table: Table, options: ReadOptions): Reading {
  const reading = new Reading(table, options)
  for (const row of table.rows()) {
    reading.rows.all++
    reading.rows[readRow(row, reading)]++
  }
  // A date that shows the order may be in any row. Two that show different orders show none.
  const [dateOrder, ...others] = reading.orders
  const isShown = dateOrder && others.length === 0 && !options.dateOrder
  return isShown ? readRows(table, { ...options, dateOrder }) : reading
}

/** Reads a row into what was read before, and returns what becomes of it. */
function readRow({ line, cells, problem }: Row, reading: Reading): Kind {
  const { columns } = reading
  const address = cells[columns.address.index] ?? ''
  const reject = (reason: string, cell = address): Kind => {
    reading.rejected.push({ line, reason, cell: cell.slice(0, MAX_CELL_TEXT) })
    return 'rejected'
  }
  if (problem !== undefined) return reject(problem)
  if (cells.every((cell) => cell.trim() === '')) return 'empty'
  const status = readStatus({ line, cells }, reading)
  if (status !== 'suppressed') {
    noteAddress(columns.address, address, line)
    for (const column of columns.unanswered) noteCell(column, cells[column.index]?.trim() ?? '', line)
  }
  if (status === 'skip') return 'skipped'
  if (status === 'unknown') return 'unknown'
  if (status === 'cut') return reject('there is no status: the row ends before that column')
  const addresses = parseOwnerAddresses(address)
  if (!addresses.ok) return reject(addresses.reason)
  const text = findDateText(cells, columns)
  const parsed = parse(text, reading)
  if (status === 'suppressed') {
    // A person who left is suppressed also when no date can be read. An opt-out is not earlier than its own subscription.
    const others = columns.statuses.map(({ column }) => parse(cells[column.index] ?? '', reading))
    const dates = [parsed, ...others].flatMap((date) => (date.ok && date.value ? date.value : []))
    const [optedOutAt] = dates.toSorted((one, other) => Number(other) - Number(one))
    for (const email of addresses.value) reading.optOuts.push({ email, optedOutAt })
    noteDate(reading, optedOutAt, line)
    return 'left'
  }
  if (!parsed.ok) return reject(parsed.reason, text)
  for (const email of addresses.value) reading.subscribers.push({ email, subscribedAt: parsed.value })
  noteDate(reading, parsed.value, line)
  if (!parsed.value) {
    reading.undated ??= { rows: 0, first: { line, cell: cells[columns.dates[0]?.index ?? -1] ?? '' } }
    reading.undated.rows++
  }
  return 'added'
}

/** The strictest first: who left in one column has left, also if nobody knows what another one says. */
const BY_STRICTNESS = ['suppressed', 'unknown', 'skip', 'subscribed'] as const

/** Reads the status of a row: `unknown` when nobody knows what a value means, `cut` when the row ends before a status column. */
function readStatus({ line, cells }: Row, { columns, options, values }: Reading): Status | 'unknown' | 'cut' {
  const { statuses } = columns
  if (statuses.length === 0) return options.suppress ? 'suppressed' : 'subscribed'
  const inRow = statuses.filter(({ column }) => column.index < cells.length)
  const found = inRow.map(({ column, findValue }) => findValue(cells[column.index] ?? ''))
  const strictest = BY_STRICTNESS.find((one) => found.some(({ status = 'unknown' }) => status === one))
  for (const value of found) {
    // What is unclear about somebody who left anyway is no question.
    if (strictest === 'suppressed' && !value.status) continue
    values.add(value)
    value.rows++
    value.line ||= line
  }
  const isWhole = found.length === statuses.length
  return strictest && (isWhole || strictest === 'suppressed') ? strictest : 'cut'
}

/** Parses a date. In a column that the owner named, a number is a date of Excel. */
function parse(cell: string, { options, orders }: Reading): ParsedDate {
  const parsed = parseDate(cell, { order: options.dateOrder, serials: options.dateColumn !== undefined })
  if (parsed.order) orders.add(parsed.order)
  return parsed
}

function noteDate(reading: Reading, date: Date | undefined, line: number): void {
  if (!date) return
  reading.dates ??= { first: date, last: date, line, date }
  if (date < reading.dates.first) reading.dates.first = date
  if (date > reading.dates.last) reading.dates.last = date
}

/** Counts a cell of a column that is not read. */
function noteCell(column: Column, cell: string, line: number): void {
  const kind = isBlank(cell) ? 'empty' : cell.includes('@') ? 'addresses' : 'others'
  column.cells[kind]++
  if (kind === 'empty') return
  const count = column.values.get(cell) ?? 0
  if (count > 0 || column.values.size <= MAX_VALUES) column.values.set(cell, count + 1)
  if (count === 0 && !column.left && saysLeft(cell)) column.left = { line, cell: cell.slice(0, MAX_CELL_TEXT) }
}

/** Notes what is beside an address. Most cells are an address alone, and a long one is none. */
function noteAddress(column: Column, cell: string, line: number): void {
  if (cell.includes('@')) column.cells.addresses++
  if (column.left || cell.length > MAX_CELL_TEXT || /^[^\s@()<>]*@[^\s@()<>]*$/.test(cell)) return
  if (saysLeft(cell.replace(/[^\s()<>]*@[^\s()<>]*/g, ' '))) column.left = { line, cell }
}

/** Finds the first date of a row. A flag in a column such as `Subscribed` is none. */
function findDateText(cells: readonly string[], { dates }: Columns): string {
  const texts = dates.map(({ index }) => toDateText(cells[index]))
  return texts.find((text) => /[1-9]\d{3}/.test(text) || (!isBlank(text.trim()) && !findFlag(toPlain(text)))) ?? ''
}
