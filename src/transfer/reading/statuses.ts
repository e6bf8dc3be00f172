/**
 * The status columns of the files of other programs, and what their values mean: one flat table. When columns of several
 * programs have the same name, the values of all of them count, so the program does not have to be recognized.
 */

import { classifyDate } from './dates.ts'
import { toPlain, toPlainNames } from './names.ts'
import { findFlag, STATUSES, type Status, WORDS } from './words.ts'

/**
 * Program | columns | subscribed | suppressed | skip | options. Values are compared like names; `(yes)`, `(no)`, `(empty)` and
 * `(date)` stand for what they say, in any language. test/transfer/fixtures/README.md names the sources. Options:
 * `words`: words of any language count too. `with`: only in a file that also has one of these columns. `weak`: only in a
 * file without another status column and without parts of a postal address.
 */
const TABLE = `
# Only the files of people who left have these columns, so an empty value is unknown.
Mailchimp | UNSUB_TIME, CLEAN_TIME | (no) | (yes), (date)
# Ghost subscribes every member, so "no" means that the member has unsubscribed.
Ghost | subscribed_to_emails | (yes) | (no)
Ghost | deleted_at | (no), (empty) | (yes), (date)
Substack | email_disabled | (no), (empty) | (yes), (date)
# Other programs have the kind of a paid subscription in a column of this name.
Buttondown | type | regular, premium, trialed, gifted, churning, paused, past_due | unsubscribed, complained, undeliverable, spammy, blocked, removed | unactivated, unpaid, churned, disabled | with creation_date, unsubscription_date
Buttondown | unsubscription_date | (no), (empty) | (yes), (date)
listmonk | status | enabled | blocklisted | disabled
# Kit calls people who unsubscribed "cancelled". Elsewhere this is the end of a payment.
Kit | status | active, confirmed | bounced, complained | inactive, unconfirmed, cancelled
# Elsewhere "state" is a part of a postal address, or the state of an account in a shop.
Kit | state |  |  |  | words; weak
beehiiv | status | active |  | inactive, pending, validating, needs_approval
beehiiv | unsubscribed_at | (no), (empty) | (yes), (date)
MailerLite | status | active | unsubscribed, bounced, junk | unconfirmed
# A date in its files, a flag in those of other programs.
MailerLite | Subscribed | (yes), (date) | (no) | (empty)
MailerLite | Unsubscribed | (no), (empty) | (yes), (date)
MailerLite Classic | type | active | unsubscribed, bounced, junk | unconfirmed | with date_subscribe, date_unsubscribe
MailerLite Classic | date_unsubscribe | (no), (empty) | (yes), (date)
Brevo | EMAIL_BLACKLISTED, BLACKLISTED | (no), (empty) | (yes), (date)
Keila | status | active | unsubscribed, unreachable
Mailtrain | status | subscribed | unsubscribed, bounced, complained
Sendy | status |  | unsubscribed, bounced, marked as spam | soft bounced
HubSpot | Unsubscribed from all email, Portal Unsubscribe, Portal Spam Report, Portal Bounce, Global Bounce | (no), (empty) | (yes), (date)
Campaign Monitor | State | active | unsubscribed, bounced, deleted, spam, suppressed | unconfirmed | weak
ActiveCampaign | status | active | unsubscribed, bounced | unconfirmed
# Most customers with "no" have never subscribed.
Shopify | Accepts Email Marketing | (yes) |  | (no), (empty)
MailPoet | List status, Global status | subscribed | unsubscribed, bounced, trash | unconfirmed, inactive
Google Groups | Group status | member, manager, owner | banned | invited, pending
Google Groups | Email status | (empty) | bouncing |  | with Group status
Google Groups | Email preference | all email, each email, email, digest, abridged, daily |  | no email, none | with Group status
# Programs that are not listed, spreadsheets and columns that people made. Our own choice.
Other programs | status, subscriber_status, subscription_status, email_status, Statut, Stato, Abostatus, Newsletter-Status, Statut d'abonnement |  |  |  | words
Other programs | unsubscribed_on, unsubscribe_date, unsubscribed date, opted_out, opt_out, opt_out_date, bounced, bounced_at, complained_at, blocklisted, Abgemeldet, Abgemeldet am, Abmeldedatum, Désinscrit, Désinscrit le, Date de désinscription, Désabonné, Désabonné le, Fecha de baja, Disiscritto, Uitgeschreven, Uitgeschreven op | (no), (empty) | (yes), (date)
Other programs | is_subscribed | (yes) | (no) | (empty)
Other programs | opt_in, opted_in, Newsletter, active, is_active, aktiv, actif, confirmed, is_confirmed, confirmed_at | (yes), (date) |  | (no), (empty) | words
`

interface Rule extends Readonly<Record<Status, readonly string[]>> {
  readonly program: string
  readonly columns: readonly string[]
  readonly hasWords: boolean
  readonly isWeak: boolean
  readonly with: readonly string[]
}

export const RULES: readonly Rule[] = TABLE.split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => {
    const [program = '', columns, subscribed, suppressed, skip, options = ''] = line.split(' | ')
    const toList = (cell: string | undefined) => (cell ? cell.split(', ') : [])
    return {
      program,
      columns: toList(columns),
      subscribed: toList(subscribed),
      suppressed: toList(suppressed),
      skip: toList(skip),
      hasWords: options.includes('words'),
      isWeak: options.includes('weak'),
      with: toList(/with (.*)/.exec(options)?.[1]).map(toPlain),
    }
  })

