/** Dates in the forms that other programs write. */

import type { Result } from '../../email.ts'
import { LOCALES } from '../../locales/languages.ts'
import { DAY_MS, FIRST_DATE_MS } from '../../store/numbers.ts'
import { parseObject } from './json.ts'
import { toPlain } from './words.ts'

/** The order of dates with slashes or hyphens: day, month, year, or month, day, year. */
export type DateOrder = 'dmy' | 'mdy'

/** The date, `undefined` for an empty value, or the reason for the owner why it is invalid; and its order, if only one is possible. */
export type ParsedDate = Result<Date | undefined, string> & {
  readonly order?: DateOrder | undefined
  /**
   * The last moment that counts, but not later than now: the end of a day in UTC, ANY_ZONE_MS after a time without a zone, or the time
   * itself.
   */
  readonly latest?: Date | undefined
}

/**
 * Hours east of UTC: the zones of North America (RFC 5322 section 4.3), Europe and Japan. A name that is as usual for another zone,
 * such as IST (India, Ireland, Israel), is not here. BST and CST are British and American: elsewhere few programs write them.
 */
// biome-ignore format: a table
const ZONES: Readonly<Record<string, number>> = {
  Z: 0, UTC: 0, GMT: 0, WET: 0, WEST: 1, BST: 1, CET: 1, MEZ: 1, CEST: 2, MESZ: 2, EET: 2, OEZ: 2, EEST: 3, OESZ: 3,
  MSK: 3, JST: 9, EST: -5, EDT: -4, CST: -6, CDT: -5, MST: -7, MDT: -6, PST: -8, PDT: -7,
}

/** A date does not begin with its time. */
const NOT_FIRST = '(?!^)'
/** The T of ISO 8601, the space that RFC 3339 allows for it, or what is in long forms, such as `May 31, 2024 at 12:34`. */
const BEFORE_TIME = '(?:T|,? (?:(?:at|um|om|à|às|a las|alle(?: ore)?|o|о) )?)?'
/** Chinese and Japanese have the half of the day before the time. */
const HALF_BEFORE = '(?:(?<before>上午|下午|午前|午後) *)?'
const HOUR_AND_MINUTE = '(?<!\\d)(?<hour>\\d{1,2})[:h時时](?<minute>\\d{2})分?'
/** ISO 8601 allows a comma for the point. */
const SECOND = '(?::(?<second>\\d{2})(?:[.,](?<fraction>\\d{1,9}))?)?'
/** Such as `12:34 p.m.`, in Arabic too. German has a word there that says nothing. */
const HALF_AFTER = '(?: *(?<half>[ap]\\.? ?m\\.?|ص|م)(?!\\p{L})| Uhr)?'
/** Such as `+02:00`, `-0700` and `[UTC+02:00]`. `GMT+2` has no leading zero. */
const OFFSET = '\\[?(?:UTC|GMT)?(?<sign>[+-])(?<hoursEast>\\d{1,2})(?::?(?<minutesEast>\\d{2}))?(?!\\d)\\]?'
const ZONE_NAME = `(?<zone>${Object.keys(ZONES).join('|')})(?!\\p{L})`
/** After an offset, Go writes the name of the zone, JavaScript writes it in parentheses, Java in brackets. */
const AFTER_ZONE = '(?: [A-Z+-][A-Z\\d]{1,4}| *\\([^()]*\\)|\\[[A-Za-z_/]+\\])?'
const ZONE = `(?: *(?:${OFFSET}|${ZONE_NAME})${AFTER_ZONE})?`
const TIME = new RegExp(NOT_FIRST + BEFORE_TIME + HALF_BEFORE + HOUR_AND_MINUTE + SECOND + HALF_AFTER + ZONE, 'iu')

const DAY = '(?<day>\\d{1,2})'
const MONTH = '(?<month>\\d{1,2})'
const YEAR = '(?<year>\\d{4})'
/** Two digits are years from 1970 to 2069. */
const SHORT_YEAR = '(?<year>\\d{4}|\\d{2})'
/** The name of a month, which may be short and have a point. */
const NAME = '(?<name>\\p{L}{3,12})\\.?'
const WEEKDAY = '(?:\\p{L}{2,13}\\.?,? +)?'

const DAY_FORMS = [
  // 2024-05-31, 2024/5/31 and 2024年5月31日.
  `${YEAR}(?:[-/.]|年 ?)${MONTH}(?:[-/.]|月 ?)${DAY}日?`,
  // 31.5.2024: with points, the order is day, month, year, as in most of Europe.
  `${DAY}\\.${MONTH}\\.${SHORT_YEAR}`,
  // 5/31/24 and 31-05-2024: with slashes and hyphens, both orders are usual.
  `${DAY}(?<either>[-/])${MONTH}(?:/${SHORT_YEAR}|-${YEAR})`,
  // Fri, 31 May 2024 (RFC 5322 section 3.3), 31. Mai 2024 and 31 de mayo de 2024.
  `${WEEKDAY}${DAY}\\.? +(?:de +)?${NAME},?(?: +de)? +${YEAR}(?: р\\.?)?`,
  // 31-May-24.
  `${DAY}-${NAME}-${SHORT_YEAR}`,
  // Friday, May 31st, 2024.
  `${WEEKDAY}${NAME} +${DAY}(?:st|nd|rd|th)?,? +${YEAR}`,
]
// A day without a time may have the zone in which it is read.
const ANY_DAY = new RegExp(`^(?:${DAY_FORMS.join('|')})(?: ?(?:Z|UTC|GMT))?$`, 'iu')

