/** Dates in the forms that other programs write. */

import { LOCALES } from '../../locales/languages.ts'
import type { Result } from '../../result.ts'
import { toPlain } from './names.ts'
import { parseObject } from './table.ts'

/** The date, `undefined` for an empty value, or the reason for the owner why it is invalid. */
export type ParsedDate = Result<Date | undefined, string>

/** The order of dates with slashes or hyphens: day, month, year, or month, day, year. */
export type DateOrder = 'dmy' | 'mdy'

/** Earliest date, in milliseconds since 1970: email is not older. Latest: a day from now, for a wrong time zone. */
const EARLIEST = Date.UTC(1971, 0, 1)
const FUTURE_MS = 86_400_000

const DAY = '(?<day>\\d{1,2})'
const MONTH = '(?<month>\\d{1,2})'
const YEAR = '(?<year>\\d{4})'
// Two digits are years from 1970 to 2069.
const SHORT_YEAR = '(?<year>\\d{4}|\\d{2})'
// RFC 3339 allows a space for the T, ISO 8601 a comma for the point.
const TIME =
  '(?:(?:[Tt]|,? +)(?<hour>\\d{1,2}):(?<minute>\\d{2})(?::(?<second>\\d{2})(?:[.,](?<fraction>\\d{1,9}))?)?' +
  ' *(?<half>[AaPp]\\.?[Mm]\\.?)?)?'
// After `+0000`, Go writes the name of the zone. `GMT+2` has no leading zero.
const OFFSET =
  ' *(?:Z|UTC|GMT|(?<offset>[+-]\\d{2}(?::?\\d{2})?)(?: (?:[A-Z]{2,5}|[+-]\\d{2,4}))?|(?:UTC|GMT)(?<zone>[+-]\\d{1,2}(?::?\\d{2})?))?'
const NAME = '(?<name>\\p{L}{3,12})\\.?'
const WEEKDAY = '(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,? +)?'

const toRule = (text: string) => new RegExp(`^${text}${TIME}${OFFSET}$`, 'iu')

const FORMS = [
  toRule(`${YEAR}[\\-/.]${MONTH}[\\-/.]${DAY}`),
  // With points, the order is day, month, year, as in most of Europe.
  toRule(`${DAY}\\.${MONTH}\\.${SHORT_YEAR}`),
  toRule(`${YEAR}年 ?${MONTH}月 ?${DAY}日`),
]

/** Forms with the name of a month: RFC 5322 section 3.3, and those of other languages, such as `31 de mayo de 2024`. */
const NAMED_FORMS = [
  toRule(`${WEEKDAY}${DAY}\\.? +(?:de +)?${NAME},?(?: +de)? +${YEAR}(?: р\\.?)?`),
  toRule(`${WEEKDAY}${NAME} +${DAY}(?:st|nd|rd|th)?,? +${YEAR}`),
  toRule(`${DAY}-${NAME}-${SHORT_YEAR}`),
]

/** With slashes and hyphens, both orders are usual. */
const AMBIGUOUS = toRule(
  '(?<left>\\d{1,2})(?:/(?<right>\\d{1,2})/(?<year>\\d{4}|\\d{2})|-(?<right>\\d{1,2})-(?<year>\\d{4}))',
)

/**
 * Parses a date: ISO 8601 and RFC 3339, `YYYY-MM-DD HH:MM:SS`, RFC 5322, Unix seconds and milliseconds,
 * `D.M.YYYY`, `M/D/YYYY` or `D/M/YYYY` if only one of them is possible or the order is given, and the names of months in
 * the languages of the page. A date without an offset is in UTC.
 */
export function parseDate(text: string, order?: DateOrder): ParsedDate {
  const trimmed = text.trim()
  if (isBlank(trimmed)) return { ok: true, value: undefined }
  if (!/\d/.test(trimmed)) return UNKNOWN
  for (const form of FORMS) {
    const groups = form.exec(trimmed)?.groups
    if (groups) return parseGroups(groups, Number(groups.month), Number(groups.day))
  }
  if (UNIX_TIME.test(trimmed)) return checkRange(toMilliseconds(Number(trimmed)))
  const ambiguous = AMBIGUOUS.exec(trimmed)?.groups
  if (ambiguous) return parseAmbiguous(ambiguous, order)
  for (const form of NAMED_FORMS) {
    const groups = form.exec(trimmed)?.groups
    const month = groups && findMonth(groups.name)
    if (month) return parseGroups(groups, month, Number(groups.day))
  }
  return UNKNOWN
}

/** Whether a trimmed cell has no value: programs write `NULL`, `\N`, `N/A` or a date of zeros. */
export function isBlank(cell: string): boolean {
  return /^(?:null|\\N|n\/a|0000-00-00.*|)$/i.test(cell)
}

const EXAMPLE = '2024-05-31T12:34:56Z'
const UNKNOWN: ParsedDate = {
  ok: false,
  reason: `the format of the date is not known: use ${EXAMPLE}, or --date-column none`,
}
const UNIX_TIME = /^\d{9,13}(?:\.\d+)?$/
/** The order that a date shows, `unclear` if it may have both, and undefined for dates whose order does not matter. */
export function findDateOrder(text: string): DateOrder | 'unclear' | undefined {
  // A quick test, because most texts are in another form.
  if (!/^\s*\d{1,2}[-/]\d/.test(text)) return undefined
  const groups = AMBIGUOUS.exec(text.trim())?.groups
  const [first, second] = [Number(groups?.left), Number(groups?.right)]
  if (!groups || first === second) return undefined
  if (first <= 12 && second <= 12) return 'unclear'
  return first > 12 ? 'dmy' : 'mdy'
}

