/** Reads the rows of a table: who would be added, who left, and what the columns hold that are not read. Pure. */

import type { ImportRow, OptOut } from '../../subscriber.ts'
import { parseOwnerAddresses } from './addresses.ts'
import { markBroken } from './breaks.ts'
import type { Row, Table } from './csv.ts'
import { type DateOrder, isBlank, type ParsedDate, parseDate, toDateText } from './dates.ts'
import { type Column, findLayout, type Layout, type ReadOptions, type StatusColumn } from './layout.ts'
import { type Cell, Collector, MAX_CELL_TEXT, type Profile } from './profile.ts'
import type { Value } from './statuses.ts'
import { findFlag, type Status, saysLeft, toPlain } from './words.ts'

/** What becomes of a row: its status, or why it has none. `unknown`: it has a status that nobody knows. */
export type RowKind = Status | 'rejected' | 'empty' | 'unknown'

/** The line or record of a row. */
interface Place {
  readonly line: number
}

/** A value of a status column, how many rows have it, and the first of them. */
export type CountedValue = Value & Place & { readonly rows: number }

/**
 * What was read, row by row. A row with an unknown status adds no person; only its cells count: in `values`, `profiles`, `addresses` and
 * `words`.
 */
export interface Rows {
  readonly table: Table
  readonly options: ReadOptions
  readonly layout: Layout
  readonly subscribers: readonly (ImportRow & Place)[]
  readonly optOuts: readonly (OptOut & Place)[]
  /** Rows that are skipped, each as the opt-out that it would be, and the value that says so. */
  readonly skipped: readonly (OptOut & Place & { readonly value: Value })[]
  /** Rows that cannot be imported: why, and the cell that is the reason, with at most MAX_CELL_TEXT characters. */
  readonly rejected: readonly (Cell & { readonly reason: string })[]
  /** How many rows there are; each is of one kind. */
  readonly counts: Readonly<Record<RowKind | 'all', number>>
  /** The values of the status columns. */
  readonly values: readonly CountedValue[]
  /** What the columns hold that are not read. */
  readonly profiles: ReadonlyMap<Column, Profile>
  /** Cells with an `@` in the column of the address, without those of people who left. */
  readonly addresses: number
  /**
   * The first cell of the column of the address with words, beside an address or without one, that say that somebody left. Rows of people
   * who left by their status are not looked at.
   */
  readonly words: Cell | undefined
  /** The first status of somebody who is subscribed by it, although everybody left, and how many rows have it. */
  readonly contradiction: CountedValue | undefined
  /** The first and the last date, and the first row with one; undefined without any. */
  readonly dates: { readonly first: Date; readonly last: Date; readonly line: number; readonly date: Date } | undefined
}

/** Rows while they are read. Nothing but this file sees them. */
interface Draft {
  readonly options: ReadOptions
  readonly layout: Layout
  readonly subscribers: Rows['subscribers'][number][]
  readonly optOuts: Rows['optOuts'][number][]
  readonly skipped: Rows['skipped'][number][]
  readonly rejected: Rows['rejected'][number][]
  readonly values: Map<Value, { rows: number; readonly line: number }>
  readonly contradictions: Map<Value, { rows: number; readonly line: number }>
  readonly collectors: ReadonlyMap<Column, Collector>
  /** The orders that dates show. */
  readonly orders: Set<DateOrder>
  addresses: number
  words: Cell | undefined
  dates: { first: Date; last: Date; readonly line: number; readonly date: Date } | undefined
}

/** Reads a table. @throws Failure when a quote is not closed, and as `findLayout` */
export function readRows(table: Table, options: ReadOptions): Rows {
  const layout = findLayout(table, options)
  const draft: Draft = {
    options,
    layout,
    subscribers: [],
    optOuts: [],
    skipped: [],
    rejected: [],
    values: new Map(),
    contradictions: new Map(),
    collectors: new Map(layout.unanswered.map((column) => [column, new Collector()])),
    orders: new Set(),
    addresses: 0,
    words: undefined,
    dates: undefined,
  }
  const counts = { all: 0, subscribed: 0, suppressed: 0, skip: 0, rejected: 0, empty: 0, unknown: 0 }
  for (const row of openRows(table, layout)) {
    counts.all++
    counts[readRow(row, draft)]++
  }
  // A date that shows the order may be in any row. Two that show different orders show none.
  const [dateOrder, ...others] = draft.orders
  const isShown = dateOrder && others.length === 0 && !options.dateOrder
  return isShown ? readRows(table, { ...options, dateOrder }) : toRows(table, draft, counts)
}

