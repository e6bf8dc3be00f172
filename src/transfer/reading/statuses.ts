/**
 * The status columns of the files of other programs, and what their values mean: one flat table. When columns of several
 * programs have the same name, the values of all of them count, so the program does not have to be recognized.
 */

import { classifyDate } from './dates.ts'
import { toPlain, toPlainNames } from './names.ts'
import { findFlag, STATUSES, type Status, WORDS } from './words.ts'

/** Values are compared like names. `(yes)`, `(no)`, `(empty)` and `(date)` stand for what they say, in any language. */
export interface Rule extends Partial<Readonly<Record<Status, string>>> {
  readonly program: string
  readonly columns: string
  /** Whether the words of any language count too. */
  readonly words?: true
  /** The column counts only in a file that also has one of these. */
  readonly with?: string
  /** The column counts only in a file without another status column and without parts of a postal address. */
  readonly weak?: true
}

/** A flag of an opt-out, or its date. Most programs leave it empty for subscribers. */
const LEFT = { subscribed: '(no), (empty)', suppressed: '(yes), (date)' }

/** test/transfer/fixtures/README.md names the sources. */
export const RULES: readonly Rule[] = [
  // Only the files of people who left have these columns, so an empty value is unknown.
  { program: 'Mailchimp', columns: 'UNSUB_TIME, CLEAN_TIME', subscribed: '(no)', suppressed: '(yes), (date)' },
  // Ghost subscribes every member, so `false` means that the member has unsubscribed.
  { program: 'Ghost', columns: 'subscribed_to_emails', subscribed: '(yes)', suppressed: '(no)' },
  { program: 'Ghost', columns: 'deleted_at', ...LEFT },
  { program: 'Substack', columns: 'email_disabled', ...LEFT },
  {
    program: 'Buttondown',
    columns: 'type',
    // Other programs have the kind of a paid subscription in a column of this name.
    with: 'creation_date, unsubscription_date',
    subscribed: 'regular, premium, trialed, gifted, churning, paused, past_due',
    suppressed: 'unsubscribed, complained, undeliverable, spammy, blocked, removed',
    skip: 'unactivated, unpaid, churned, disabled',
  },
  { program: 'Buttondown', columns: 'unsubscription_date', ...LEFT },
  { program: 'listmonk', columns: 'status', subscribed: 'enabled', suppressed: 'blocklisted', skip: 'disabled' },
  {
    program: 'Kit',
    columns: 'status',
    subscribed: 'active, confirmed',
    suppressed: 'bounced, complained',
    // Kit calls people who unsubscribed `cancelled`. Elsewhere this is the end of a payment.
    skip: 'inactive, unconfirmed, cancelled',
  },
  // Elsewhere `state` is a part of a postal address, or the state of an account in a shop.
  { program: 'Kit', columns: 'state', weak: true, words: true },
  {
    program: 'beehiiv',
    columns: 'status',
    subscribed: 'active',
    skip: 'inactive, pending, validating, needs_approval',
  },
  { program: 'beehiiv', columns: 'unsubscribed_at', ...LEFT },
  {
    program: 'MailerLite',
    columns: 'status',
    subscribed: 'active',
    suppressed: 'unsubscribed, bounced, junk',
    skip: 'unconfirmed',
  },
  // A date in its files, a flag in those of other programs.
  { program: 'MailerLite', columns: 'Subscribed', subscribed: '(yes), (date)', suppressed: '(no)', skip: '(empty)' },
  { program: 'MailerLite', columns: 'Unsubscribed', ...LEFT },
  {
    program: 'MailerLite Classic',
    columns: 'type',
    with: 'date_subscribe, date_unsubscribe',
    subscribed: 'active',
    suppressed: 'unsubscribed, bounced, junk',
    skip: 'unconfirmed',
  },
  { program: 'MailerLite Classic', columns: 'date_unsubscribe', ...LEFT },
  { program: 'Brevo', columns: 'EMAIL_BLACKLISTED, BLACKLISTED', ...LEFT },
  { program: 'Keila', columns: 'status', subscribed: 'active', suppressed: 'unsubscribed, unreachable' },
  {
    program: 'Mailtrain',
    columns: 'status',
    subscribed: 'subscribed',
    suppressed: 'unsubscribed, bounced, complained',
  },
  { program: 'Sendy', columns: 'status', suppressed: 'unsubscribed, bounced, marked as spam', skip: 'soft bounced' },
  {
    program: 'HubSpot',
    columns: 'Unsubscribed from all email, Portal Unsubscribe, Portal Spam Report, Portal Bounce, Global Bounce',
    ...LEFT,
  },
  {
    program: 'Campaign Monitor',
    columns: 'State',
    weak: true,
    subscribed: 'active',
    suppressed: 'unsubscribed, bounced, deleted, spam, suppressed',
    skip: 'unconfirmed',
  },
  {
    program: 'ActiveCampaign',
    columns: 'status',
    subscribed: 'active',
    suppressed: 'unsubscribed, bounced',
    skip: 'unconfirmed',
  },
  // Most customers with `no` have never subscribed.
  { program: 'Shopify', columns: 'Accepts Email Marketing', subscribed: '(yes)', skip: '(no), (empty)' },
  {
    program: 'MailPoet',
    columns: 'List status, Global status',
    subscribed: 'subscribed',
    suppressed: 'unsubscribed, bounced, trash',
    skip: 'unconfirmed, inactive',
  },
  {
    program: 'Google Groups',
    columns: 'Group status',
    subscribed: 'member, manager, owner',
    skip: 'invited, pending',
    suppressed: 'banned',
  },
  {
    program: 'Google Groups',
    columns: 'Email status',
    with: 'Group status',
    subscribed: '(empty)',
    suppressed: 'bouncing',
  },
  {
    program: 'Google Groups',
    columns: 'Email preference',
    with: 'Group status',
    subscribed: 'all email, each email, email, digest, abridged, daily',
    skip: 'no email, none',
  },
  // For programs that are not listed, spreadsheets and columns that people made. Our own choice.
  {
    program: 'Other programs',
    columns:
      'status, subscriber_status, subscription_status, email_status, Statut, Stato, Abostatus, Newsletter-Status, ' +
      "Statut d'abonnement",
    words: true,
  },
  {
    program: 'Other programs',
    columns:
      'unsubscribed_on, unsubscribe_date, unsubscribed date, opted_out, opt_out, opt_out_date, bounced, bounced_at, ' +
      'complained_at, blocklisted, Abgemeldet, Abgemeldet am, Abmeldedatum, Désinscrit, Désinscrit le, ' +
      'Date de désinscription, Désabonné, Désabonné le, Fecha de baja, Disiscritto, Uitgeschreven, Uitgeschreven op',
    ...LEFT,
  },
  { program: 'Other programs', columns: 'is_subscribed', subscribed: '(yes)', suppressed: '(no)', skip: '(empty)' },
  {
    program: 'Other programs',
    columns: 'opt_in, opted_in, Newsletter, active, is_active, aktiv, actif, confirmed, is_confirmed, confirmed_at',
    subscribed: '(yes), (date)',
    skip: '(no), (empty)',
    words: true,
  },
]

