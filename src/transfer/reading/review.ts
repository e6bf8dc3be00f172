/** The review of an import: what it is going to do, for the owner and for scripts. Pure. */

import type { ImportTally, OptOutTally } from '../../subscriber.ts'
import { join, quote, shorten, toCount, toNumber } from '../../words.ts'
import { type Doubt, describeRow, toDoubtText } from './doubt.ts'
import { FILE_DOUBTS, LIST_DOUBTS } from './doubts.ts'
import type { Effect } from './effect.ts'
import type { Column } from './layout.ts'
import { MAX_VALUES, type Profile } from './profile.ts'
import type { CountedValue, Rows } from './rows.ts'
import { findSuspects } from './who-left.ts'
import type { Status } from './words.ts'

/** What an import is going to do. `toReviewLines` prints it for people, `toReviewJson` for scripts. */
export interface Review {
  readonly rows: Rows
  /** What it would do to the list; undefined when only the file was read. */
  readonly effect: Effect | undefined
  readonly doubts: readonly Doubt[]
}

/** @param effect what it would do to the list; undefined when only the file was read */
export function createReview(rows: Rows, effect: Effect | undefined): Review {
  return { rows, effect, doubts: findDoubts(rows, effect) }
}

/** Finds what is doubtful. @param effect what it would do to the list; undefined when only the file was read */
function findDoubts(rows: Rows, effect?: Effect): readonly Doubt[] {
  const ofFile = FILE_DOUBTS.flatMap((find) => find(rows, effect) ?? [])
  const ofList = effect ? LIST_DOUBTS.flatMap((find) => find(rows, effect) ?? []) : []
  return [...ofFile, ...ofList]
}

/**
 * Describes an import, one line each: the columns, then the counts, then the doubts, which begin with `!`. So the last ones are on the
 * screen, whatever the file has.
 */
export function toReviewLines(review: Review): readonly string[] {
  const { rows, doubts } = review
  return [
    `${rows.table.file}: ${toCount(rows.counts.all, 'row')}`,
    ...(rows.table.names ? toColumnLines(rows) : []),
    ...toCountLines(review),
    ...doubts.map((doubt) => `! ${toDoubtText(doubt)}`),
  ]
}

const LEFT_OUT = 'left out (suppressed before, or in another row)'

/** What becomes of the addresses in the file, and of the rows that are not imported. */
function toCountLines({ rows, effect }: Review): readonly string[] {
  const { counts, rejected, options } = rows
  const removed = effect?.removed ? `, ${toNumber(effect.removed)} removed from the list` : ''
  const described = rejected.map((row) => describeRow(row, rows))
  const lines: readonly (readonly [count: number, text: string])[] = [
    [effect?.added ?? counts.subscribed, 'would be added'],
    [effect?.alreadyListed ?? 0, 'already listed'],
    [effect?.suppressed ?? counts.suppressed, `left: would be suppressed${removed}`],
    [effect?.kept ?? 0, `left, and would stay on the list (${effect?.reasonOfKept})`],
    [counts.skip, 'skipped'],
    [effect?.leftOut ?? 0, LEFT_OUT],
    [counts.rejected, `rejected: ${join(described)}`],
    [counts.empty, 'empty'],
  ]
  const shown = lines.filter(([count], index) => count > 0 || (index === 0 && !options.suppress))
  return shown.map(([count, text]) => `${toNumber(count).padStart(7)}  ${text}`)
}

const toDay = (date: Date) => date.toISOString().slice(0, 10)

function toColumnLines(rows: Rows): readonly string[] {
  const { table, options, layout, values, dates } = rows
  const title = table.title.filter((line) => line.trim() !== '').map(quote)
  const range =
    dates &&
    `, from ${toDay(dates.first)} to ${toDay(dates.last)}; ${table.place} ${dates.line} is ${toDay(dates.date)}`
  const dated = layout.dates.map(({ name }) => quote(name)).join(', ')
  const undated = `none: everybody ${options.suppress ? 'left' : 'subscribes'} at the time of the import`
  const statuses = [...Map.groupBy(values, ({ column }) => column)]
  const lines: readonly (readonly [label: string, text: string])[] = [
    ['header', table.header && title.length > 0 ? `line ${table.title.length + 1}, below ${join(title)}` : ''],
    ['address', quote(layout.address.name)],
    ['date', dated === '' ? undated : dated + (range ?? '')],
    ...statuses.map(([name, found]) => ['status', `${quote(name)}: ${describeValues(found)}`] as const),
    ...findSuspects(rows)
      .slice(0, MAX_SUSPECTS)
      .map(({ column, profile }) => ['not read', describeContents(column, profile)] as const),
    ['not read', listOtherNames(rows)],
  ]
  return lines.filter(([, text]) => text !== '').map(([label, text]) => `${label.padEnd(9)} ${text}`)
}

