/**
 * Reads a list as text: one pass, in memory, without side effects. The import writes what it returns, so a list that it
 * cannot read changes nothing.
 */

import type { Address } from '../../email.ts'
import { Failure } from '../../failure.ts'
import type { ImportRow, OptOut } from '../../subscriber.ts'
import { parseOwnerAddresses } from './addresses.ts'
import { type ColumnOptions, type Columns, findColumns, toDateText } from './columns.ts'
import { type DateOrder, findDateOrder, parseDate } from './dates.ts'
import { quote, toPlain } from './names.ts'
import { createStatusReader, type StatusCount } from './statuses.ts'
import { checkQuotes, openTable, type Row } from './table.ts'
import { createUnreadColumns } from './unread.ts'
import { findFlag, type Status } from './words.ts'

export interface ReadOptions extends ColumnOptions {
  /** The name of the file in messages. */
  readonly name: string
  /** The order of dates with slashes or hyphens. Default: the order that a date of the list shows. */
  readonly dateOrder?: DateOrder | undefined
  /** Meanings of plain values in status columns, before the known ones. `*` is any value. */
  readonly treat?: ReadonlyMap<string, Status> | undefined
  /** Whether everybody in the list has opted out. No status is read; `dateColumn` holds the dates of the opt-outs. */
  readonly suppress?: boolean | undefined
}

/** A row that cannot be imported. */
export interface RejectedRow {
  /** The line on which it ends, from 1. */
  readonly line: number
  readonly reason: string
  /** As in the file, at most MAX_ADDRESS_TEXT characters of it. */
  readonly address: string
}

/** The names of the columns. All are empty when the list has one address per line. */
export interface ColumnNames {
  readonly email: readonly string[]
  readonly date: readonly string[]
  readonly status: readonly string[]
  /** Columns that the import does not use. */
  readonly unread: readonly string[]
}

/** A list that was read. */
export interface List {
  readonly subscribers: readonly ImportRow[]
  readonly optOuts: readonly OptOut[]
  readonly rejected: readonly RejectedRow[]
  /** The number of rows of people who are not subscribed and have not left. */
  readonly skipped: number
  readonly columns: ColumnNames
  readonly statuses: readonly StatusCount[]
  /** Values of `treat` that no row has. */
  readonly unusedTreatments: readonly string[]
}

const MAX_ADDRESS_TEXT = 1000

/** The header of a file of rejected rows. */
export const REJECTED_COLUMNS = ['line', 'reason', 'address'] as const

/**
 * Reads a list: CSV, NDJSON or one address per line.
 *
 * @throws Failure when the list cannot be read, when a status is not known, or when a column that is not read may say who
 * left. It names the lines or the columns, and what to do
 */