/** The rows of a table. Without the names of columns, each line is one cell, and no line break can split a row. */
function openRows(table: Table, layout: Layout): Iterable<Row> {
  return table.names ? markBroken(table.rows(), layout, table.names.length) : table.rows()
}

function toRows(table: Table, draft: Draft, counts: Rows['counts']): Rows {
  const { values, contradictions, collectors, orders, ...rest } = draft
  const toCounted = (found: Draft['values']) => [...found].map(([value, count]) => ({ ...value, ...count }))
  const profiles = new Map([...collectors].map(([column, collector]) => [column, collector.toProfile()]))
  const [contradiction] = toCounted(contradictions)
  return { ...rest, table, counts, values: toCounted(values), profiles, contradiction }
}

/** Reads a row into the draft, and returns what becomes of it. */
function readRow({ line, cells, problem }: Row, draft: Draft): RowKind {
  const { layout } = draft
  const address = cells[layout.address.index] ?? ''
  const reject = (reason: string, cell = address): RowKind => {
    draft.rejected.push({ line, reason, cell: cell.slice(0, MAX_CELL_TEXT) })
    return 'rejected'
  }
  if (problem !== undefined) return reject(problem)
  if (cells.every((cell) => cell.trim() === '')) return 'empty'
  const { status, value } = readStatus({ line, cells }, draft)
  for (const [{ index }, collector] of draft.collectors) collector.compare(cells[index]?.trim() ?? '')
  if (status !== 'suppressed') {
    noteAddress(draft, address, line)
    const row = { line, isAdded: status === 'subscribed', address }
    for (const [{ index }, collector] of draft.collectors) collector.add(cells[index]?.trim() ?? '', row)
  }
  if (status === 'unknown') return status
  if (status === 'cut') return reject('there is no status: the row ends before that column')
  const addresses = parseOwnerAddresses(address)
  if (status === 'skip') {
    // Nothing is done with it, so the address need not be valid.
    if (!addresses.ok) return status
    const date = parse(findDateText(cells, layout), draft)
    const { latest: optedOutAt } = findOptOutDate(date, cells, draft)
    for (const email of addresses.value) draft.skipped.push({ email, optedOutAt, line, value })
    return status
  }
  if (!addresses.ok) return reject(addresses.reason)
  const text = findDateText(cells, layout)
  const parsed = parse(text, draft)
  if (status === 'suppressed') {
    const { shown, latest: optedOutAt } = findOptOutDate(parsed, cells, draft)
    for (const email of addresses.value) draft.optOuts.push({ email, optedOutAt, line })
    noteDate(draft, shown, line)
    return status
  }
  if (!parsed.ok) return reject(parsed.reason, text)
  for (const email of addresses.value) draft.subscribers.push({ email, subscribedAt: parsed.value, line })
  noteDate(draft, parsed.value, line)
  return status
}

/**
 * Finds when somebody left: the last date in the row, because an opt-out is not earlier than its own subscription. A person who left is
 * suppressed also when no date can be read.
 *
 * @returns `shown`, which is the date as it is written, and `latest`, which counts. Of an opt-out that is not exact, that is the last
 * moment: mail to somebody who left is worse than no mail
 */
function findOptOutDate(parsed: ParsedDate, cells: readonly string[], draft: Draft) {
  const { layout, options } = draft
  const ofStatuses = layout.statuses.map(({ column }) => parse(cells[column.index] ?? '', draft))
  const toValue = (date: ParsedDate) => (date.ok ? date.value : undefined)
  const shown = toLast([parsed, ...ofStatuses].map(toValue))
  // With `suppress`, the date column has the opt-outs, and otherwise the subscriptions, of which no last moment counts.
  const own = options.suppress ? parsed.latest : toValue(parsed)
  const latest = toLast([own, ...ofStatuses.map((date) => date.latest)])
  return { shown, latest }
}

function toLast(dates: readonly (Date | undefined)[]): Date | undefined {
  const [last] = dates.filter((date) => date !== undefined).toSorted((one, other) => Number(other) - Number(one))
  return last
}