const MEANINGS: Readonly<Record<Status, string>> = { subscribed: 'subscribed', suppressed: 'left', skip: 'skipped' }

/** Values of a status that are shown: a program has fewer, and a column of notes may have thousands. */
const MAX_STATUS_VALUES = 50

function describeValues(values: readonly CountedValue[]): string {
  const shown = values.slice(0, MAX_STATUS_VALUES).map(({ value, rows: count, status = 'skip' }) => {
    return `${shorten(value) || 'empty'} ${toNumber(count)} ${MEANINGS[status]}`
  })
  const others = Map.groupBy(values.slice(MAX_STATUS_VALUES), ({ status = 'skip' }) => status)
  const more = [...others].map(([status, { length }]) => `${toCount(length, 'other value')} ${MEANINGS[status]}`)
  return [...shown, ...more].join('; ')
}

/** Columns that may say who left, whose values are shown. */
const MAX_SUSPECTS = 3

/** Such as `"Notes": "VIP" 12, empty 2,370`. Only the name when there are many values. */
function describeContents({ name }: Column, { values, empty }: Profile): string {
  if (values.size === 0 || values.size > MAX_VALUES) return quote(name)
  const sorted = [...values].toSorted(([, one], [, other]) => other - one)
  const shown = join(sorted.map(([value, count]) => `${quote(value)} ${toNumber(count)}`))
  return `${quote(name)}: ${shown}${empty > 0 ? `, empty ${toNumber(empty)}` : ''}`
}

/** Most characters of the names of other columns: three lines of a terminal with 80 columns, with the label and the rest. */
const MAX_NAMES = 3 * 80 - 30

/** The names of the other columns that are not read. */
function listOtherNames(rows: Rows): string {
  const shown = findSuspects(rows).slice(0, MAX_SUSPECTS)
  const names = rows.layout.unread
    .filter((one) => !shown.some(({ column }) => column === one))
    .map(({ name }) => quote(name))
  let length = 0
  const fitting = names.filter((name) => {
    length += name.length + 2
    return length <= MAX_NAMES
  })
  const more = names.length - fitting.length
  return fitting.join(', ') + (more > 0 ? ` and ${toNumber(more)} more` : '')
}

/** Most rejected rows that `--json` prints. */
const MAX_REJECTED = 20

/** The review as `--json` prints it. docs/cli.md has the members. @param written the file of rejected rows; undefined for none */
export function toReviewJson({ rows, effect, doubts }: Review, written: string | undefined) {
  const { table, counts, layout, dates, values, rejected } = rows
  // A file without columns has one, which has no name.
  const toNames = (columns: readonly Column[]) => (table.names ? columns.map(({ name }) => name) : [])
  return {
    rows: counts.all,
    skipped: counts.skip,
    rejected: counts.rejected,
    empty: counts.empty,
    would: effect && toTallyJson(effect),
    rejected_rows: rejected.slice(0, MAX_REJECTED),
    rejected_file: written,
    columns: {
      email: toNames([layout.address]),
      date: toNames(layout.dates),
      status: toNames(layout.statuses.map(({ column }) => column)),
      unread: toNames(layout.unread),
    },
    dates: dates ? { first: dates.first, last: dates.last } : null,
    statuses: values.map(({ column, value, status, rows: count }) => {
      return { column, value: value || 'empty', status, rows: count }
    }),
    doubts: doubts.map(toDoubtText),
  }
}

/** The counts of addresses, as `--json` prints them. */
export function toTallyJson(tally: OptOutTally & ImportTally) {
  const { added, alreadyListed, leftOut, suppressed, removed, kept } = tally
  return { added, already_listed: alreadyListed, left_out: leftOut, suppressed, removed, kept }
}

/** What an import did: addresses, and rows that are not addresses. */
export function describeTally(tally: OptOutTally & ImportTally, { rows, effect }: Review): string {
  const removed = tally.removed > 0 ? ` (${toNumber(tally.removed)} removed from the list)` : ''
  const counts = [
    [tally.added, 'added'],
    [tally.alreadyListed, 'already listed'],
    [tally.suppressed, `suppressed${removed}`],
    [tally.kept, `left but kept (${effect?.reasonOfKept})`],
    [rows.counts.skip, 'skipped'],
    [tally.leftOut, LEFT_OUT],
    [rows.counts.rejected, 'rejected'],
  ] as const
  const shown = counts.filter(([count], index) => count > 0 || index < 2)
  return shown.map(([count, text]) => `${toNumber(count)} ${text}`).join(', ')
}
