/**
 * Plans how to read a table: what each column is, the order of dates, and the questions that only the owner can answer.
 * The first rows show the address and the date, and one pass over all rows shows the rest. Nothing is read yet.
 */

import { Failure } from '../../failure.ts'
import { parseOwnerAddresses } from './addresses.ts'
import { type DateOrder, findDateOrder, isBlank, toDateText } from './dates.ts'
import { type Column, Evidence, findSuspicion, type Suspicion } from './evidence.ts'
import { ADDRESS_NAMES, DATE_NAMES, OWN_NAMES } from './programs.ts'
import { findStatusColumns, type Meaning, readStatus, type StatusColumn } from './statuses.ts'
import type { Table } from './table.ts'
import { findFlag, type Status, toPlain } from './words.ts'

/** How the owner says to read a table. A column is given by its name, or by its number from 1. */
export interface PlanOptions {
  /** The column of the address. Default: found by its name, or else the one column that holds addresses. */
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

/** A value of a status column. */
export interface CountedValue extends Meaning {
  /** How many rows have it. */
  readonly rows: number
  /** The first of them, from 1. */
  readonly line: number
}

/** How to read a table. Columns are indexes of the cells in a row. */
export interface Plan {
  /** The names of the columns. A column without a name is `column` with its number. */
  readonly names: readonly string[]
  readonly address: number
  /** The date is in the first one of these that has one. */
  readonly dates: readonly number[]
  readonly statuses: readonly StatusColumn[]
  readonly unread: readonly number[]
  readonly dateOrder: DateOrder | undefined
  readonly suppress: boolean
  /** Of the status columns. The table must not be read before each has a status. */
  readonly values: readonly CountedValue[]
  /** Values of `treat` that no row has. */
  readonly unusedTreatments: readonly string[]
  /**
   * The columns that may say who left, the surest first. The table must not be read before the owner says what they are.
   */
  readonly suspects: readonly Evidence[]
  /** Names of columns that have only dates, when no column of the date was found. */
  readonly possibleDates: readonly string[]
}

/** Whether only the owner can say how to read the table. */
export function hasQuestions({ suspects, values }: Plan): boolean {
  return suspects.length > 0 || values.some(({ status }) => !status)
}

/** The header of a file of rejected rows. */
export const REJECTED_COLUMNS = ['line', 'reason', 'address'] as const

/** @throws Failure when the table cannot be a list, or has no column that an option names */
export function createPlan(table: Table, options: PlanOptions): Plan {
  const { file } = table
  const { suppress = false, treat = new Map(), column, dateColumn } = options
  const names = (table.names ?? ['address']).map((name, index) => name.trim() || `column ${index + 1}`)
  if (names.join() === REJECTED_COLUMNS.join()) {
    throw new Failure(`${file}: it is a file of rejected rows. Correct these rows in the list, and import that again`)
  }
  const find = (given: string) => findColumns(names, given, file)
  const ignored = (options.ignoreColumn ?? []).flatMap(find)
  const named = (options.statusColumn ?? []).flatMap(find)
  const statuses = suppress ? [] : findStatusColumns(names, { named, ignored }, treat)
  const columns = toColumns(table, names)
  const readable = columns.filter(({ index }) => !ignored.includes(index))
  const address = column === undefined ? findAddress(columns, readable, file) : find(column)[0]
  // With `suppress`, a date is that of the opt-out, and only the owner can say which column has it.
  const found = suppress || dateColumn === 'none' ? [] : findDates(readable)
  const dates = dateColumn && dateColumn !== 'none' ? [find(dateColumn)[0]] : found
  const dated = [...dates, ...statuses.map(({ index }) => index)]
  const isRead = (index: number) => index === address || dated.includes(index)
  const watched = suppress ? [] : readable.filter(({ index }) => !isRead(index))
  const evidence = watched.map((column) => new Evidence(column))
  const { orders, values } = surveyRows(table, { statuses, dated, evidence })
  const hasOwnName = columns.some(({ plain }) => OWN_NAMES.has(plain))
  const saysWhoLeft = hasOwnName || values.some(({ showsUnsubscribed }) => showsUnsubscribed)
  const select = (kind: Suspicion) => evidence.filter((found) => findSuspicion(found, saysWhoLeft) === kind)
  const isUndated = dates.length === 0 && dateColumn === undefined
  return {
    names: table.names ? names : [],
    address,
    dates,
    statuses,
    unread: [...names.keys()].filter((index) => !isRead(index)),
    // Two dates that show different orders show none.
    dateOrder: options.dateOrder ?? (orders.size === 1 ? [...orders][0] : undefined),
    suppress,
    values,
    unusedTreatments: [...treat.keys()].filter((value) => !values.some(({ treatment }) => treatment === value)),
    suspects: [...select('words'), ...select('shape')],
    possibleDates: evidence.flatMap(({ dates, column }) => (isUndated && dates ? column.option : [])),
  }
}

/** Finds the columns with the name, or the number, that an option gives. @throws Failure that lists the columns */
function findColumns(names: readonly string[], given: string, file: string): readonly [number, ...number[]] {
  const name = names.find((exact) => exact === given) ?? names.find((other) => toPlain(other) === toPlain(given))
  const [first, ...others] = [...names.keys()].filter((index) => names[index] === name)
  if (first !== undefined) return [first, ...others]
  const number = /^[1-9]\d{0,5}$/.test(given) ? Number(given) : Number.POSITIVE_INFINITY
  if (number <= names.length) return [number - 1]
  throw new Failure(`${file}: there is no column ${JSON.stringify(given)}. ${listNames(names)}`)
}

/** Finds the address. @param readable the columns that may have it by their name. @throws Failure when none or several may hold it */
function findAddress(columns: readonly Column[], readable: readonly Column[], file: string): number {
  // At least half of the cells that are not empty hold an address.
  const holders = columns.filter(({ sample }) => {
    const addresses = sample.filter((cell) => cell.includes('@') && parseOwnerAddresses(cell).ok).length
    return addresses > 0 && addresses >= sample.length / 2
  })
  const named = ADDRESS_NAMES.flatMap((name) => readable.find(({ plain }) => plain === name) ?? [])
  const [only] = holders
  const address = named.find((column) => holders.includes(column)) ?? only ?? named[0]
  if (address) {
    // Two columns of the same name may hold different people.
    const sameName = readable.filter(({ plain }) => plain === address.plain)
    const rivals = named.includes(address) ? sameName : columns
    if (!holders.some((column) => column !== address && rivals.includes(column))) return address.index
  }
  const problem = only === undefined ? 'there is no address column' : 'several columns may hold the address'
  throw new Failure(`${file}: ${problem}; name it with --column. ${listNames(columns.map(({ name }) => name))}`)
}

/** The columns of the date, the most specific name first. Exports of listmonk have the date of our export in a cell of JSON. */
function findDates(columns: readonly Column[]): readonly number[] {
  const select = (name: string, isDate: (cells: readonly string[]) => boolean) =>
    columns.filter(({ plain, sample }) => plain === name && isDate(sample)).slice(0, 1)
  // A column such as "Registered" may have yes and no only.
  const find = (name: string) =>
    select(name, (cells) => cells.length === 0 || !cells.every((cell) => findFlag(toPlain(cell))))
  const dates = DATE_NAMES.map(find).find((found) => found.length > 0) ?? []
  // Mailchimp leaves OPTIN_TIME empty when the person confirmed only.
  const confirmed = dates.some(({ plain }) => plain === 'optintime') ? find('confirmtime') : []
  const json = select('attributes', (cells) => cells.some((cell) => cell.startsWith('{') && toDateText(cell) !== ''))
  return [...json, ...dates, ...confirmed].map(({ index }) => index)
}

/** Lists the columns. Shortened, because the first line of a file that is not a list may be long. */
function listNames(names: readonly string[]): string {
  const shown = names.slice(0, 20).map((name) => JSON.stringify(name.slice(0, 60)))
  return `The columns are: ${shown.join(', ')}${names.length > shown.length ? ', and others' : ''}`
}

/** Rows that show which columns hold addresses and dates. */
const SAMPLE = 1000

function toColumns(table: Table, names: readonly string[]): readonly Column[] {
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

/** Looks at every row. @param columns those of statuses, the indexes of those with dates, and those that may say who left */
function surveyRows(
  table: Table,
  columns: { statuses: readonly StatusColumn[]; dated: readonly number[]; evidence: readonly Evidence[] },
) {
  const orders = new Set<DateOrder>()
  const values = new Map<Meaning, { rows: number; readonly line: number }>()
  for (const { cells, line, problem } of table.rows()) {
    if (problem !== undefined) continue
    const { meanings, status } = readStatus(columns.statuses, cells)
    for (const meaning of meanings) {
      // What is unclear about somebody who left anyway is no question.
      if (meaning && (meaning.status || !status)) values.getOrInsertComputed(meaning, () => ({ rows: 0, line })).rows++
    }
    for (const index of columns.dated) {
      const order = findDateOrder(cells[index] ?? '')
      if (order) orders.add(order)
    }
    // What a column says about somebody who is not added is no evidence.
    if (status ? status !== 'subscribed' : meanings.includes(undefined)) continue
    for (const found of columns.evidence) found.add(cells[found.column.index] ?? '')
  }
  const counted = [...values].map(([meaning, count]): CountedValue => ({ ...meaning, ...count }))
  return { orders, values: [...Map.groupBy(counted, ({ column }) => column).values()].flat() }
}
