/** Reads the rows of a table: who would be added, who left, and what the columns hold that are not read. Pure. */

import type { Result } from '../../email.ts'
import type { ImportRow, OptOut } from '../../subscriber.ts'
import { parseOwnerAddresses } from './addresses.ts'
import type { Column, Columns, ReadOptions } from './columns.ts'
import type { Row, Table } from './csv.ts'
import { type DateOrder, findDateOrder, isBlank, parseDate, toDateText } from './dates.ts'
import { type Meaning, readStatus } from './statuses.ts'
import { findFlag, type Status, saysLeft, toPlain } from './words.ts'

/** A row that cannot be imported. */
export interface RejectedRow {
  readonly line: number
  readonly reason: string
  /** What the reason is about, with at most MAX_CELL_TEXT characters. */
  readonly cell: string
}

/** A value of a status column, with the number of rows that have it, and the first of them. */
export type CountedValue = Meaning & { readonly rows: number; readonly line: number }

/** What becomes of a row. `unknown`: it has a status that nobody knows. */
type Kind = 'added' | 'left' | 'skipped' | 'rejected' | 'empty' | 'unknown'

/** What was read. Nobody with an unknown status is in it. */
export interface Reading {
  readonly columns: Columns
  readonly subscribers: readonly ImportRow[]
  readonly optOuts: readonly OptOut[]
  readonly rejected: readonly RejectedRow[]
  /** How many rows there are; each is in one of the kinds. */
  readonly rows: Readonly<Record<Kind | 'all', number>>
  readonly values: readonly CountedValue[]
  /** The first cell of the address that says, beside an address or without one, that somebody left. */
  readonly leftRow: { readonly line: number; readonly cell: string } | undefined
  /** What the columns hold that are not read. */
  readonly contents: readonly Contents[]
  /** The first and the last date, and the first row with one; undefined without any. */
  readonly dates: { readonly first: Date; readonly last: Date; readonly line: number; readonly date: Date } | undefined
  /** Rows of subscribers without a date. */
  readonly undated: number
}

const MAX_CELL_TEXT = 1000

/** Different values of a column that are kept. */
const MAX_VALUES = 20

/** What a column that is not read holds in the rows of people who have not left. */
export class Contents {
  readonly column: Column
  /** The first cell that says that somebody left. */
  left: { readonly line: number; readonly cell: string } | undefined
  rows = 0
  empty = 0
  /** Cells with an `@`. */
  addresses = 0
  /** How many rows have each of the first different values. */
  readonly counts = new Map<string, number>()

  constructor(column: Column) {
    this.column = column
  }

  add(text: string, line: number): void {
    const cell = text.trim()
    this.rows++
    if (isBlank(cell)) this.empty++
    if (cell.includes('@')) this.addresses++
    const count = this.counts.get(cell) ?? 0
    if (count > 0 || !this.hasMoreValues) this.counts.set(cell, count + 1)
    if (count === 0 && !this.left && saysLeft(cell)) this.left = { line, cell: cell.slice(0, MAX_CELL_TEXT) }
  }

  get hasMoreValues(): boolean {
    return this.counts.size > MAX_VALUES
  }

  /** The first different values, without no value, and the number of rows of each. */
  get values(): readonly (readonly [value: string, rows: number])[] {
    return [...this.counts].filter(([value]) => !isBlank(value))
  }
}

type ParsedDate = Result<Date | undefined, string>

