/** Reads the date of a row of an older list, in the forms that other programs write. */

import type { Result } from '../../result.ts'

/** The moment, or why there is none; `undefined` for an empty value. */
export type ParsedDate = Result<Date | undefined, string>

/** No list is older than email (ms since 1970), and none is from the future by more than a day of wrong time zone. */
const EARLIEST = Date.UTC(1971, 0, 1)
const FUTURE_MS = 86_400_000

const DAY = '(?<day>\\d{1,2})'
const MONTH = '(?<month>\\d{1,2})'
const YEAR = '(?<year>\\d{4})'
// RFC 3339 allows a blank for the T; ISO 8601 a comma for the point. Without an offset it is UTC.
const TIME =
  '(?:(?:[Tt]|,? +)(?<hour>\\d{1,2}):(?<minute>\\d{2})(?::(?<second>\\d{2})(?:[.,](?<fraction>\\d{1,9}))?)?' +
  ' *(?<half>[AaPp]\\.?[Mm]\\.?)?)?'
const OFFSET = ' *(?<offset>Z|z|UTC|GMT|[+-]\\d{2}(?::?\\d{2})?)?'
const NAMES = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const NAME = `(?<name>${NAMES.join('|')})[a-z]*\\.?`
const WEEKDAY = '(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,? +)?'

const toRule = (text: string) => new RegExp(`^${text}${TIME}${OFFSET}$`, 'i')

const FORMS = [
  toRule(`${YEAR}[-/.]${MONTH}[-/.]${DAY}`),
  // Points are written between day, month and year, in this order, in most of Europe.
  toRule(`${DAY}\\.${MONTH}\\.${YEAR}`),
  // RFC 5322 section 3.3, and as it is spoken.
  toRule(`${WEEKDAY}${DAY} +${NAME},? +${YEAR}`),
  toRule(`${WEEKDAY}${NAME} +${DAY}(?:st|nd|rd|th)?,? +${YEAR}`),
  toRule(`${DAY}-${NAME}-${YEAR}`),
]

/** Slashes and hyphens stand for both orders. */
const EITHER = toRule('(?<first>\\d{1,2})[-/](?<second_>\\d{1,2})[-/](?<year>\\d{4})')

/**
 * Reads a date: ISO 8601 and RFC 3339, `YYYY-MM-DD HH:MM:SS`, RFC 5322, Unix seconds and milliseconds,
 * `D.M.YYYY`, and `M/D/YYYY` or `D/M/YYYY` where only one of them can be meant.
 *
 * @param value as it stands in the file; without an offset it is taken as UTC
 */
export function parseDate(value: unknown): ParsedDate {
  const text = typeof value === 'number' ? String(value) : value
  if (text === undefined || text === null || text === '') return { ok: true, value: undefined }
  if (typeof text !== 'string') return { ok: false, reason: 'the date is neither a text nor a number' }
  const trimmed = text.trim()
  if (trimmed === '' || /^0000-00-00/.test(trimmed)) return { ok: true, value: undefined }
  if (/^\d{9,13}(?:\.\d+)?$/.test(trimmed)) return toDate(toMilliseconds(Number(trimmed)))

  const either = EITHER.exec(trimmed)?.groups
  if (either) return toDateOfEither(either)
  for (const form of FORMS) {
    const groups = form.exec(trimmed)?.groups
    if (groups) return toDate(toMoment(groups, toMonth(groups), Number(groups.day)))
  }
  return { ok: false, reason: `the date is not one that is understood: use ${EXAMPLE}` }
}

const EXAMPLE = '2024-05-31T12:34:56Z'

function toDateOfEither(groups: Groups): ParsedDate {
  const [first, second] = [Number(groups.first), Number(groups.second_)]
  if (first <= 12 && second <= 12 && first !== second) {
    return { ok: false, reason: `the date may be day/month or month/day: use ${EXAMPLE}` }
  }
  return second > 12 ? toDate(toMoment(groups, first, second)) : toDate(toMoment(groups, second, first))
}

type Groups = Readonly<Record<string, string | undefined>>

function toMonth({ month, name }: Groups): number {
  return name ? NAMES.indexOf(name.toLowerCase()) + 1 : Number(month)
}

/** Milliseconds since 1970; NaN where there is no such day or time. */
function toMoment(groups: Groups, month: number, day: number): number {
  const { year, hour = '0', minute = '0', second = '0', fraction = '0', half, offset } = groups
  const hours = half ? toHours(Number(hour), half) : Number(hour)
  const milliseconds = Math.floor(Number(`0.${fraction}`) * 1000)
  const midnight = Date.UTC(Number(year), month - 1, day)
  // Date.UTC goes on into the next month where a day is too many.
  if (new Date(midnight).getUTCDate() !== day || month < 1 || month > 12) return Number.NaN
  if (!(hours <= 23 && Number(minute) <= 59 && Number(second) <= 60)) return Number.NaN
  return (
    midnight + ((hours * 60 + Number(minute) - toOffset(offset)) * 60 + Number(second)) * 1000 + milliseconds
  )
}

function toHours(hour: number, half: string): number {
  if (hour < 1 || hour > 12) return Number.NaN
  return (hour % 12) + (/^p/i.test(half) ? 12 : 0)
}

/** Minutes east of UTC. */
function toOffset(offset: string | undefined): number {
  const parts = /^([+-])(\d{2}):?(\d{2})?$/.exec(offset ?? '')
  if (!parts) return 0
  const minutes = Number(parts[2]) * 60 + Number(parts[3] ?? 0)
  return parts[1] === '-' ? -minutes : minutes
}

/** Unix time: as many digits as milliseconds need are milliseconds. */
function toMilliseconds(value: number): number {
  return value >= 1e11 ? value : value * 1000
}

function toDate(milliseconds: number): ParsedDate {
  if (Number.isNaN(milliseconds)) return { ok: false, reason: 'the date does not exist' }
  if (milliseconds < EARLIEST) return { ok: false, reason: 'the date is before 1971' }
  if (milliseconds > Date.now() + FUTURE_MS) return { ok: false, reason: 'the date is in the future' }
  return { ok: true, value: new Date(Math.floor(milliseconds)) }
}