const UNIX_TIME = /^\d{9,13}(?:\.\d+)?$/

/** Dates of Excel: days since the end of 1899, from 1968 to 2064. In some languages with a decimal comma. */
export const SERIAL = /^(?:2[5-9]|[345]\d)\d{3}(?:[.,]\d+)?$/

/** Without spaces of other kinds, as programs write them before `a. m.`, marks of direction and Arabic digits. */
function toSpaces(text: string): string {
  if (/^[ -~]*$/.test(text)) return text.trim()
  return text
    .replace(/[\u200e\u200f\u061c]/g, '')
    .replace(/\s/g, ' ')
    .replace(/[٠-٩]/g, (digit) => String(digit.charCodeAt(0) - 0x660))
    .trim()
}

/** From this number on, a time of Unix is in milliseconds: in seconds, it would be after the year 5000. */
const FIRST_UNIX_MS = 1e11

/** The days from the start of Excel's dates to 1970. */
const SERIAL_OF_1970 = 25_569

const DAY_SECONDS = DAY_MS / 1000

const EXAMPLE = '2024-05-31T12:34:56Z'
/** The reason of a date that may have both orders. */
export const UNCLEAR_DATE = `the date may be day/month or month/day: use --date-order, or ${EXAMPLE}`

/**
 * Parses a date in a form that programs and people write. Without an offset, it is in UTC.
 *
 * @param options.serials whether a number is a date of Excel
 */
export function parseDate(
  text: string,
  { order, serials = false }: { order?: DateOrder | undefined; serials?: boolean } = {},
): ParsedDate {
  const trimmed = toSpaces(text)
  if (isBlank(trimmed)) return { ok: true, value: undefined }
  if (UNIX_TIME.test(trimmed)) {
    const time = Number(trimmed)
    return checkTime(time >= FIRST_UNIX_MS ? time : time * 1000)
  }
  if (SERIAL.test(trimmed)) {
    if (!serials) return { ok: false, reason: 'the date may be a number of Excel: name its column with --date-column' }
    return parseSerial(trimmed)
  }
  return parseWritten(trimmed, order)
}

/** A date of Excel: the part of a day behind the point is its time, to the second. */
function parseSerial(text: string): ParsedDate {
  const days = Number(text.replace(',', '.')) - SERIAL_OF_1970
  const seconds = Math.round(days * DAY_SECONDS)
  return checkTime(seconds * 1000, Number.isInteger(days) ? WHOLE_DAY_MS : ANY_ZONE_MS)
}

/** A day in one of the forms, which may have a time. */
function parseWritten(text: string, order: DateOrder | undefined): ParsedDate {
  // A quick test, because most texts have no digit.
  const found = /\d/.test(text) ? TIME.exec(text) : null
  const day = ANY_DAY.exec(found ? cutOut(text, found) : text)?.groups
  if (!day) return { ok: false, reason: `the format of the date is not known: use ${EXAMPLE}, or --date-column none` }
  const time = found?.groups
  const vague = toVagueness(time)
  const asWritten = toMilliseconds(day, time)
  if (!day.either) return checkTime(asWritten, vague)
  // Another order is possible, such as in 3/4/2024. The form reads it as day, month and year.
  const dmy = asWritten
  const mdy = toMilliseconds({ ...day, day: day.month, month: day.day }, time)
  if (order) return checkTime({ dmy, mdy }[order], vague)
  if (dmy === mdy) return checkTime(dmy, vague)
  if (dmy !== undefined && mdy !== undefined) return { ok: false, reason: UNCLEAR_DATE }
  return { ...checkTime(dmy ?? mdy, vague), order: mdy === undefined ? 'dmy' : 'mdy' }
}

/** A text without the time in it. That may be before the year, as the program `date` writes it. */
function cutOut(text: string, time: RegExpExecArray): string {
  const before = text.slice(0, time.index)
  const after = text.slice(time.index + time[0].length)
  return `${before} ${after}`.trim()
}

/** From the start of a day to its last millisecond. */
const WHOLE_DAY_MS = DAY_MS - 1

const HOUR_MS = 3_600_000

/** Longer than any place is behind UTC, which is 12 hours. docs/import.md names it. */
const ANY_ZONE_MS = 14 * HOUR_MS

/** Milliseconds after a date that it may mean too: a day has no time, and a time without an offset is read as UTC. */
function toVagueness(time: Groups | undefined): number {
  if (time === undefined) return WHOLE_DAY_MS
  const { zone, sign } = time
  return zone === undefined && sign === undefined ? ANY_ZONE_MS : 0
}

