/** Finds the columns of the address and of the date: by the names that other programs use, or by their cells. */

import { Failure } from '../../failure.ts'
import { parseOwnerAddresses } from './addresses.ts'
import { ADDRESS_NAMES, DATE_NAMES, quote, toPlain } from './names.ts'
import { parseObject, type Row, type Table } from './table.ts'

/** Which columns to read. Each is given by its name, or by its number from 1. */
export interface ColumnOptions {
  /** Default: found by its name, or else the one column that holds addresses. */
  readonly column?: string | undefined
  /** `none` reads no date. Default: found by its name. */
  readonly dateColumn?: string | undefined
  /** Status columns besides those that are known. */
  readonly statusColumns?: readonly string[] | undefined
  /** Columns that are not read, also if their status is known. */
  readonly ignoreColumns?: readonly string[] | undefined
}

/** Indexes of the cells in a row. */
export interface Columns {
  readonly address: number
  /** The date is in the first one of these that has one. */
  readonly dates: readonly number[]
  readonly statuses: readonly number[]
  readonly ignored: readonly number[]
}

/** Rows that show what a column holds. */
const SAMPLE = 1000

/**
 * Finds the columns of a table that has names.
 *
 * @throws Failure that lists the columns: there is no address column, or none that an option names
 */
export function findColumns(table: Table, options: ColumnOptions, file: string): Columns {
  const { names = [] } = table
  const { column, dateColumn, statusColumns = [], ignoreColumns = [] } = options
  const sample = Iterator.from(table.rows()).take(SAMPLE).toArray()

  function find(given: string): number {
    const exact = names.findIndex((name) => name.trim() === given)
    const index = exact < 0 ? names.findIndex((name) => toPlain(name) === toPlain(given)) : exact
    if (index >= 0) return index
    const number = /^[1-9]\d{0,5}$/.test(given) ? Number(given) : Number.POSITIVE_INFINITY
    if (number <= names.length) return number - 1
    throw new Failure(`${file}: there is no column ${JSON.stringify(given)}. ${listNames(names)}`)
  }

  // Columns may have the same name.
  const findAll = (given: string) => {
    const first = find(given)
    return [...names.keys()].filter((index) => index === first || names[index] === names[first])
  }

  const ignored = ignoreColumns.flatMap(findAll)
  const read = names.map((name, index) => (ignored.includes(index) ? '' : toPlain(name)))
  return {
    address: column === undefined ? findAddress(names, read, sample, file) : find(column),
    dates: dateColumn === undefined ? findDates(read, sample) : dateColumn === 'none' ? [] : [find(dateColumn)],
    statuses: [...new Set(statusColumns.flatMap(findAll))],
    ignored,
  }
}

function findAddress(names: readonly string[], plain: readonly string[], sample: readonly Row[], file: string): number {
  const holders = names.flatMap((_, index) => (holdsAddresses(sample, index) ? [index] : []))
  const named = ADDRESS_NAMES.flatMap((name) => (plain.includes(name) ? [plain.indexOf(name)] : []))
  const [only] = holders
  const address = named.find((index) => holders.includes(index)) ?? only ?? named[0]
  if (address !== undefined) {
    const isNamed = named.includes(address)
    // Two columns of the same name may hold different people.
    const rivals = holders.filter((index) => index !== address && (!isNamed || plain[index] === plain[address]))
    if (rivals.length === 0) return address
  }
  const problem = only === undefined ? 'there is no address column' : 'several columns may hold the address'
  throw new Failure(`${file}: ${problem}; name it with --column. ${listNames(names)}`)
}

/** Whether at least half of the cells that are not empty hold an address. */
function holdsAddresses(sample: readonly Row[], index: number): boolean {
  const cells = sample.map(({ cells }) => cells[index]?.trim() ?? '').filter((cell) => cell !== '')
  const valid = cells.filter((cell) => cell.includes('@') && parseOwnerAddresses(cell).ok).length
  return valid > 0 && valid >= cells.length / 2
}

/** The column with the most specific name. Exports of listmonk have the date of our export in a cell of JSON. */
function findDates(plain: readonly string[], sample: readonly Row[]): number[] {
  const toIndexes = (name: string | undefined) =>
    name !== undefined && plain.includes(name) ? [plain.indexOf(name)] : []
  const name = DATE_NAMES.find((candidate) => plain.includes(candidate))
  // Mailchimp leaves OPTIN_TIME empty when the person confirmed only.
  const dates = [...toIndexes(name), ...(name === 'optintime' ? toIndexes('confirmtime') : [])]
  const attributes = toIndexes('attributes').filter((index) =>
    sample.some(({ cells }) => cells[index]?.startsWith('{') && toDateText(cells[index]) !== ''),
  )
  return [...attributes, ...dates]
}

/** The text of a date. In a cell of JSON, it is the member `subscribed_at`. */
export function toDateText(cell = ''): string {
  const date = cell.startsWith('{') ? parseObject(cell)?.subscribed_at : cell
  return typeof date === 'string' ? date : ''
}

/** Lists the columns. Shortened, because the first line of a file that is not a list may be long. */
function listNames(names: readonly string[]): string {
  const shown = names.slice(0, 20).map((name) => quote(name))
  const more = names.length > shown.length ? ` and ${names.length - shown.length} more` : ''
  return `The columns are: ${shown.join(', ')}${more}`
}
