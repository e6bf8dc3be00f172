/** What the columns of exports say about a subscriber: types, and values that several programs use. */

/** What an import does with a row: add the address, suppress it, or leave the row out. */
export const STATUSES = ['subscribed', 'suppressed', 'skip'] as const
export type Status = (typeof STATUSES)[number]

/** The meaning of values. A value that is not here is unknown and stops the import. */
export type Values = Readonly<Record<string, Status>>

/** A column of an export that says who is subscribed. */
export interface ExportColumn {
  /** Its names, as in the file. */
  readonly names: readonly string[]
  readonly values: Values
  /** The meaning of a date. The date of an opt-out is that of the suppression. */
  readonly date?: Status
  /** The column counts only in a file that also has one of these. */
  readonly with?: readonly string[]
  /** The column counts only in a file without another status column and without parts of a postal address. */
  readonly weak?: true
}

/** Parts of a postal address. */
export const POSTAL_NAMES = [
  'address',
  'address1',
  'address2',
  'street',
  'city',
  'zip',
  'zipcode',
  'postcode',
  'country',
]

/** A flag. */
export function toFlag(yes: Status, no: Status): Values {
  return { true: yes, yes, y: yes, 1: yes, false: no, no, n: no, 0: no }
}

/** The values of a flag. */
export const FLAGS: readonly string[] = Object.keys(toFlag('subscribed', 'skip'))

/** A flag of an opt-out, or its date. Most programs leave it empty for subscribers. */
export const OPT_OUT = {
  values: { ...toFlag('suppressed', 'subscribed'), '': 'subscribed' },
  date: 'suppressed',
} as const

/** Gives all of the values one meaning. */
export function toValues(status: Status, values: readonly string[]): Values {
  return Object.fromEntries(values.map((value) => [value, status]))
}

/** Words that mean the same in all programs. */
export const WORDS: Values = {
  ...toValues('subscribed', ['active', 'subscribed', 'confirmed']),
  ...toValues('suppressed', ['unsubscribed', 'bounced', 'hard bounced', 'cleaned', 'complained', 'spam']),
  ...toValues('suppressed', ['blocked', 'blocklisted', 'blacklisted', 'suppressed', 'deleted', 'removed']),
  ...toValues('skip', ['pending', 'unconfirmed', 'inactive', 'disabled', 'cancelled', 'canceled']),
  ...toValues('skip', ['archived', 'not subscribed', 'soft bounced']),
}
