/** Finds the columns of the address and of its date, by the names that other programs use. */

import { Failure } from '../../failure.ts'

/** Indexes of the cells in a row. */
export interface Columns {
  readonly email: number
  readonly date?: number | undefined
  /** A cell of JSON that may hold the date, as in the exports for listmonk. */
  readonly attributes?: number | undefined
}

/** Names of the address column, normalized. The first one that the header has is used. */
const EMAIL_NAMES = ['email', 'emailaddress', 'mail', 'emailid', 'subscriberemail', 'useremail', 'contactemail']

/** Names of the date column, normalized, the most specific first. */
const DATE_NAMES = [
  ['subscribedat', 'subscribedon', 'subscribeddate', 'subscriptiondate', 'subscribedate'],
  ['optintime', 'optinat', 'optindate', 'confirmedat', 'confirmtime'],
  ['signupdate', 'signedupat', 'signupat', 'joinedat', 'joindate'],
  ['dateadded', 'addedat', 'addedon'],
  ['createdat', 'createdon', 'created', 'creationdate', 'datecreated', 'createddate'],
  ['date', 'timestamp'],
].flat()

/** Normalizes a name: lower case, only letters and digits. */
function toPlainName(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '')
}

/** Whether a name is one of the usual names of an address column. */
export function isEmailName(name: string): boolean {
  return EMAIL_NAMES.includes(toPlainName(name))
}

/** Finds the name of the member that holds the address or the date. */
export function findMember(row: Readonly<Record<string, unknown>>, kind: 'email' | 'date'): string | undefined {
  const names = Object.keys(row)
  const index = findName(names.map(toPlainName), kind === 'email' ? EMAIL_NAMES : DATE_NAMES)
  return index === undefined ? undefined : names[index]
}

/**
 * Finds the columns by the header.
 *
 * @param column the name of the address column, or its number from 1; found by its name if undefined
 * @throws Failure that lists the columns, when none or several of them may hold the address
 */
export function findColumns(header: readonly string[], column: string | undefined, file: string): Columns {
  const names = header.map(toPlainName)
  return {
    email: column === undefined ? findEmail(header, names, file) : findGiven(header, column, file),
    date: findName(names, DATE_NAMES),
    attributes: findName(names, ['attributes']),
  }
}

function findEmail(header: readonly string[], names: readonly string[], file: string): number {
  const exact = findName(names, EMAIL_NAMES)
  if (exact !== undefined) return exact
  if (header.some((name) => name.includes('@'))) {
    throw new Failure(
      `${file}: there is no header: the first line holds an address; give the number of its column with --column`,
    )
  }
  const like = names.flatMap((name, index) => (name.includes('email') ? [index] : []))
  if (like.length === 1 && like[0] !== undefined) return like[0]
  const problem = like.length === 0 ? 'there is no address column' : 'several columns may hold the address'
  throw new Failure(`${file}: ${problem}; name it with --column. The columns are: ${quoteNames(header)}`)
}

function findGiven(header: readonly string[], column: string, file: string): number {
  const exact = header.findIndex((name) => name.trim() === column)
  const index = exact < 0 ? header.findIndex((name) => toPlainName(name) === toPlainName(column)) : exact
  if (index >= 0) return index
  const number = /^[1-9]\d*$/.test(column) ? Number(column) : Number.POSITIVE_INFINITY
  if (number <= header.length) return number - 1
  throw new Failure(`${file}: there is no column "${column}". The columns are: ${quoteNames(header)}`)
}

function findName(names: readonly string[], known: readonly string[]): number | undefined {
  const name = known.find((candidate) => names.includes(candidate))
  return name === undefined ? undefined : names.indexOf(name)
}

/** Quotes the names of the columns. Shortened, because the first line of a file that is not a list may be long. */
function quoteNames(header: readonly string[]): string {
  const shown = header.slice(0, 20).map((name) => JSON.stringify(name.slice(0, 60)))
  return shown.join(', ') + (header.length > shown.length ? ` and ${header.length - shown.length} more` : '')
}