/** Parts of a postal address, plain. */
const POSTAL_NAMES = toPlainNames('address, address1, address2, street, city, zip, zip code, postcode, country')

/** How many rows have a value in a status column, and what it means. */
export interface StatusCount {
  readonly column: string
  /** As in the first of these rows, `empty` or `a date`. */
  readonly value: string
  readonly status: Status
  readonly rows: number
}

interface StatusOptions {
  /** Indexes of columns that the owner named. */
  readonly named: readonly number[]
  /** Indexes of columns that are not read. */
  readonly ignored: readonly number[]
  /** What plain values mean, before the rules. `*` is any value in the named columns, and any unknown one in others. */
  readonly treat: ReadonlyMap<string, Status>
}

/** What the columns say about a row: the strictest of them. */
type RowStatus =
  | { readonly status: Status /** The date of an opt-out, as in the file. */; readonly optedOutAt: string | undefined }
  | { readonly unknown: string; readonly column: string }
  /** The row ends before its status. */
  | 'missing'

/** Finds the status columns of a table, and creates their reader. */
export function createStatusReader(names: readonly string[], { named, ignored, treat }: StatusOptions) {
  const plain = names.map(toPlain)
  const rules = plain.map((name) => findRules(name, plain))
  const isStrong = (found: readonly Rule[] = []) => found.some(({ isWeak }) => !isWeak)
  const allowsWeak = !rules.some(isStrong) && !plain.some((name) => POSTAL_NAMES.includes(name))
  const isKnown = (index: number) => isStrong(rules[index]) || (allowsWeak && rules[index]?.length !== 0)
  /** Values of `treat` that a row has. */
  const used = new Set<string>()
  const columns = [...names.keys()]
    .filter((index) => named.includes(index) || (isKnown(index) && !ignored.includes(index)))
    .map((index) => {
      const options = { rules: rules[index] ?? [], isNamed: named.includes(index), treat, used }
      return { index, ...createColumn(names[index] ?? '', options) }
    })

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
      if (STATUSES.indexOf(meaning.status) > STATUSES.indexOf(status)) status = meaning.status
      if (meaning.status === 'suppressed' && meaning.isDate) optedOutAt ??= cell
    }
    // A person who left in one column has left, also if another one is unknown.
    return problem && status !== 'suppressed' ? problem : { status, optedOutAt }
  }

  return {
    /** Indexes of the columns. */
    columns: columns.map(({ index }) => index),
    read,
    /** In the order of the columns. */
    counts: (): readonly StatusCount[] =>
      columns.flatMap(({ name, meanings }) =>
        [...meanings.values()].map(({ value, status, rows }) => ({ column: name, value, status, rows })),
      ),
    /** The values of `treat` that no row had. */
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

interface ColumnOptions extends Pick<StatusOptions, 'treat'> {
  readonly rules: readonly Rule[]
  readonly isNamed: boolean
  readonly used: Set<string>
}

/** Cells of a column whose meaning is kept. */
const MAX_CELLS = 1000

function createColumn(name: string, { rules, isNamed, treat, used }: ColumnOptions) {
  const values = toValues(rules)
  const hasWords = rules.length === 0 || rules.some((rule) => rule.hasWords)
  const any = treat.get('*')
  const meanings = new Map<string, Meaning>()
  const cells = new Map<string, Meaning | undefined>()

  function findStatus(word: string, kind: string): Status | undefined {
    const isEmpty = kind === '(empty)'
    const treated = [word, isEmpty ? '' : isNamed ? '*' : word].find((value) => treat.has(value))
    if (treated !== undefined) {
      used.add(treated)
      return treat.get(treated)
    }
    const status = values.get(word) ?? values.get(kind) ?? (hasWords ? WORDS.get(word) : undefined)
    if (status || !any) return status
    // When any value means that somebody left, no value means the opposite.
    if (isEmpty && isNamed) return any === 'subscribed' ? 'skip' : 'subscribed'
    if (isEmpty) return undefined
    used.add('*')
    return any
  }

  function findMeaning(cell: string): Meaning | undefined {
    const date = classifyDate(cell)
    const word = toPlainValue(cell)
    const flag = findFlag(word)
    const kind = date === 'other' ? `(${flag})` : `(${date})`
    const status = findStatus(word, kind)
    if (!status) return undefined
    const isDate = date === 'date'
    const key = `${isDate ? kind : word} ${status}`
    const value = isDate ? 'a date' : cell.trim() || 'empty'
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

  return { name, find, meanings }
}

/** The meanings of values. A stricter one counts if several rules have the value. */
function toValues(rules: readonly Rule[]): ReadonlyMap<string, Status> {
  const toKey = (value: string) => (value.startsWith('(') ? value : toPlain(value))
  return new Map(
    STATUSES.flatMap((status) => rules.flatMap((rule) => rule[status].map((value) => [toKey(value), status]))),
  )
}

/** The rules for a column. @param names of all columns */
function findRules(name: string, names: readonly string[]): readonly Rule[] {
  return RULES.filter(
    (rule) =>
      rule.columns.some((column) => toPlain(column) === name) &&
      (rule.with.length === 0 || rule.with.some((required) => names.includes(required))),
  )
}
