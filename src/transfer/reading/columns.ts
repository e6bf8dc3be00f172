/** Finds what each column of a table is, by its name. The first rows show whether it holds an address or a date. */

import { Failure } from '../../failure.ts'
import { parseOwnerAddresses } from './addresses.ts'
import type { Table } from './csv.ts'
import { type DateOrder, isBlank, isDate, toDateText } from './dates.ts'
import { ADDRESS_NAMES, DATE_NAMES } from './programs.ts'
import { findStatusColumns, type StatusColumn } from './statuses.ts'
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

/** A column of a table. */
export interface Column {
  /** Its index in the cells of a row. */
  readonly index: number
  /** Its name; `column` with its number if it has none. */
  readonly name: string
  /** The name as it is compared. */
  readonly plain: string
  /** Its name in an option, or its number if another column has the name. */
  readonly option: string
}

/** What each column is. Columns are indexes of the cells in a row, except for those that are not read. */
export interface Columns {
  readonly names: readonly string[]
  readonly address: number
  /** The date is in the first one of these that has one. */
  readonly dates: readonly number[]
  readonly statuses: readonly StatusColumn[]
  /** Columns that are not read, without those that the owner ignores. */
  readonly unread: readonly Column[]
  readonly ignored: readonly Column[]
}

/** The header of a file of rejected rows. */
export const REJECTED_COLUMNS = ['line', 'reason', 'cell'] as const

/** Rows that show which columns hold addresses and dates. */
const SAMPLE = 1000

interface SampledColumn extends Column {
  /** Its cells in the first rows, trimmed, without blank ones. */
  readonly sample: readonly string[]
}

/** @throws Failure when the table cannot be a list, or has no column that an option names */
export function findColumns(table: Table, options: ReadOptions): Columns {
  const { file } = table
  const { suppress = false, treat = new Map(), column, dateColumn } = options
  const names = (table.names ?? ['address']).map((name, index) => name.trim() || `column ${index + 1}`)
  if (names.join() === REJECTED_COLUMNS.join()) {
    throw new Failure(`${file}: it is a file of rejected rows. Correct these rows in the list, and import that again`)
  }
  const find = (given: string) => findNamed(names, given, file)
  const ignored = (options.ignoreColumn ?? []).flatMap(find)
  const named = (options.statusColumn ?? []).flatMap(find)
  const statuses = suppress ? [] : findStatusColumns(names, { named, ignored }, treat)
  const columns = sampleColumns(table, names)
  const readable = columns.filter(({ index }) => !ignored.includes(index))
  const address = column === undefined ? findAddress(readable) : find(column)[0]
  if (address === undefined) {
    throw new Failure(`${file}: there is no address column; name it with --column. ${listNames(names)}`)
  }
  // With `suppress`, a date is that of the opt-out, and only the owner can say which column has it.
  const found = suppress || dateColumn === 'none' ? [] : findDates(readable)
  const dates = dateColumn && dateColumn !== 'none' ? [find(dateColumn)[0]] : found
  const dated = [...dates, ...statuses.map(({ index }) => index)]
  const isUnread = ({ index }: Column) => index !== address && !dated.includes(index)
  return {
    names,
    address,
    dates,
    statuses,
    unread: readable.filter(isUnread),
    ignored: columns.filter((one) => isUnread(one) && !readable.includes(one)),
  }
}

/** Finds the columns with the name, or the number, that an option gives. @throws Failure that lists the columns */
function findNamed(names: readonly string[], given: string, file: string): readonly [number, ...number[]] {
  const name = names.find((exact) => exact === given) ?? names.find((other) => toPlain(other) === toPlain(given))
  const [first, ...others] = [...names.keys()].filter((index) => names[index] === name)
  if (first !== undefined) return [first, ...others]
  const number = /^[1-9]\d{0,5}$/.test(given) ? Number(given) : Number.POSITIVE_INFINITY
  if (number <= names.length) return [number - 1]
  throw new Failure(`${file}: there is no column ${JSON.stringify(given)}. ${listNames(names)}`)
}

const holdsAddress = (cell: string) => cell.includes('@') && parseOwnerAddresses(cell).ok

/** Finds the address: a column of that name that holds one, or else the column that holds most. */
function findAddress(columns: readonly SampledColumn[]): number | undefined {
  const named = ADDRESS_NAMES.flatMap((name) => columns.find(({ plain }) => plain === name) ?? [])
  const counted = columns.map((column) => ({ column, addresses: column.sample.filter(holdsAddress).length }))
  const [most] = counted.filter(({ addresses }) => addresses > 0).toSorted((one, two) => two.addresses - one.addresses)
  const known = named.find(({ sample }) => sample.some(holdsAddress))
  return (known ?? most?.column ?? named[0])?.index
}

/** The columns of the date, the most specific name first. Exports of listmonk and Keila have that of our export in JSON. */
function findDates(columns: readonly SampledColumn[]): readonly number[] {
  const select = (name: string, isRead: (cell: string) => boolean) =>
    columns.filter(({ plain, sample }) => plain === name && (sample.length === 0 || sample.some(isRead))).slice(0, 1)
  // A column such as "Registered" may have yes and no only.
  const find = (name: string) => select(name, isDate)
  const dates = DATE_NAMES.map(find).find((found) => found.length > 0) ?? []
  // Mailchimp leaves OPTIN_TIME empty when the person confirmed only.
  const confirmed = dates.some(({ plain }) => plain === 'optintime') ? find('confirmtime') : []
  const json = ['attributes', 'data'].flatMap((name) =>
    select(name, (cell) => cell.startsWith('{') && toDateText(cell) !== ''),
  )
  return [...json, ...dates, ...confirmed].map(({ index }) => index)
}

/** Lists the columns. Shortened, because the first line of a file that is not a list may be long. */
function listNames(names: readonly string[]): string {
  const shown = names.slice(0, 20).map((name) => JSON.stringify(name.slice(0, 60)))
  return `The columns are: ${shown.join(', ')}${names.length > shown.length ? ', and others' : ''}`
}

function sampleColumns(table: Table, names: readonly string[]): readonly SampledColumn[] {
  const rows = [...table.rows().take(SAMPLE)].filter(({ problem }) => problem === undefined)
  const plainNames = names.map(toPlain)
  return names.map((name, index) => {
    const plain = plainNames[index] ?? ''
    const sample = rows.map(({ cells }) => cells[index]?.trim() ?? '').filter((cell) => !isBlank(cell))
    // The name would find another column of that name, or the one with that number.
    const isOnly = plainNames.indexOf(plain) === plainNames.lastIndexOf(plain)
    const option = isOnly && !/^\d+$|\p{Cc}/u.test(name) ? name : String(index + 1)
    return { index, name, plain, option, sample }
  })
}