/** Reads a table. @throws Failure when a quote is not closed */
export function readRows(table: Table, columns: Columns, options: ReadOptions): Reading {
  const subscribers: ImportRow[] = []
  const optOuts: OptOut[] = []
  const rejected: RejectedRow[] = []
  const rows = { all: 0, added: 0, left: 0, skipped: 0, rejected: 0, empty: 0, unknown: 0 }
  const values = new Map<Meaning, { rows: number; readonly line: number }>()
  const contents = columns.unread.map((column) => new Contents(column))
  const orders = new Set<DateOrder>()
  // Without a status column, all are the same.
  const everybody = { meanings: [], status: options.suppress ? 'suppressed' : 'subscribed' } as const
  let dates: Reading['dates']
  let leftRow: Reading['leftRow']
  let undated = 0

  function parse(cell: string): ParsedDate {
    const order = findDateOrder(cell)
    if (order) orders.add(order)
    // In a column that the owner named, a number is a date of Excel.
    return parseDate(cell, { order: options.dateOrder, serials: options.dateColumn !== undefined })
  }

  function read({ line, cells, problem }: Row): Kind {
    const address = cells[columns.address] ?? ''
    const reject = (reason: string, cell = address): Kind => {
      rejected.push({ line, reason, cell: cell.slice(0, MAX_CELL_TEXT) })
      return 'rejected'
    }
    if (problem !== undefined) return reject(problem)
    if (cells.every((cell) => cell.trim() === '')) return 'empty'
    const { meanings, status } = columns.statuses.length > 0 ? readStatus(columns.statuses, cells) : everybody
    for (const meaning of meanings) {
      // What is unclear about somebody who left anyway is no question.
      if (meaning && (meaning.status || !status)) values.getOrInsertComputed(meaning, () => ({ rows: 0, line })).rows++
    }
    if (status !== 'suppressed' && !leftRow && saysLeftBesideAddress(address)) leftRow = { line, cell: address }
    if (status !== 'suppressed') for (const found of contents) found.add(cells[found.column.index] ?? '', line)
    if (status === 'skip') return 'skipped'
    if (!status) {
      return meanings.includes(undefined) ? reject('there is no status: the row ends before that column') : 'unknown'
    }
    const addresses = parseOwnerAddresses(address)
    if (!addresses.ok) return reject(addresses.reason)
    const text = findDateText(cells, columns)
    const date = readDate(text, cells, status, { parse, columns })
    if (!date.ok) return reject(date.reason, text)
    const { value } = date
    for (const email of addresses.value) {
      if (status === 'subscribed') subscribers.push({ email, subscribedAt: value })
      else optOuts.push({ email, optedOutAt: value })
    }
    if (value) {
      dates ??= { first: value, last: value, line, date: value }
      if (value < dates.first) dates = { ...dates, first: value }
      if (value > dates.last) dates = { ...dates, last: value }
    } else if (status === 'subscribed') undated++
    return status === 'subscribed' ? 'added' : 'left'
  }

  for (const row of table.rows()) {
    rows.all++
    rows[read(row)]++
  }
  // A date that shows the order may be in any row. Two that show different orders show none.
  const [dateOrder, ...more] = orders
  if (dateOrder && more.length === 0 && !options.dateOrder) return readRows(table, columns, { ...options, dateOrder })
  const counted = [...values].map(([meaning, count]) => ({ ...meaning, ...count }))
  return { columns, subscribers, optOuts, rejected, rows, values: counted, leftRow, contents, dates, undated }
}

/** Reads the date of a row, and for somebody who left also those of the statuses. */
function readDate(
  text: string,
  cells: readonly string[],
  status: Status,
  { parse, columns }: { readonly parse: (cell: string) => ParsedDate; readonly columns: Columns },
): ParsedDate {
  const date = parse(text)
  if (status === 'subscribed') return date
  // A person who left is suppressed also when no date can be read. An opt-out is not earlier than its own subscription.
  const others = columns.statuses.map(({ index }) => parse(cells[index] ?? ''))
  const all = [date, ...others].flatMap((parsed) => (parsed.ok && parsed.value ? parsed.value : []))
  return { ok: true, value: all.toSorted((one, other) => Number(other) - Number(one))[0] }
}

/** Most cells are an address alone, and a long one is none. */
function saysLeftBesideAddress(cell: string): boolean {
  if (cell.length > MAX_CELL_TEXT || /^[^\s@()<>]*@[^\s@()<>]*$/.test(cell)) return false
  return saysLeft(cell.replace(/[^\s()<>]*@[^\s()<>]*/g, ' '))
}

/** Finds the first date of a row. A flag in a column such as `Subscribed` is none. */
function findDateText(cells: readonly string[], { dates }: Columns): string {
  const texts = dates.map((index) => toDateText(cells[index]))
  return texts.find((text) => /[1-9]\d{3}/.test(text) || (!isBlank(text.trim()) && !findFlag(toPlain(text)))) ?? ''
}
