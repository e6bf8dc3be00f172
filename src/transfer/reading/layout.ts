/** The layout of a table: what each column is, by its name. The first rows show whether it holds an address or a date. */

import { Failure } from '../../failure.ts'
import { join, quote } from '../../words.ts'
import { parseOwnerAddresses } from './addresses.ts'
import type { Table } from './csv.ts'
import { type DateOrder, isBlank, isDate, toDateText } from './dates.ts'
import { ADDRESS_NAMES, DATE_NAMES, RULES } from './programs.ts'
import { createFindValue, type Treatments, type Value } from './statuses.ts'
import { toPlain } from './words.ts'

/** The kinds of doubts that `--accept` answers. docs/import.md says what each is about. */
export const DOUBTFUL = ['silence', 'words', 'lines', 'removals'] as const
export type Doubtful = (typeof DOUBTFUL)[number]

/** How the owner says to read a table, and answers doubts. A column is given by its name, or by its number from 1. */
export interface ReadOptions {
  /** The column of the address. Default: found by its name, or else the column that holds most addresses. */
  readonly column?: string | undefined
  /** `none` reads no date. Default: found by its name. */
  readonly dateColumn?: string | undefined
  /** Status columns besides those that are known. */
  readonly statusColumn?: readonly string[] | undefined
  /** Columns that are not read, also if their status is known. They are no doubt either. */
  readonly ignoreColumn?: readonly string[] | undefined
  /** The order of dates with slashes or hyphens. Default: the order that a date of the list shows. */
  readonly dateOrder?: DateOrder | undefined
  /** What values mean, by `VALUE` or `COLUMN:VALUE`. See docs/import.md for `*`. */
  readonly treat?: Treatments | undefined
  /**
   * Whether everybody in the list has opted out. Statuses can only contradict it, or have the date; `dateColumn` holds the dates of the
   * opt-outs.
   */
  readonly suppress?: boolean | undefined
  /** What becomes of people on the list who left on an unknown date. Default: they stay, with a doubt; with `suppress`, they are removed. */
  readonly undated?: 'remove' | 'keep' | undefined
  /** Doubts that the owner accepts. */
  readonly accept?: readonly Doubtful[] | undefined
  /** The file for rejected rows. */
  readonly rejected?: string | undefined
}

/** A column of a table. */
export interface Column {
  readonly index: number
  /** Its name; `column` with its number if it has none. */
  readonly name: string
  /** The name as it is compared. */
  readonly plain: string
  /** Its name in an option, or its number if another column has the name, or the name has a control character. */
  readonly option: string
  /** Its cells in the first rows, trimmed, without blank ones. */
  readonly sample: readonly string[]
}

export interface StatusColumn {
  readonly column: Column
  /** Whether it says who unsubscribed. Otherwise it says only who bounced, or confirmed. */
  readonly saysWhoLeft: boolean
  findValue(cell: string): Value
}

/** What each column of a table is. A status column may have the date too. */
export interface Layout {
  readonly all: readonly Column[]
  readonly address: Column
  /** The date is in the first one of these that has one. */
  readonly dates: readonly Column[]
  /** What says who left. With `suppress`, everybody left, and these can only contradict it, or have the date. */
  readonly statuses: readonly StatusColumn[]
  readonly unread: readonly Column[]
  /** Those of `unread` that the owner does not ignore. */
  readonly unanswered: readonly Column[]
}

/** The header of a file of rejected rows. */
export const REJECTED_COLUMNS = ['line', 'reason', 'cell'] as const

/** Rows that show which columns hold addresses and dates. */
const SAMPLE = 1000

/** @throws Failure when the table cannot be a list, or has no column that an option names */
export function findLayout(table: Table, options: ReadOptions): Layout {
  const { column, dateColumn, suppress = false } = options
  const all = createColumns(table)
  const columnNames = `The columns are: ${join(all.map(({ name }) => quote(name)))}`
  const stop = (reason: string) => new Failure(`${table.file}: ${reason}`)
  if (all.map(({ name }) => name).join() === REJECTED_COLUMNS.join()) {
    throw stop('it is a file of rejected rows. Correct these rows in the list, and import that again')
  }
  const find = (given: string) => {
    const found = findNamed(all, given)
    if (found.length === 0) throw stop(`there is no column ${JSON.stringify(given)}. ${columnNames}`)
    return found
  }
  const named = (options.statusColumn ?? []).flatMap(find)
  const ignored = (options.ignoreColumn ?? []).flatMap(find)
  const readable = all.filter((one) => !ignored.includes(one))
  const address = column === undefined ? findAddress(readable) : find(column)[0]
  if (!address) throw stop(`there is no address column; name it with --column. ${columnNames}`)
  const statuses = findStatuses(all, readable, named, options.treat ?? new Map())
  // With `suppress`, a date is that of the opt-out, and only the owner can say which column has it.
  const usual = suppress ? [] : findDates(readable)
  const dates = dateColumn === undefined ? usual : selectDates(dateColumn, usual, find)
  const read = [address, ...dates, ...statuses.map((status) => status.column)]
  const unread = all.filter((one) => !read.includes(one))
  const unanswered = unread.filter((one) => !ignored.includes(one))
  return { all, address, dates, statuses, unread, unanswered }
}