/** Whether a trimmed cell has no value: programs write `NULL`, `\N`, `N/A` or a date of zeros. */
export function isBlank(cell: string): boolean {
  return cell === '' || (/^[n\\0]/i.test(cell) && /^(?:null|\\N|n\/a|0000-00-00.*)$/i.test(cell))
}

/** Whether a text is a date in some order. */
export function isDate(text: string): boolean {
  const parsed = parseDate(text)
  return parsed.ok ? parsed.value !== undefined : parsed.reason === UNCLEAR_DATE
}

/** The text of a date. In a cell of JSON, it is the member `subscribed_at`. */
export function toDateText(cell = ''): string {
  const date = cell.startsWith('{') ? parseObject(cell)?.subscribed_at : cell
  return typeof date === 'string' ? date : ''
}

/** Made at the first date with the name of a month: it takes a moment, and most lists have none. */
let months: ReadonlyMap<string, number> | undefined

/** The number of each month by its plain name, from CLDR, in the languages of the page. */
function toMonths(): ReadonlyMap<string, number> {
  // Beside a day, some languages have another form: Polish "maj", but "31 maja".
  const styles: readonly Intl.DateTimeFormatOptions[] = [
    { month: 'long' },
    { month: 'long', day: 'numeric' },
    { month: 'short' },
    { month: 'short', day: 'numeric' },
  ]
  const formats = Object.keys(LOCALES).flatMap((tag) =>
    styles.map((style) => new Intl.DateTimeFormat(tag, { ...style, timeZone: 'UTC', calendar: 'gregory' })),
  )
  const numbers = new Map<string, number>()
  for (const format of formats) {
    for (let number = 1; number <= 12; number++) {
      const parts = format.formatToParts(Date.UTC(2024, number - 1, 1))
      const name = parts.find(({ type }) => type === 'month')?.value ?? ''
      numbers.set(toPlain(name), number)
    }
  }
  // German in Excel, and a usual short form in English.
  numbers.set('mrz', 3)
  numbers.set('sept', 9)
  return numbers
}

type Groups = Readonly<Record<string, string | undefined>>

/** Milliseconds since 1970; undefined when there is no such time. */
function toMilliseconds(date: Groups, time: Groups = {}): number | undefined {
  const year = toYear(date.year ?? '')
  const month = date.name === undefined ? Number(date.month) : findMonth(date.name)
  const day = Number(date.day)
  // Date.UTC turns February 30 into March.
  const isDay = new Date(Date.UTC(year, month - 1, day)).getUTCMonth() === month - 1
  const hour = toHour(Number(time.hour ?? 0), time.half ?? time.before)
  const minute = Number(time.minute ?? 0)
  const second = Number(time.second ?? 0)
  // A leap second has the number 60.
  const isTime = hour !== undefined && minute <= 59 && second <= 60
  if (!isDay || !isTime) return undefined
  const milliseconds = Number((time.fraction ?? '').slice(0, 3).padEnd(3, '0'))
  return Date.UTC(year, month - 1, day, hour, minute - toMinutesEast(time), second, milliseconds)
}

/** @param digits four, or two for a year from 1970 to 2069 */
function toYear(digits: string): number {
  const year = Number(digits)
  if (digits.length > 2) return year
  return year < 70 ? 2000 + year : 1900 + year
}

/** The number of a month, from 1. Any other word is month 0, which no date has. */
function findMonth(name: string): number {
  months ??= toMonths()
  return months.get(toPlain(name)) ?? 0
}

/** The hour of the day, from 0 to 23; undefined when there is none. @param half the word for the half of the day, if there is one */
function toHour(hour: number, half: string | undefined): number | undefined {
  if (half === undefined) return hour <= 23 ? hour : undefined
  if (hour < 1 || hour > 12) return undefined
  const isAfternoon = /^(?:p|下午|午後|م)/i.test(half)
  // 12 is the first hour of each half.
  const inHalf = hour % 12
  return isAfternoon ? inHalf + 12 : inHalf
}

/** How far the zone of a time is east of UTC. Without a zone, a time is taken as UTC. */
function toMinutesEast(time: Groups): number {
  if (time.zone !== undefined) return (ZONES[time.zone.toUpperCase()] ?? 0) * 60
  const minutes = Number(time.hoursEast ?? 0) * 60 + Number(time.minutesEast ?? 0)
  return time.sign === '-' ? -minutes : minutes
}

/** @param vague milliseconds after it that the date may mean too */
function checkTime(milliseconds: number | undefined, vague = 0): ParsedDate {
  if (milliseconds === undefined) return { ok: false, reason: 'the date does not exist' }
  if (milliseconds < FIRST_DATE_MS) return { ok: false, reason: 'the date is before 1971' }
  const now = Date.now()
  if (milliseconds > now + DAY_MS) return { ok: false, reason: 'the date is in the future' }
  // Without an offset, a time of today is later than now in zones east of UTC. No date of a list is in the future.
  const toPast = (time: number) => new Date(Math.min(Math.floor(time), now))
  return { ok: true, value: toPast(milliseconds), latest: toPast(milliseconds + vague) }
}
