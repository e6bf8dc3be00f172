/** Finds the columns of the address and of the date: by the names that other programs use, or by their cells. */

import { Failure } from '../../failure.ts'
import { parseOwnerAddresses } from './addresses.ts'
import { toDateText } from './dates.ts'
import { ADDRESS_NAMES, DATE_NAMES, toPlain } from './names.ts'
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

/** Finds the columns with the name, or the number, that an option gives. @throws Failure that lists the columns */
export function findColumns(names: readonly string[], given: string, file: string): readonly [number, ...number[]] {
  const name = names.find((exact) => exact === given) ?? names.find((other) => toPlain(other) === toPlain(given))
  const [first, ...others] = [...names.keys()].filter((index) => names[index] === name)
  if (first !== undefined) return [first, ...others]
  const number = /^[1-9]\d{0,5}$/.test(given) ? Number(given) : Number.POSITIVE_INFINITY
  if (number <= names.length) return [number - 1]
  throw new Failure(`${file}: there is no column ${JSON.stringify(given)}. ${listNames(names)}`)
}

/** The cells of each column in the first rows, trimmed, without blank ones. */
export type Sample = readonly (readonly string[])[]

/** Finds the address. @param plain names, empty for a column to ignore. @throws Failure when none or several may hold it */
export function findAddress(names: readonly string[], plain: readonly string[], sample: Sample, file: string): number {
  // At least half of the cells that are not empty hold an address.
  const holders = [...names.keys()].filter((index) => {
    const cells = sample[index] ?? []
    const addresses = cells.filter((cell) => cell.includes('@') && parseOwnerAddresses(cell).ok).length
    return addresses > 0 && addresses >= cells.length / 2
  })
  const named = ADDRESS_NAMES.map((name) => plain.indexOf(name)).filter((index) => index >= 0)
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
export function findDates(plain: readonly string[], sample: Sample): readonly number[] {
  const select = (name: string, isDate: (cells: readonly string[]) => boolean) =>
    plain.flatMap((other, index) => (other === name && isDate(sample[index] ?? []) ? index : [])).slice(0, 1)
  // A column such as "Registered" may have yes and no only.
  const find = (name: string) =>
    select(name, (cells) => cells.length === 0 || !cells.every((cell) => findFlag(toPlain(cell))))
  const dates = DATE_NAMES.map(find).find((found) => found.length > 0) ?? []
  // Mailchimp leaves OPTIN_TIME empty when the person confirmed only.
  const confirmed = dates.some((index) => plain[index] === 'optintime') ? find('confirmtime') : []
  const json = select('attributes', (cells) => cells.some((cell) => cell.startsWith('{') && toDateText(cell) !== ''))
  return [...json, ...dates, ...confirmed]
}

/** Lists the columns. Shortened, because the first line of a file that is not a list may be long. */
function listNames(names: readonly string[]): string {
  const shown = names.slice(0, 20).map((name) => JSON.stringify(name.slice(0, 60)))
  const more = names.length > shown.length ? ` and ${names.length - shown.length} more` : ''
  return `The columns are: ${shown.join(', ')}${more}`
}