/**
 * The columns of the date that the owner names. If the owner names one of the usual columns, those before it are dropped, and those
 * behind it stay, for rows where it is empty: with OPTIN_TIME, a row without it still has the date of CONFIRM_TIME; with CONFIRM_TIME,
 * OPTIN_TIME is not read.
 */
function selectDates(
  given: string,
  usual: readonly Column[],
  find: (given: string) => readonly Column[],
): readonly Column[] {
  if (given === 'none') return []
  const named = find(given).slice(0, 1)
  const place = usual.findIndex((column) => named.includes(column))
  return place < 0 ? named : usual.slice(place)
}

/** Finds the columns with the name, or the number, that an option gives. */
function findNamed(columns: readonly Column[], given: string): readonly Column[] {
  const exact = columns.filter(({ name }) => name === given)
  const alike = columns.filter(({ plain }) => plain === toPlain(given))
  const numbered = columns.filter(({ index }) => String(index + 1) === given)
  return [exact, alike, numbered].find((found) => found.length > 0) ?? []
}

const holdsAddress = (cell: string) => cell.includes('@') && parseOwnerAddresses(cell).ok

/** Finds the address: a column of that name that holds one, or else the column that holds most. */
function findAddress(columns: readonly Column[]): Column | undefined {
  const named = ADDRESS_NAMES.flatMap((name) => columns.find(({ plain }) => plain === name) ?? [])
  const known = named.find(({ sample }) => sample.some(holdsAddress))
  if (known) return known
  const counted = columns.map((column) => ({ column, addresses: column.sample.filter(holdsAddress).length }))
  const [most] = counted.filter(({ addresses }) => addresses > 0).toSorted((one, two) => two.addresses - one.addresses)
  // When no row has an address, each is rejected with what is in that column.
  return most?.column ?? named[0]
}

/**
 * The columns of the date, the most specific name first. In exports of listmonk and Keila, the date that our own
 * export gave them is in a cell of JSON.
 */
function findDates(columns: readonly Column[]): readonly Column[] {
  const find = (names: readonly string[], isRead: (cell: string) => boolean) =>
    names.flatMap((name) => {
      const one = columns.find(({ plain }) => plain === name)
      return one && (one.sample.length === 0 || one.sample.some(isRead)) ? [one] : []
    })
  const inJson = find(['attributes', 'data'], (cell) => cell.startsWith('{') && toDateText(cell) !== '')
  // A column such as "Registered" may have yes and no only.
  const byName = find(DATE_NAMES, isDate)
  const first = byName.slice(0, 1)
  // Mailchimp leaves OPTIN_TIME empty when the person confirmed only.
  const isMailchimp = first[0]?.plain === 'optintime'
  const confirmed = isMailchimp ? byName.filter(({ plain }) => plain === 'confirmtime') : []
  return [...inJson, ...first, ...confirmed]
}

/** Finds the status columns: those that the owner named, and those of rules, if they are readable. A rule may ask for other columns. */
function findStatuses(
  all: readonly Column[],
  readable: readonly Column[],
  named: readonly Column[],
  treat: Treatments,
): readonly StatusColumn[] {
  const names = new Set(all.map(({ plain }) => plain))
  const has = (name: string) => names.has(toPlain(name))
  const possible = RULES.filter((rule) => (!rule.with || rule.with.some(has)) && !rule.without?.some(has))
  const rulesByName = Map.groupBy(
    possible.flatMap((rule) => rule.columns.map((name) => ({ plain: toPlain(name), rule }))),
    ({ plain }) => plain,
  )
  return all.flatMap((column) => {
    const rules = (rulesByName.get(column.plain) ?? []).map(({ rule }) => rule)
    const isNamed = named.includes(column)
    if (!isNamed && (rules.length === 0 || !readable.includes(column))) return []
    const saysWhoLeft = isNamed || rules.some(({ isPartial }) => !isPartial)
    return { column, saysWhoLeft, findValue: createFindValue(column.name, rules, treat, isNamed) }
  })
}

function createColumns(table: Table): readonly Column[] {
  const rows = [...table.rows().take(SAMPLE)].filter(({ problem }) => problem === undefined)
  const names = (table.names ?? ['address']).map((name, index) => name.trim() || `column ${index + 1}`)
  const plainNames = names.map(toPlain)
  const counts = new Map<string, number>()
  for (const plain of plainNames) counts.set(plain, (counts.get(plain) ?? 0) + 1)
  return names.map((name, index) => {
    const plain = plainNames[index] ?? ''
    // The name would find another column of that name too.
    const isOnly = counts.get(plain) === 1
    const option = isOnly && !/\p{Cc}/u.test(name) ? name : String(index + 1)
    const sample = rows.map(({ cells }) => cells[index]?.trim() ?? '').filter((cell) => !isBlank(cell))
    return { index, name, plain, option, sample }
  })
}