/** Parts of a postal address, plain. */
const POSTAL_NAMES = toPlainNames('address, address1, address2, street, city, zip, zip code, postcode, country')

const RULES_BY_NAME = Map.groupBy(
  RULES.flatMap((rule) => toPlainNames(rule.columns).map((name) => ({ name, rule }))),
  ({ name }) => name,
)

/** How many rows have a value in a status column, and what it means. */
export interface StatusCount {
  readonly column: string
  /** As in the first of these rows, `empty` or `a date`. */
  readonly value: string
  readonly status: Status
  readonly rows: number
}

export interface StatusOptions {
  /** Indexes of columns that the owner named. */
  readonly named: readonly number[]
  /** Indexes of columns that are not read. */
  readonly ignored: readonly number[]
  /** What plain values mean, before the rules. `*` is any value in the named columns, and any unknown one in others. */
  readonly treat: ReadonlyMap<string, Status>
}

/** What the columns say about a row: the strictest of them. */
export type RowStatus =
  | { readonly status: Status /** The date of an opt-out, as in the file. */; readonly optedOutAt: string | undefined }
  | { readonly unknown: string; readonly column: string }
  /** The row ends before its status. */
  | 'missing'

export interface StatusReader {
  /** Indexes of the columns. */
  readonly columns: readonly number[]
  read(cells: readonly string[]): RowStatus
  /** In the order of the columns. */
  counts(): readonly StatusCount[]
  /** The values of `treat` that no row had. */
  findUnused(): readonly string[]
}

/** The stricter status has the higher number. */
const STRICTNESS: Readonly<Record<Status, number>> = { subscribed: 0, skip: 1, suppressed: 2 }

