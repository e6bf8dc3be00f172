/** Finds the columns of the address, of its date and of its status, by the names that other programs use. */

import { Failure } from '../../failure.ts'
import { FLAGS, type Status } from './export-columns.ts'
import { toPlainName } from './names.ts'
import { createStatusFinder, isStatusName, type StatusMatch, toText } from './statuses.ts'

/** Which columns to read. By default they are found by their names. */
export interface ColumnOptions {
  /** The column of the address: its name, or its number from 1. */
  readonly column?: string | undefined
  /** The column of the date: its name, its number from 1, or `none`. */
  readonly dateColumn?: string | undefined
  /** The only status column: its name, its number from 1, or `none`. */
  readonly statusColumn?: string | undefined
  /** Meanings of plain values in status columns, which override the known ones. */
  readonly treat?: ReadonlyMap<string, Status> | undefined
}

/** Indexes of the cells in a row. */
export interface Columns {
  readonly email: number | undefined
  /** The date is in the first one of these that is not empty. */
  readonly dates: readonly number[]
  readonly statuses: readonly StatusMatch[]
  /** A cell of JSON that may hold the date, as in the exports for listmonk. */
  readonly attributes: number | undefined
}

/** Names of the address column, normalized. The first one that the header has is used. */
const EMAIL_NAMES = ['email', 'emailaddress', 'mail', 'emailid', 'subscriberemail', 'useremail', 'contactemail']

/** Names that have other meanings too. They count if no name contains "email". */
const WEAK_EMAIL_NAMES = ['subscriber', 'address']

/** Names of the date column, normalized, the most specific first. */
const DATE_NAMES = [
  ['subscribedat', 'subscribedon', 'subscribeddate', 'subscriptiondate', 'subscribedate', 'datesubscribed'],
  ['datesubscribe', 'timesubscribed', 'anmeldedatum', 'subscribed'],
  ['optintime', 'optinat', 'optindate', 'confirmedat', 'confirmtime'],
  ['signupdate', 'signedupat', 'signupat', 'signuptimestamp', 'joinedat', 'joindate', 'joined'],
  ['dateadded', 'addedat', 'addedon', 'addedtime', 'dateregistered'],
  ['createdat', 'createdon', 'created', 'creationdate', 'datecreated', 'createddate', 'createdate', 'createdutc'],
  ['date', 'timestamp'],
].flat()

/** Whether a name is one of the usual names of an address column. */
export function isEmailName(name: string): boolean {
  return [...EMAIL_NAMES, ...WEAK_EMAIL_NAMES].includes(toPlainName(name))
}

/** Whether a cell of a date column has a date. Elsewhere, `Subscribed` is a flag. */
export function hasDate(value: unknown): boolean {
  const text = toText(value).trim()
  return text !== '' && !FLAGS.includes(text.toLowerCase())
}

/** Creates a function that finds columns by their names. It finds no address column if none or several may be it. */
export function createColumnFinder({ column, dateColumn, statusColumn, treat }: ColumnOptions) {
  const findStatuses = createStatusFinder(treat)

  function findAllStatuses(names: readonly string[]): readonly StatusMatch[] {
    if (statusColumn === undefined) return findStatuses(names)
    const given = statusColumn === 'none' ? undefined : findGiven(names, statusColumn)
    return given === undefined ? [] : findStatuses(names, given)
  }

  return (names: readonly string[]): Columns => {
    const plain = names.map(toPlainName)
    return {
      email: column === undefined ? findEmail(plain) : findGiven(names, column),
      dates: dateColumn === undefined ? findDates(plain) : toList(findGiven(names, dateColumn)),
      statuses: findAllStatuses(names),
      attributes: dateColumn === undefined ? findName(plain, ['attributes']) : undefined,
    }
  }
}

/**
 * Checks that a file has the columns that an import needs.
 *
 * @throws Failure that lists the columns, when there is no address column, or none that an option names
 */
export function checkColumns(names: readonly string[], columns: Columns, options: ColumnOptions, file: string): void {
  const given = [options.column, options.dateColumn, options.statusColumn].find(
    (name) => name !== undefined && name !== 'none' && findGiven(names, name) === undefined,
  )
  if (given !== undefined) throw new Failure(`${file}: there is no column "${given}". ${listNames(names)}`)
  if (columns.email !== undefined) return
  if (names.some((name) => name.includes('@'))) {
    throw new Failure(
      `${file}: there is no header: the first line holds an address; give the number of its column with --column`,
    )
  }
  const isClear = findLike(names.map(toPlainName)).length === 0
  const problem = isClear ? 'there is no address column' : 'several columns may hold the address'
  throw new Failure(`${file}: ${problem}; name it with --column. ${listNames(names)}`)
}

function findEmail(plain: readonly string[]): number | undefined {
  const exact = findName(plain, EMAIL_NAMES)
  if (exact !== undefined) return exact
  const like = findLike(plain)
  if (like.length === 0) return findName(plain, WEAK_EMAIL_NAMES)
  return like.length === 1 ? like[0] : undefined
}

function findLike(plain: readonly string[]): number[] {
  return plain.flatMap((name, index) => (name.includes('email') && !isStatusName(name) ? [index] : []))
}

function findDates(plain: readonly string[]): number[] {
  const first = findName(plain, DATE_NAMES)
  if (first === undefined || plain[first] !== 'optintime') return toList(first)
  return [first, ...toList(findName(plain, ['confirmtime']))]
}

function findGiven(names: readonly string[], given: string): number | undefined {
  const exact = names.findIndex((name) => name.trim() === given)
  const index = exact < 0 ? names.findIndex((name) => toPlainName(name) === toPlainName(given)) : exact
  if (index >= 0) return index
  const number = /^[1-9]\d*$/.test(given) ? Number(given) : Number.POSITIVE_INFINITY
  return number <= names.length ? number - 1 : undefined
}

function findName(plain: readonly string[], known: readonly string[]): number | undefined {
  const name = known.find((candidate) => plain.includes(candidate))
  return name === undefined ? undefined : plain.indexOf(name)
}

function toList(index: number | undefined): number[] {
  return index === undefined ? [] : [index]
}

/** Lists the columns. Shortened, because the first line of a file that is not a list may be long. */
function listNames(names: readonly string[]): string {
  const shown = names.slice(0, 20).map((name) => JSON.stringify(name.slice(0, 60)))
  const more = names.length > shown.length ? ` and ${names.length - shown.length} more` : ''
  return `The columns are: ${shown.join(', ')}${more}`
}
