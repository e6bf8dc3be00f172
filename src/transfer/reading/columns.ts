/** Finds what each column of a table is, by its name. The first rows show whether it holds an address or a date. */

import { Failure } from '../../failure.ts'
import { parseOwnerAddresses } from './addresses.ts'
import type { Table } from './csv.ts'
import { type DateOrder, isBlank, isDate, toDateText } from './dates.ts'
import { ADDRESS_NAMES, DATE_NAMES } from './programs.ts'
import { type Column, findStatusColumns, type StatusColumn } from './statuses.ts'
import { type Status, toPlain } from './words.ts'

/** How the owner says to read a table. A column is given by its name, or by its number from 1. */
export interface ReadOptions {
  /** The column of the address. Default: found by its name, or else the column that holds most addresses. */
  readonly column?: string | undefined
  /** `none` reads no date. Default: found by its name. */
  readonly dateColumn?: string | undefined
  /** Status columns besides those that are known. */
  readonly statusColumn?: readonly string[] | undefined
  /** Columns that are not read, also if their status is known. */
  readonly ignoreColumn?: readonly string[] | undefined
  /** The order of dates with slashes or hyphens. Default: the order that a date of the list shows. */
  readonly dateOrder?: DateOrder | undefined
  /** What values mean, by `VALUE` or `COLUMN:VALUE`. See docs/import.md for `*`. */
  readonly treat?: ReadonlyMap<string, Status> | undefined
  /** Whether everybody in the list has opted out. No status is read; `dateColumn` holds the dates of the opt-outs. */
  readonly suppress?: boolean | undefined
}

/** What each column of a table is. A status column may have the date too. */
export interface Columns {
  readonly all: readonly Column[]
  readonly address: Column
  /** The date is in the first one of these that has one. */
  readonly dates: readonly Column[]
  readonly statuses: readonly StatusColumn[]
  /** Columns that are not read, and those of them that the owner does not ignore. */
  readonly unread: readonly Column[]
  readonly unknown: readonly Column[]
}

/** The header of a file of rejected rows. */
export const REJECTED_COLUMNS = ['line', 'reason', 'cell'] as const

/** Rows that show which columns hold addresses and dates. */
const SAMPLE = 1000

/** @throws Failure when the table cannot be a list, or has no column that an option names */
export function findColumns(table: Table, options: ReadOptions): Columns {
  const { column, dateColumn, statusColumn = [], ignoreColumn = [], suppress = false, treat = new Map() } = options
  const all = createColumns(table)
  const stop = (reason: string) => new Failure(`${table.file}: ${reason}`)
  if (all.map(({ name }) => name).join() === REJECTED_COLUMNS.join()) {
    throw stop('it is a file of rejected rows. Correct these rows in the list, and import that again')
  }
  const find = (given: string) => {
    const found = findNamed(all, given)
    if (found.length === 0) throw stop(`there is no column ${JSON.stringify(given)}. ${listNames(all)}`)
    return found
  }
  const [named, ignored] = [statusColumn.flatMap(find), ignoreColumn.flatMap(find)]
  const readable = all.filter((one) => !ignored.includes(one))
  const [address] = column === undefined ? findAddress(readable) : find(column)
  if (!address) throw stop(`there is no address column; name it with --column. ${listNames(all)}`)
  const statuses = suppress ? [] : findStatusColumns(all, { named, ignored }, treat)
  // With `suppress`, a date is that of the opt-out, and only the owner can say which column has it.
  const usual = suppress ? [] : findDates(readable)
  const dates = dateColumn === undefined ? usual : dateColumn === 'none' ? [] : find(dateColumn).slice(0, 1)
  const read = [address, ...dates, ...statuses.map((status) => status.column)]
  const unread = all.filter((one) => !read.includes(one))
  return { all, address, dates, statuses, unread, unknown: unread.filter((one) => !ignored.includes(one)) }
}

/** Finds the columns with the name, or the number, that an option gives. */
function findNamed(columns: readonly Column[], given: string): readonly Column[] {
  const exact = columns.filter(({ name }) => name === given)
  const alike = columns.filter(({ plain }) => plain === toPlain(given))
  const numbered = columns.filter(({ index }) => String(index + 1) === given)
  return [exact, alike, numbered].find((found) => found.length > 0) ?? []
}

const holdsAddress = (cell: string) => cell.includes('@') && parseOwnerAddresses(cell).ok

/** Finds the address: a column of that name that holds one, or else the column that holds most. It is the first one. */
function findAddress(columns: readonly Column[]): readonly Column[] {
  const named = ADDRESS_NAMES.flatMap((name) => columns.find(({ plain }) => plain === name) ?? [])
  const known = named.filter(({ sample }) => sample.some(holdsAddress))
  const counted = columns.map((column) => ({ column, addresses: column.sample.filter(holdsAddress).length }))
  const most = counted.filter(({ addresses }) => addresses > 0).toSorted((one, two) => two.addresses - one.addresses)
  return [...known, ...most.map(({ column }) => column), ...named]
}

/** The columns of the date, the most specific name first. Exports of listmonk and Keila have that of our export in JSON. */
function findDates(columns: readonly Column[]): readonly Column[] {
  const select = (name: string, isRead: (cell: string) => boolean) =>
    columns.filter(({ plain, sample }) => plain === name && (sample.length === 0 || sample.some(isRead))).slice(0, 1)
  // A column such as "Registered" may have yes and no only.
  const find = (name: string) => select(name, isDate)
  const dates = DATE_NAMES.map(find).find((found) => found.length > 0) ?? []
  // Mailchimp leaves OPTIN_TIME empty when the person confirmed only.
  const confirmed = dates.some(({ plain }) => plain === 'optintime') ? find('confirmtime') : []
  const isJson = (cell: string) => cell.startsWith('{') && toDateText(cell) !== ''
  return [...['attributes', 'data'].flatMap((name) => select(name, isJson)), ...dates, ...confirmed]
}

/** Lists the columns. Shortened, because the first line of a file that is not a list may be long. */
function listNames(columns: readonly Column[]): string {
  const shown = columns.slice(0, 20).map(({ name }) => JSON.stringify(name.slice(0, 60)))
  return `The columns are: ${shown.join(', ')}${columns.length > shown.length ? ', and others' : ''}`
}

function createColumns(table: Table): readonly Column[] {
  const rows = [...table.rows().take(SAMPLE)].filter(({ problem }) => problem === undefined)
  const names = (table.names ?? ['address']).map((name, index) => name.trim() || `column ${index + 1}`)
  const plainNames = names.map(toPlain)
  return names.map((name, index) => {
    const plain = plainNames[index] ?? ''
    // The name would find another column of that name, or the one with that number.
    const isOnly = plainNames.indexOf(plain) === plainNames.lastIndexOf(plain)
    const option = isOnly && !/^\d+$|\p{Cc}/u.test(name) ? name : String(index + 1)
    const sample = rows.map(({ cells }) => cells[index]?.trim() ?? '').filter((cell) => !isBlank(cell))
    const holds = { values: new Map(), cells: { empty: 0, addresses: 0, others: 0 }, left: undefined }
    return { index, name, plain, option, sample, ...holds }
  })
}