/** Finds the status columns of a table, and creates their reader. */
export function createStatusReader(names: readonly string[], { named, ignored, treat }: StatusOptions): StatusReader {
  const used = new Set<string>()
  const known = findKnown(names).filter(({ index }) => !named.includes(index) && !ignored.includes(index))
  const own = named.map((index) => {
    const rules = findRules(names, index)
    return { index, rules: rules.length > 0 ? rules : [{ program: '', columns: '', words: true } as const] }
  })
  const columns = [...known, ...own]
    .sort((one, other) => one.index - other.index)
    .map(({ index, rules }) =>
      createColumn(names[index] ?? '', index, rules, { isNamed: named.includes(index), treat, used }),
    )

  function read(cells: readonly string[]): RowStatus {
    let status: Status = 'subscribed'
    let optedOutAt: string | undefined
    let problem: RowStatus | undefined
    for (const { name, index, find } of columns) {
      const cell = cells[index]
      const meaning = cell === undefined ? undefined : find(cell)
      if (!meaning) {
        problem ??= cell === undefined ? 'missing' : { unknown: cell, column: name }
        continue
      }
      meaning.rows++
      if (STRICTNESS[meaning.status] > STRICTNESS[status]) status = meaning.status
      if (meaning.status === 'suppressed' && meaning.isDate) optedOutAt ??= cell
    }
    // A person who left in one column has left, also if another one is unknown.
    return problem && status !== 'suppressed' ? problem : { status, optedOutAt }
  }

  return {
    columns: columns.map(({ index }) => index),
    read,
    counts: () =>
      columns.flatMap(({ name, meanings }) =>
        [...meanings.values()].map(({ value, status, rows }) => ({ column: name, value, status, rows })),
      ),
    findUnused: () => [...treat.keys()].filter((value) => !used.has(value)),
  }
}

/** A value as it is compared. A sign such as ✓ is a value too. */
export function toPlainValue(text: string): string {
  return toPlain(text) || text.trim()
}

interface Meaning {
  readonly value: string
  readonly status: Status
  readonly isDate: boolean
  rows: number
}

interface ColumnOptions {
  readonly isNamed: boolean
  readonly treat: ReadonlyMap<string, Status>
  readonly used: Set<string>
}

/** Cells of a column whose meaning is kept. */
const MAX_CELLS = 1000

function createColumn(name: string, index: number, rules: readonly Rule[], { isNamed, treat, used }: ColumnOptions) {
  const values = toValues(rules)
  const hasWords = rules.some(({ words }) => words)
  const any = treat.get('*')
  const meanings = new Map<string, Meaning>()
  const cells = new Map<string, Meaning | undefined>()

  function findStatus(word: string, kind: string): Status | undefined {
    const treated = treat.has(word) ? word : isNamed && word !== '' && any ? '*' : undefined
    const status =
      treat.get(treated ?? '-') ?? values.get(word) ?? values.get(kind) ?? (hasWords ? WORDS.get(word) : undefined)
    if (treated !== undefined) used.add(treated)
    if (status || !any) return status
    // When any value means that somebody left, no value means the opposite.
    if (word === '' && isNamed) return any === 'subscribed' ? 'skip' : 'subscribed'
    if (word === '') return undefined
    used.add('*')
    return any
  }

  function findMeaning(cell: string): Meaning | undefined {
    const date = classifyDate(cell)
    const word = date === 'empty' ? '' : toPlainValue(cell)
    const flag = findFlag(word)
    const kind = date === 'other' ? `(${flag})` : `(${date})`
    const status = findStatus(word, kind)
    if (!status) return undefined
    const isDate = date === 'date'
    const key = `${isDate ? kind : word} ${status}`
    const value = isDate ? 'a date' : word === '' ? 'empty' : cell.trim()
    const meaning = meanings.get(key) ?? { value, status, isDate, rows: 0 }
    meanings.set(key, meaning)
    return meaning
  }

  function find(cell: string): Meaning | undefined {
    if (cells.has(cell)) return cells.get(cell)
    const meaning = findMeaning(cell)
    if (cells.size < MAX_CELLS) cells.set(cell, meaning)
    return meaning
  }

  return { name, index, find, meanings }
}

/** The meanings of values. A stricter one counts if several rules have the value. */
function toValues(rules: readonly Rule[]): ReadonlyMap<string, Status> {
  const values = STATUSES.flatMap((status) =>
    rules.flatMap((rule) => (rule[status] ?? '').split(', ').map((value) => [toKey(value), status] as const)),
  )
  return new Map(values.filter(([value]) => value !== ''))
}

function toKey(value: string): string {
  return value.startsWith('(') ? value : toPlain(value)
}

interface Found {
  readonly index: number
  readonly rules: readonly Rule[]
}

function findKnown(names: readonly string[]): readonly Found[] {
  const found = names
    .map((_, index) => ({ index, rules: findRules(names, index) }))
    .filter(({ rules }) => rules.length > 0)
  const strong = found.filter(({ rules }) => rules.some(({ weak }) => !weak))
  const isPostal = names.some((name) => POSTAL_NAMES.includes(toPlain(name)))
  return strong.length > 0 || isPostal ? strong : found
}

function findRules(names: readonly string[], index: number): readonly Rule[] {
  const rules = RULES_BY_NAME.get(toPlain(names[index] ?? '')) ?? []
  const plain = names.map(toPlain)
  return rules
    .map(({ rule }) => rule)
    .filter(({ with: required }) => !required || toPlainNames(required).some((name) => plain.includes(name)))
}
