/** Finds the columns of the address and of the date: by the names that other programs use, or by their cells. */

import { Failure } from '../../failure.ts'
import { parseOwnerAddresses } from './addresses.ts'
import { isBlank } from './dates.ts'
import { ADDRESS_NAMES, DATE_NAMES, quote, toPlain } from './names.ts'
import { parseObject } from './table.ts'
import { findFlag } from './words.ts'

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

/** What a column holds in the first rows. */
export interface Sample {
  filled: number
  addresses: number
  flags: number
  /** Objects of JSON that have our date. */
  objects: number
}

export const createSample = (): Sample => ({ filled: 0, addresses: 0, flags: 0, objects: 0 })

/** Adds a cell to the sample of its column. */
export function addToSample(sample: Sample, text = ''): void {
  const cell = text.trim()
  if (isBlank(cell)) return
  sample.filled++
  if (cell.includes('@') && parseOwnerAddresses(cell).ok) sample.addresses++
  if (findFlag(toPlain(cell))) sample.flags++
  if (cell.startsWith('{') && toDateText(cell) !== '') sample.objects++
}

/** Finds the column that an option names. @throws Failure that lists the columns */
export function findColumn(names: readonly string[], given: string, file: string): number {
  const exact = names.findIndex((name) => name.trim() === given)
  const index = exact < 0 ? names.findIndex((name) => toPlain(name) === toPlain(given)) : exact
  if (index >= 0) return index
  const number = /^[1-9]\d{0,5}$/.test(given) ? Number(given) : Number.POSITIVE_INFINITY
  if (number <= names.length) return number - 1
  throw new Failure(`${file}: there is no column ${JSON.stringify(given)}. ${listNames(names)}`)
}

/** Finds all columns with the name that an option gives. @throws Failure that lists the columns */
export function findColumns(names: readonly string[], given: string, file: string): readonly number[] {
  const first = findColumn(names, given, file)
  return [...names.keys()].filter((index) => index === first || names[index] === names[first])
}

/**
 * Finds the column of the address.
 *
 * @param plain the plain names, empty for a column that is not read
 * @throws Failure that lists the columns: none or several may hold the address
 */
export function findAddress(
  names: readonly string[],
  plain: readonly string[],
  samples: readonly Sample[],
  file: string,
): number {
  // At least half of the cells that are not empty hold an address.
  const holders = samples.flatMap(({ filled, addresses }, index) =>
    addresses > 0 && addresses >= filled / 2 ? [index] : [],
  )
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

/** The columns of the date, the most specific name first. Exports of listmonk have the date of our export in a cell of JSON. */
export function findDates(plain: readonly string[], samples: readonly Sample[]): readonly number[] {
  const toIndexes = (name: string | undefined) =>
    name !== undefined && plain.includes(name) ? [plain.indexOf(name)] : []
  // A column such as "Registered" may have yes and no.
  const hasFlags = (index: number) =>
    (samples[index]?.flags ?? 0) > 0 && samples[index]?.flags === samples[index]?.filled
  const name = DATE_NAMES.find((candidate) => toIndexes(candidate).some((index) => !hasFlags(index)))
  // Mailchimp leaves OPTIN_TIME empty when the person confirmed only.
  const dates = [...toIndexes(name), ...(name === 'optintime' ? toIndexes('confirmtime') : [])]
  return [...toIndexes('attributes').filter((index) => (samples[index]?.objects ?? 0) > 0), ...dates]
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