/** The strictest first: who left in one column has left, also if nobody knows what another one says. */
const BY_STRICTNESS = ['suppressed', 'unknown', 'skip', 'subscribed'] as const

/**
 * The status of a row: `unknown` when nobody knows what a value means, `cut` when the row ends before a status column. `skip` has the
 * first value that says so: one that the owner answered, if there is one.
 */
type RowStatus =
  | { readonly status: Exclude<Status, 'skip'> | 'unknown' | 'cut'; readonly value?: undefined }
  | { readonly status: 'skip'; readonly value: Value }

/** Reads the status of a row from all its status columns. */
function readStatus({ line, cells }: Row, draft: Draft): RowStatus {
  const { statuses } = draft.layout
  const { suppress } = draft.options
  if (statuses.length === 0) return { status: suppress ? 'suppressed' : 'subscribed' }
  const inRow = statuses.filter(({ column }) => column.index < cells.length)
  const found = inRow.map(({ column, findValue }) => findValue(cells[column.index] ?? ''))
  const strictest = BY_STRICTNESS.find((one) => found.some(({ status = 'unknown' }) => status === one))
  if (suppress) {
    if (strictest === 'subscribed') noteContradiction({ line, cells }, inRow, draft)
    return { status: 'suppressed' }
  }
  for (const one of found) {
    // What is unclear about somebody who left anyway is no question.
    if (strictest !== 'suppressed' || one.status) count(draft.values, one, line)
  }
  // A row that is cut off lacks a column, which could say more. Nothing says more than that somebody left.
  const isEnough = found.length === statuses.length || strictest === 'suppressed'
  const strictestValues = found.filter(({ status = 'unknown' }) => status === strictest)
  // What the owner said about one of them is said about the row.
  const value = strictestValues.find(({ isAnswered }) => isAnswered) ?? strictestValues[0]
  if (!strictest || !value || !isEnough) return { status: 'cut' }
  return strictest === 'skip' ? { status: strictest, value } : { status: strictest }
}

/** Everybody left, and no status of a person says so. That is doubtful if the column that says who left says that the person did not. */
function noteContradiction({ line, cells }: Row, statuses: readonly StatusColumn[], draft: Draft): void {
  const saying = statuses.find(({ saysWhoLeft }) => saysWhoLeft)
  if (saying) count(draft.contradictions, saying.findValue(cells[saying.column.index] ?? ''), line)
}

function count(values: Draft['values'], value: Value, line: number): void {
  values.getOrInsertComputed(value, () => ({ rows: 0, line })).rows++
}

/** Parses a date. When the owner named the column of dates, a number is a date of Excel, also in a column of a status. */
function parse(cell: string, { options, orders }: Draft): ParsedDate {
  const parsed = parseDate(cell, { order: options.dateOrder, serials: options.dateColumn !== undefined })
  if (parsed.order) orders.add(parsed.order)
  return parsed
}

function noteDate(draft: Draft, date: Date | undefined, line: number): void {
  if (!date) return
  draft.dates ??= { first: date, last: date, line, date }
  if (date < draft.dates.first) draft.dates.first = date
  if (date > draft.dates.last) draft.dates.last = date
}

/**
 * Counts a cell with an `@`, and notes the first one with words that say that somebody left. Cells that are an address alone, as most are,
 * or that are too long to be an address with a few words, have none.
 */
function noteAddress(draft: Draft, cell: string, line: number): void {
  if (cell.includes('@')) draft.addresses++
  if (draft.words || cell.length > MAX_CELL_TEXT || /^[^\s@()<>]*@[^\s@()<>]*$/.test(cell)) return
  if (saysLeft(cell.replace(/[^\s()<>]*@[^\s()<>]*/g, ' '))) draft.words = { line, cell }
}

/** Finds the first date of a row. A flag in a column such as `Subscribed` is none. */
function findDateText(cells: readonly string[], { dates }: Layout): string {
  const texts = dates.map(({ index }) => toDateText(cells[index]))
  return texts.find((text) => !isNoDate(text)) ?? ''
}

/** Whether a cell is empty or a flag. */
function isNoDate(text: string): boolean {
  // Most cells have a year, which is quick to see.
  if (/[1-9]\d{3}/.test(text)) return false
  return isBlank(text.trim()) || findFlag(toPlain(text)) !== undefined
}
