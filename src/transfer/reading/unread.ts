/** Finds columns that the import does not read and that may say who left. They stop it: see decision 9. */

import { Failure } from '../../failure.ts'
import { isBlank, isPlainDate } from './dates.ts'
import { quote, toPlain, toPlainNames } from './names.ts'
import { toPlainValue } from './statuses.ts'
import { findFlag, WORDS } from './words.ts'

/** Columns with other meanings. If only one program has them, with another column of that program. */
const OTHERS: readonly (readonly [names: string, next?: string])[] = [
  ['id, uuid, seq, member rating, GMTOFF, DSTOFF, CC, sent, opened, clicked, opens, clicks, orders, total orders'],
  ['language, lang, locale, country, country code, gender, sex, birthday, birth date, date of birth, Geburtstag'],
  ['updated at, updated, last changed, last updated, modified at, last modified, modified time, date modified'],
  ['last open, last click, last opened, last clicked, last activity, last seen, last login, last sent, last email'],
  ['OPTIN_IP, CONFIRM_IP, OPTIN_TIME, CONFIRM_TIME, UNSUB_CAMPAIGN_TITLE, UNSUB_CAMPAIGN_ID, UNSUB_REASON', 'LEID'],
  ['UNSUB_REASON_OTHER, CLEAN_CAMPAIGN_TITLE, CLEAN_CAMPAIGN_ID', 'LEID'],
  ['complimentary_plan', 'subscribed_to_emails'],
  ['active_subscription, expiry', 'email_disabled'],
  ['Free Tier, Premium Tier', 'stripe_customer_id'],
  ['SMS_BLACKLISTED, WHATSAPP_BLACKLISTED', 'EMAIL_BLACKLISTED'],
  ['Marketing Information', 'Portal Unsubscribe'],
  ['State, Accepts SMS Marketing, Tax Exempt', 'Accepts Email Marketing'],
  ['Posting permissions, Join month, Join day, Join hour, Join minute, Join second', 'Group status'],
]

/** Parts of names that say something about a subscription, in the languages of the page. */
const NAME_PARTS = toPlainNames(
  'unsub, optout, optedout, donotmail, donotemail, donotcontact, cancel, deleted, removed, optin, optedin, blacklist, blocklist, blocked, bounce, complain, suppress, status, consent, ' +
    'abgemeldet, abmeld, gesperrt, abbestell, einwilligung, désinscri, désabon, bloqué, statut, consentement, ' +
    'desuscri, baja, rebot, disiscri, cancellat, consenso, uitgeschreven, afgemeld, toestemming, wypisan, rezygnac, ' +
    'zgoda, descadastr, desinscri, відпис, згода, 解除, 配信停止, 退会, 退订, 取消订阅, الغاء, الموافقة',
)

const NO_WORD = /[^\p{L}\p{N}]+/u

/** Different values of a column that are counted. */
const MAX_VALUES = 20

/** The values of a column. */
interface Profile {
  readonly index: number
  /** Undefined when there are too many. */
  values: Map<string, number> | undefined
  filled: number
  /** Dates before anything else but dashes. */
  dates: number
  /** Whether there is anything else. */
  hasOther: boolean
  /** Whether a cell says that somebody left. */
  hasWord: boolean
}

/** Watches the columns with these indexes. */
export function createUnreadColumns(names: readonly string[], indexes: readonly number[]) {
  const plain = names.map(toPlain)
  const others = new Set(
    OTHERS.filter(([, next]) => !next || plain.includes(toPlain(next))).flatMap(([list]) => toPlainNames(list)),
  )
  const profiles = indexes
    .filter((index) => !others.has(plain[index] ?? ''))
    .map((index): Profile => ({ index, values: new Map(), filled: 0, dates: 0, hasOther: false, hasWord: false }))

  let rows = 0

  function add(cells: readonly string[]): void {
    rows++
    for (const profile of profiles) {
      const cell = cells[profile.index]?.trim() ?? ''
      if (isBlank(cell)) continue
      // Among dates, a dash means no value. Otherwise it may be a mark.
      const isDash = /^[-–—]$/.test(cell)
      profile.filled++
      profile.hasOther ||= !isDash && !isPlainDate(cell)
      if (!isDash && !profile.hasOther) profile.dates++
      const { values } = profile
      profile.hasWord ||= !values?.has(cell) && saysLeft(cell)
      if (!values) continue
      values.set(cell, (values.get(cell) ?? 0) + 1)
      if (values.size > MAX_VALUES) profile.values = undefined
    }
  }

  function check(file: string): void {
    const suspects = profiles.filter((profile) => {
      const isNamed = NAME_PARTS.some((part) => plain[profile.index]?.includes(part))
      return profile.filled > 0 && (isNamed || isStatus(profile, rows))
    })
    const [first] = suspects.map(({ index }) => quote(names[index]))
    if (!first) return
    const found = suspects.map((profile) => `${quote(names[profile.index])} (${describe(profile, rows)})`).join('; ')
    throw new Failure(
      `${file}: the import does not know this column, which may say who left: ${found}; nothing was imported. ` +
        `If it does, use --status-column ${first} and say what its values mean with --treat VALUE=subscribed, ` +
        `=suppressed or =skip, where VALUE '*' is any value. If not, use --ignore-column ${first}`,
    )
  }

  return {
    /** Adds the cells of a row. */
    add,
    /** @throws Failure when columns look like a status */
    check,
  }
}

/** Whether a part of a cell is a word that says that somebody left. In an object of JSON, a flag may say it too. */
function saysLeft(cell: string): boolean {
  const isJson = cell.startsWith('{')
  if (isJson && /:\s*"?(?:true|false|yes|no)\b/i.test(cell)) return true
  return cell.split(isJson ? NO_WORD : /[,;|]/).some((word) => WORDS.get(toPlainValue(word)) === 'suppressed')
}

/** Whether the values look like a status. */
function isStatus({ values, filled, dates, hasOther, hasWord }: Profile, rows: number): boolean {
  if (hasWord) return true
  if (dates > 0 && !hasOther) return dates < rows
  if (!values) return false
  const words = [...values.keys()].map(toPlainValue)
  // A mark in some rows: one sign, which may be an emoji.
  if (filled < rows && words.length === 1 && [...(words[0] ?? '')].length === 1) return true
  return words.every(findFlag) || words.some((word) => WORDS.has(word))
}

function describe({ values, filled, dates, hasOther }: Profile, rows: number): string {
  const hasOnlyDates = dates > 0 && !hasOther
  const counts = hasOnlyDates ? [['a date', dates] as const] : [...(values ?? [['many values', filled] as const])]
  const shown = counts.slice(0, 5).map(([value, count]) => `${JSON.stringify(value.slice(0, 40))} ${count}×`)
  const more = counts.length > shown.length ? [`${counts.length - shown.length} more`] : []
  const gaps = rows - (hasOnlyDates ? dates : filled)
  const empty = gaps > 0 ? [`empty ${gaps}×`] : []
  return [...shown, ...more, ...empty].join(', ')
}
