/** Dates in the forms that other programs write. */

import type { Result } from '../../email.ts'
import { LOCALES } from '../../locales/languages.ts'
import { DAY_MS } from '../../store/numbers.ts'
import { parseObject } from './json.ts'
import { toPlain } from './words.ts'

/** The order of dates with slashes or hyphens: day, month, year, or month, day, year. */
export type DateOrder = 'dmy' | 'mdy'

/** The date, `undefined` for an empty value, or the reason for the owner why it is invalid; and its order, if only one is possible. */
export type ParsedDate = Result<Date | undefined, string> & {
  readonly order?: DateOrder | undefined
  /** The last moment that it may mean, but not later than now: the end of a day, or a time in the zone that is farthest from UTC. */
  readonly latest?: Date | undefined
}

/** Hours east of UTC. RFC 5322 section 4.3, and Europe. A name with several meanings, such as IST, is not here. */
// biome-ignore format: a table
const ZONES: Readonly<Record<string, number>> = {
  Z: 0, UTC: 0, GMT: 0, WET: 0, WEST: 1, BST: 1, CET: 1, MEZ: 1, CEST: 2, MESZ: 2, EET: 2, OEZ: 2, EEST: 3, OESZ: 3,
  MSK: 3, JST: 9, EST: -5, EDT: -4, CST: -6, CDT: -5, MST: -7, MDT: -6, PST: -8, PDT: -7,
}

// RFC 3339 allows a space for the T, ISO 8601 a comma for the point. Long forms have a word before the time, and Chinese and
// Japanese the half of the day.
const CLOCK =
  '(?!^)(?:T|,? (?:(?:at|um|om|à|às|a las|alle(?: ore)?|o|о) )?)?(?:(?<before>上午|下午|午前|午後) *)?' +
  '(?<!\\d)(?<hour>\\d{1,2})[:h時时](?<minute>\\d{2})分?(?::(?<second>\\d{2})(?:[.,](?<fraction>\\d{1,9}))?)?' +
  '(?: *(?<half>[ap]\\.? ?m\\.?|ص|م)(?!\\p{L})| Uhr)?'
// After the zone, Go writes its name, JavaScript in parentheses, Java in brackets. `GMT+2` has no leading zero.
const ZONE =
  `(?: *(?:\\[?(?:UTC|GMT)?(?<sign>[+-])(?<hoursEast>\\d{1,2})(?::?(?<minutesEast>\\d{2}))?(?!\\d)\\]?|` +
  `(?<zone>${Object.keys(ZONES).join('|')})(?!\\p{L}))(?: [A-Z+-][A-Z\\d]{1,4}| *\\([^()]*\\)|\\[[A-Za-z_/]+\\])?)?`
const TIME = new RegExp(CLOCK + ZONE, 'iu')

const DAY = '(?<day>\\d{1,2})'
const MONTH = '(?<month>\\d{1,2})'
const YEAR = '(?<year>\\d{4})'
// Two digits are years from 1970 to 2069.
const SHORT_YEAR = '(?<year>\\d{4}|\\d{2})'
const NAME = '(?<name>\\p{L}{3,12})\\.?'
const WEEKDAY = '(?:\\p{L}{2,13}\\.?,? +)?'

const DAY_FORMS = [
  `${YEAR}(?:[-/.]|年 ?)${MONTH}(?:[-/.]|月 ?)${DAY}日?`,
  // With points, the order is day, month, year, as in most of Europe.
  `${DAY}\\.${MONTH}\\.${SHORT_YEAR}`,
  // With slashes and hyphens, both orders are usual.
  `${DAY}(?<either>[-/])${MONTH}(?:/${SHORT_YEAR}|-${YEAR})`,
  // RFC 5322 section 3.3, and other languages, such as `31 de mayo de 2024`.
  `${WEEKDAY}${DAY}\\.? +(?:de +)?${NAME},?(?: +de)? +${YEAR}(?: р\\.?)?`,
  `${DAY}-${NAME}-${SHORT_YEAR}`,
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
    // From 1e11 on it is milliseconds: as seconds it would be after the year 5000.
    const time = Number(trimmed)
    return checkTime(time >= 1e11 ? time : time * 1000)
  }
  if (SERIAL.test(trimmed)) {
    if (!serials) return { ok: false, reason: 'the date may be a number of Excel: name its column with --date-column' }
    const days = Number(trimmed.replace(',', '.')) - 25_569
    return checkTime(Math.round(days * 86_400) * 1000, Number.isInteger(days) ? WHOLE_DAY_MS : ANY_ZONE_MS)
  }
  // A quick test, because most texts have no digit. The time may be before the year, as the program `date` writes it.
  const time = /\d/.test(trimmed) ? TIME.exec(trimmed) : null
  const rest = time ? `${trimmed.slice(0, time.index)} ${trimmed.slice(time.index + time[0].length)}`.trim() : trimmed
  const day = ANY_DAY.exec(rest)?.groups
  if (!day) return { ok: false, reason: `the format of the date is not known: use ${EXAMPLE}, or --date-column none` }
  const dmy = toMilliseconds(day, time?.groups)
  const vague = toVagueness(time?.groups)
  if (!day.either) return checkTime(dmy, vague)
  const mdy = toMilliseconds({ ...day, day: day.month, month: day.day }, time?.groups)
  if (order) return checkTime({ dmy, mdy }[order], vague)
  if (dmy === mdy) return checkTime(dmy, vague)
  if (dmy !== undefined && mdy !== undefined) return { ok: false, reason: UNCLEAR_DATE }
  return { ...checkTime(dmy ?? mdy, vague), order: mdy === undefined ? 'dmy' : 'mdy' }
}