/** Whether a text is a date, and not a number, which may be anything. */
export function isPlainDate(text: string): boolean {
  return !UNIX_TIME.test(text.trim()) && classifyDate(text) === 'date'
}

/** Whether a text is a date in some order, is empty, or is anything else. */
export function classifyDate(text: string): 'date' | 'empty' | 'other' {
  const parsed = parseDate(text, findDateOrder(text) === 'mdy' ? 'mdy' : 'dmy')
  if (!parsed.ok) return 'other'
  return parsed.value ? 'date' : 'empty'
}

/** The text of a date. In a cell of JSON, it is the member `subscribed_at`. */
export function toDateText(cell = ''): string {
  const date = cell.startsWith('{') ? parseObject(cell)?.subscribed_at : cell
  return typeof date === 'string' ? date : ''
}

type Groups = Readonly<Record<string, string | undefined>>

function parseAmbiguous(groups: Groups, given: DateOrder | undefined): ParsedDate {
  const [first, second] = [Number(groups.left), Number(groups.right)]
  const order = given ?? (second > 12 ? 'mdy' : 'dmy')
  if (!given && first <= 12 && second <= 12 && first !== second) {
    return { ok: false, reason: `the date may be day/month or month/day: use --date-order, or ${EXAMPLE}` }
  }
  return order === 'mdy' ? parseGroups(groups, first, second) : parseGroups(groups, second, first)
}

/** The number of a month, from 1, by its long or short name; undefined for another word. */
function findMonth(name = ''): number | undefined {
  months ??= createMonths()
  const plain = toPlain(name)
  return months.get(plain) ?? (MONTH_START.test(plain) ? months.get(plain.slice(0, 3)) : undefined)
}

// `Sept` is short too.
const MONTH_START = /^(?:jan|feb|mar|apr|jun|jul|aug|sep|oct|nov|dec)[a-z]*$/
let months: ReadonlyMap<string, number> | undefined

/** The names of the months in the languages of the page, alone and after a day, from CLDR. `Mrz` is German in Excel. */
function createMonths(): ReadonlyMap<string, number> {
  const found = new Map([['mrz', 3]])
  for (const language of Object.keys(LOCALES)) {
    for (const month of ['long', 'short'] as const) {
      for (const options of [{ month }, { month, day: 'numeric' }] as const) {
        const format = new Intl.DateTimeFormat(language, { ...options, timeZone: 'UTC', calendar: 'gregory' })
        for (let number = 1; number <= 12; number++) {
          const parts = format.formatToParts(Date.UTC(2024, number - 1, 1))
          found.set(toPlain(parts.find(({ type }) => type === 'month')?.value ?? ''), number)
        }
      }
    }
  }
  return found
}

function parseGroups(groups: Groups, month: number, day: number): ParsedDate {
  const { hour = '0', minute = '0', second = '0', fraction = '0', half, offset, zone } = groups
  const isHour = half ? Number(hour) >= 1 && Number(hour) <= 12 : Number(hour) <= 23
  const midnight = findMidnight(toYear(groups.year), month, day)
  if (midnight === undefined || !isHour || Number(minute) > 59 || Number(second) > 60) return MISSING
  const hours = half ? (Number(hour) % 12) + (/^p/i.test(half) ? 12 : 0) : Number(hour)
  const seconds = (hours * 60 + Number(minute) - toOffset(offset ?? zone)) * 60 + Number(second)
  return checkRange(midnight + seconds * 1000 + Number(fraction.slice(0, 3).padEnd(3, '0')))
}

// A leap second has the number 60.
const MISSING: ParsedDate = { ok: false, reason: 'the date does not exist' }

/** The year of four digits, or of two. */
function toYear(text = ''): number {
  const year = Number(text)
  return text.length > 2 ? year : year + (year < 70 ? 2000 : 1900)
}

/** The start of a day in UTC, in milliseconds since 1970; undefined when there is no such day. */
function findMidnight(year: number, month: number, day: number): number | undefined {
  const midnight = Date.UTC(year, month - 1, day)
  // Date.UTC turns February 30 into March.
  return month >= 1 && month <= 12 && new Date(midnight).getUTCDate() === day ? midnight : undefined
}

/** Minutes east of UTC. */
function toOffset(offset: string | undefined): number {
  const parts = /^([+-])(\d{1,2}):?(\d{2})?$/.exec(offset ?? '')
  if (!parts) return 0
  const minutes = Number(parts[2]) * 60 + Number(parts[3] ?? 0)
  return parts[1] === '-' ? -minutes : minutes
}

/** Unix time. From 1e11 on it is milliseconds: as seconds it would be after the year 5000. */
function toMilliseconds(value: number): number {
  return value >= 1e11 ? value : value * 1000
}

function checkRange(milliseconds: number): ParsedDate {
  if (milliseconds < EARLIEST) return { ok: false, reason: 'the date is before 1971' }
  if (milliseconds > Date.now() + FUTURE_MS) return { ok: false, reason: 'the date is in the future' }
  return { ok: true, value: new Date(Math.floor(milliseconds)) }
}