export function readList(text: string, options: ReadOptions): List {
  const { name, suppress = false, dateColumn, dateOrder, treat = new Map() } = options
  const table = openTable(text, name, options.column !== undefined)
  const names = (table.names ?? ['address']).map((name, index) => name.trim() || `column ${index + 1}`)
  if (names.join() === REJECTED_COLUMNS.join()) {
    throw new Failure(`${name}: it is a file of rejected rows. Correct these rows in the list, and import that again`)
  }
  const columns = findColumns({ ...table, names }, options, name)
  const { address, ignored } = columns
  const statuses = createStatusReader(suppress ? [] : names, {
    named: suppress ? [] : columns.statuses,
    ignored,
    treat,
  })
  const read = new Set([address, ...columns.dates, ...statuses.columns])
  const unread = [...names.keys()].filter((index) => !read.has(index))
  const watched = createUnreadColumns(names, suppress ? [] : unread.filter((index) => !ignored.includes(index)))
  const hasOptOutDates = suppress && dateColumn !== undefined

  const subscribers: ImportRow[] = []
  const optOuts: OptOut[] = []
  const rejected: RejectedRow[] = []
  const unclear: Unclear[] = []
  const orders = new Set<DateOrder>()
  const unknown = new Map<string, number>()
  let skipped = 0

  function addRow({ line, cells }: Row): string | undefined {
    watched.add(cells)
    const status = suppress ? OPTED_OUT : statuses.read(cells)
    if (status === 'missing') return `there is no status: ${toWidth(cells, names)}`
    if ('unknown' in status) {
      const cell = `${quote(status.unknown)} in the column ${quote(status.column)}`
      if (!unknown.has(cell)) unknown.set(cell, line)
      return undefined
    }
    const isSubscriber = status.status === 'subscribed'
    const text = isSubscriber || hasOptOutDates ? findDate(cells, columns) : (status.optedOutAt ?? '')
    const shown = findDateOrder(text)
    if (shown && shown !== 'unclear') orders.add(shown)
    if (status.status === 'skip') {
      skipped++
      return undefined
    }
    const addresses = parseOwnerAddresses(cells[address] ?? '')
    if (!addresses.ok) return addresses.reason
    const isUnclear = shown === 'unclear' && !dateOrder
    const parsed = isUnclear ? undefined : parseDate(text, dateOrder)
    // A person who left is suppressed also when the date cannot be read.
    if (isSubscriber && parsed && !parsed.ok) return parsed.reason
    const date = parsed?.ok ? parsed.value : undefined
    for (const email of addresses.value) {
      const row = isSubscriber ? { email, subscribedAt: date } : { email, optedOutAt: date }
      if (isUnclear) unclear.push({ row, line, text })
      if (isSubscriber) subscribers.push(row)
      else optOuts.push(row)
    }
    return undefined
  }

  for (const row of table.rows()) {
    if (row.text !== undefined) checkQuotes(row, table, address, name)
    const reason = row.problem ?? findExtraCell(row.cells, names) ?? addRow(row)
    if (reason === undefined) continue
    rejected.push({ line: row.line, reason, address: (row.cells[address] ?? '').slice(0, MAX_ADDRESS_TEXT) })
  }
  if (unknown.size > 0) throw toUnknownFailure(name, unknown)
  watched.check(name)

  // Two dates that show different orders show none.
  const [order] = orders.size === 1 ? orders : []
  const dropped = new Set<object>()
  for (const { row, line, text } of unclear) {
    const date = parseDate(text, order)
    if ('optedOutAt' in row) row.optedOutAt = date.ok ? date.value : undefined
    else if (date.ok) row.subscribedAt = date.value
    else {
      dropped.add(row)
      rejected.push({ line, reason: date.reason, address: row.email })
    }
  }
  if (dropped.size > 0) rejected.sort((one, other) => one.line - other.line)

  const toNames = (indexes: readonly number[]) => (table.names ? indexes.map((index) => names[index] ?? '') : [])
  return {
    subscribers: dropped.size > 0 ? subscribers.filter((row) => !dropped.has(row)) : subscribers,
    optOuts,
    rejected,
    skipped,
    columns: {
      email: toNames([address]),
      date: toNames(columns.dates),
      status: toNames(statuses.columns),
      unread: toNames(unread),
    },
    statuses: statuses.counts(),
    unusedTreatments: statuses.findUnused(),
  }
}

const OPTED_OUT = { status: 'suppressed', optedOutAt: undefined } as const

/** A row whose date needs the order that another row may show. */
interface Unclear {
  readonly row:
    | { readonly email: Address; subscribedAt: Date | undefined }
    | { readonly email: Address; optedOutAt: Date | undefined }
  readonly line: number
  readonly text: string
}

/** The first cell that has a date. A flag in a column such as `Subscribed` is not a date. */
function findDate(cells: readonly string[], { dates }: Columns): string {
  for (const index of dates) {
    const text = toDateText(cells[index])
    if (text.trim() !== '' && !findFlag(toPlain(text))) return text
  }
  return ''
}

/** A cell after the last column means that a delimiter is not quoted, so the other cells may be in the wrong columns. */
function findExtraCell(cells: readonly string[], names: readonly string[]): string | undefined {
  if (cells.length <= names.length || cells.slice(names.length).every((cell) => cell.trim() === '')) return undefined
  return toWidth(cells, names)
}

function toWidth(cells: readonly string[], names: readonly string[]): string {
  return `the row has ${cells.length} columns, the header ${names.length}`
}

/** Most unknown values in the message. */
const MAX_UNKNOWN = 5

function toUnknownFailure(name: string, unknown: ReadonlyMap<string, number>): Failure {
  const lines = [...unknown].map(([cell, line]) => `line ${line}: ${cell}`)
  const also = lines.slice(1, MAX_UNKNOWN).join('; ')
  const more = lines.length > MAX_UNKNOWN ? ` and ${lines.length - MAX_UNKNOWN} more` : ''
  return new Failure(
    `${name}: ${lines[0]} is not a known status${also && ` (also ${also}${more})`}; nothing was imported. Say what it means with ` +
      '--treat VALUE=subscribed, --treat VALUE=suppressed or --treat VALUE=skip, or leave the column out with --ignore-column NAME',
  )
}