/** From the start of a day to its last millisecond. */
const WHOLE_DAY_MS = DAY_MS - 1

/** More than the 12 hours for which a place may be behind UTC. */
const ANY_ZONE_MS = 14 * 3_600_000

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

let months: ReadonlyMap<string, number> | undefined

/** The number of each month by its plain name, from CLDR, in the languages of the page. `Mrz` is German in Excel. */
function toMonths(): ReadonlyMap<string, number> {
  const styles = (['long', 'short'] as const).flatMap((month) => [{ month }, { month, day: 'numeric' }] as const)
  const formats = Object.keys(LOCALES).flatMap((tag) =>
    styles.map((style) => new Intl.DateTimeFormat(tag, { ...style, timeZone: 'UTC', calendar: 'gregory' })),
  )
  const names = formats.flatMap((format) =>
    Array.from({ length: 12 }, (_, index) => {
      const month = format.formatToParts(Date.UTC(2024, index, 1)).find(({ type }) => type === 'month')
      return [toPlain(month?.value ?? ''), index + 1] as const
    }),
  )
  return new Map([...names, ['mrz', 3], ['sept', 9]])
}

type Groups = Readonly<Record<string, string | undefined>>

/** Milliseconds since 1970; undefined when there is no such time. */
function toMilliseconds(date: Groups, time: Groups = {}): number | undefined {
  const { year = '', name } = date
  const { before, half = before, fraction = '', sign = '+', zone = '' } = time
  if (name) months ??= toMonths()
  // There is no month 0, so a word that is no month is no date.
  const month = name ? (months?.get(toPlain(name)) ?? 0) : Number(date.month)
  const day = Number(date.day)
  const years = Number(year) + (year.length > 2 ? 0 : Number(year) < 70 ? 2000 : 1900)
  const [hour, minute, second] = [Number(time.hour ?? 0), Number(time.minute ?? 0), Number(time.second ?? 0)]
  // Date.UTC turns February 30 into March.
  const isDay = new Date(Date.UTC(years, month - 1, day)).getUTCMonth() === month - 1
  const isHour = half ? hour >= 1 && hour <= 12 : hour <= 23
  // A leap second has the number 60.
  if (!isDay || !isHour || minute > 59 || second > 60) return undefined
  const hours = half ? (hour % 12) + (/^(?:p|下午|午後|م)/i.test(half) ? 12 : 0) : hour
  const offset = Number(time.hoursEast ?? 0) * 60 + Number(time.minutesEast ?? 0)
  const east = zone ? (ZONES[zone.toUpperCase()] ?? 0) * 60 : Number(`${sign}${offset}`)
  return Date.UTC(years, month - 1, day, hours, minute - east, second, Number(fraction.slice(0, 3).padEnd(3, '0')))
}

/** @param vague milliseconds after it that the date may mean too */
function checkTime(milliseconds: number | undefined, vague = 0): ParsedDate {
  if (milliseconds === undefined) return { ok: false, reason: 'the date does not exist' }
  // Email is not older.
  if (milliseconds < Date.UTC(1971, 0, 1)) return { ok: false, reason: 'the date is before 1971' }
  const now = Date.now()
  if (milliseconds > now + DAY_MS) return { ok: false, reason: 'the date is in the future' }
  // Without an offset, a time of today is later than now in zones east of UTC. No date of a list is in the future.
  const toPast = (time: number) => new Date(Math.min(Math.floor(time), now))
  return { ok: true, value: toPast(milliseconds), latest: toPast(milliseconds + vague) }
}
