/** Which columns of an older list hold the address and its date. */

import { Failure } from '../../failure.ts'

/** Where things stand in a row, counted from 0. */
export interface Columns {
  readonly email: number
  readonly date: number | undefined
  /** A column of JSON that may hold the date, as listmonk's does. */
  readonly attributes: number | undefined
}

/** The names of the address, without case, blanks and signs; the first of them that is there is taken. */
const EMAIL_NAMES = [
  'email',
  'emailaddress',
  'mail',
  'emailid',
  'subscriberemail',
  'useremail',
  'contactemail',
]

/** The names of the date, the most telling first. */
const DATE_NAMES = [
  'subscribedat',
  'subscribedon',
  'subscribeddate',
  'subscriptiondate',
  'subscribedate',
  'optintime',
  'optinat',
  'optindate',
  'confirmedat',
  'confirmtime',
  'signupdate',
  'signedupat',
  'signupat',
  'joinedat',
  'joindate',
  'dateadded',
  'addedat',
  'addedon',
  'createdat',
  'createdon',
  'created',
  'creationdate',
  'datecreated',
  'createddate',
  'date',
  'timestamp',
]

/** A name without case, blanks and signs. */
export function toPlainName(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '')
}

/** Whether a name is one of those that an address goes by. */
export function isEmailName(name: string): boolean {
  return EMAIL_NAMES.includes(toPlainName(name))
}

/** Finds the member of an object that holds the address, or its date. */
export function findMember(
  row: Readonly<Record<string, unknown>>,
  kind: 'email' | 'date',
): string | undefined {
  const names = Object.keys(row)
  const index = findName(names.map(toPlainName), kind === 'email' ? EMAIL_NAMES : DATE_NAMES)
  return index === undefined ? undefined : names[index]
}

/**
 * Finds the columns by the header.
 *
 * @param wanted the name of the address's column as the owner gave it, or its number, counted from 1
 * @throws Failure that names the columns there are, when none or several may hold the address
 */
export function findColumns(header: readonly string[], wanted: string | undefined, file: string): Columns {
  const names = header.map(toPlainName)
  return {
    email: wanted === undefined ? findEmail(header, names, file) : findWanted(header, wanted, file),
    date: findName(names, DATE_NAMES),
    attributes: findName(names, ['attributes']),
  }
}

function findEmail(header: readonly string[], names: readonly string[], file: string): number {
  const exact = findName(names, EMAIL_NAMES)
  if (exact !== undefined) return exact
  if (header.some((name) => name.includes('@'))) {
    throw new Failure(
      `${file}: the first line is no header, for it holds an address; give --column with its number`,
    )
  }
  const like = names.flatMap((name, index) => (name.includes('email') ? [index] : []))
  if (like.length === 1 && like[0] !== undefined) return like[0]
  const problem = like.length === 0 ? 'there is no address column' : 'several columns may hold the address'
  throw new Failure(`${file}: ${problem}; name it with --column. The columns are: ${toList(header)}`)
}

function findWanted(header: readonly string[], wanted: string, file: string): number {
  const exact = header.findIndex((name) => name.trim() === wanted)
  const index = exact < 0 ? header.findIndex((name) => toPlainName(name) === toPlainName(wanted)) : exact
  if (index >= 0) return index
  const number = /^[1-9]\d*$/.test(wanted) ? Number(wanted) : Number.POSITIVE_INFINITY
  if (number <= header.length) return number - 1
  throw new Failure(`${file}: there is no column "${wanted}". The columns are: ${toList(header)}`)
}

function findName(names: readonly string[], known: readonly string[]): number | undefined {
  const name = known.find((candidate) => names.includes(candidate))
  return name === undefined ? undefined : names.indexOf(name)
}

/** Names the columns for the owner; a file that is no list may have a great many, or very long ones. */
function toList(header: readonly string[]): string {
  const shown = header.slice(0, 20).map((name) => JSON.stringify(name.slice(0, 60)))
  return shown.join(', ') + (header.length > shown.length ? ` and ${header.length - shown.length} more` : '')
}
