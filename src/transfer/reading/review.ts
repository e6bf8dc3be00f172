/** What an import is going to do, for the owner: the counts, the columns, and what is doubtful. Pure. */

import { basename } from 'node:path'
import { toIdentity } from '../../email.ts'
import type { ReadOptions } from './columns.ts'
import type { Table } from './csv.ts'
import { isDate, SERIAL, UNCLEAR_DATE } from './dates.ts'
import {
  DATE_NAMES,
  GLOBAL_STATUS,
  HARMLESS_NAMES,
  isAddressName,
  SUBSCRIBERS_ONLY,
  UNRELATED_NAMES,
} from './programs.ts'
import type { Contents, Reading, RejectedRow } from './rows.ts'
import { findFlag, saysLeft, saysTitleLeft, toPlain } from './words.ts'

/** Most characters of a text that are shown. */
const MAX_TEXT = 60

/** Most rows, values or columns of one kind that are shown. */
const MAX_SHOWN = 5

/** Quotes a text from a file, shortened. */
export const quote = (text: string) => JSON.stringify(text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text)

const toNumber = (count: number) => count.toLocaleString('en')
const toCount = (count: number, noun: string, plural = `${noun}s`) =>
  `${toNumber(count)} ${count === 1 ? noun : plural}`
const toDay = (date: Date) => date.toISOString().slice(0, 10)

/** Joins what is shown of a list: `a, b and 3 more`. */
function join(texts: readonly string[], separator = ', '): string {
  const more = texts.length - MAX_SHOWN
  return texts.slice(0, MAX_SHOWN).join(separator) + (more > 0 ? ` and ${toNumber(more)} more` : '')
}

/** What the review of a list is made from. */
export interface Review {
  readonly table: Table
  readonly reading: Reading
  readonly options: ReadOptions
}

/** Describes what would be done, one line each. The doubts come last, and begin with `!`. */
export function toReviewLines(review: Review): readonly string[] {
  const { table, reading, options } = review
  const { rows, rejected, subscribers, optOuts } = reading
  const counts: readonly (readonly [count: number, text: string])[] = [
    [rows.added, `would be added${toAddresses(subscribers, rows.added)}`],
    [rows.left, `left: suppressed, and removed if they are on the list${toAddresses(optOuts, rows.left)}`],
    [rows.skipped, 'skipped'],
    [rows.rejected, `rejected: ${join(rejected.map((row) => describeRejected(row, table)))}`],
    [rows.empty, 'empty'],
  ]
  const isShown = (count: number, index: number) => count > 0 || (index === 0 && !options.suppress)
  return [
    `${table.file}: ${toCount(rows.all, 'row')}`,
    ...counts
      .filter(([count], index) => isShown(count, index))
      .map(([n, text]) => `${toNumber(n).padStart(7)}  ${text}`),
    ...(table.names ? toColumnLines(review) : []),
    ...findDoubts(review).map((doubt) => `! ${doubt}`),
  ]
}

const toAddresses = (people: readonly unknown[], rows: number) =>
  people.length > rows ? ` (${toCount(people.length, 'address', 'addresses')})` : ''

const describeRow = ({ line, cell }: Pick<RejectedRow, 'line' | 'cell'>, { place }: Table) =>
  `${place} ${line} ${quote(cell)}`

/** An invalid address is shown without the reason. */
function describeRejected(row: RejectedRow, table: Table): string {
  const { reason } = row
  const isPlain = /^(?:the address is not valid|there is no address)$/.test(reason)
  return `${describeRow(row, table)}${isPlain ? '' : ` (${reason})`}`
}

function toColumnLines({ table, reading, options }: Review): readonly string[] {
  const { columns, values, contents, dates } = reading
  const toNames = (indexes: readonly number[]) => indexes.map((index) => quote(columns.names[index] ?? '')).join(', ')
  const title = table.head.slice(0, -1).map(({ content }) => quote(content))
  const none = `none: everybody ${options.suppress ? 'left' : 'subscribes'} at the time of the import`
  const range = dates && [
    `from ${toDay(dates.first)} to ${toDay(dates.last)}`,
    `${table.place} ${dates.line} is ${toDay(dates.date)}`,
  ]
  const unread = [...contents.map(describeContents), ...columns.ignored.map(({ name }) => quote(name))]
  const statuses = [...Map.groupBy(values, ({ column }) => column)]
  const lines: readonly (readonly [label: string, text: string])[] = [
    ['header', title.length > 0 ? `line ${table.head.at(-1)?.line}, below ${join(title)}` : ''],
    ['address', toNames([columns.address])],
    [
      'date',
      columns.dates.length === 0 ? none : [toNames(columns.dates), range?.join('; ')].filter(Boolean).join(', '),
    ],
    ...statuses.map(([name, found]) => ['status', `${quote(name)}: ${join(found.map(describeValue), '; ')}`] as const),
    ['not read', unread.join('; ')],
  ]
  return lines.filter(([, text]) => text !== '').map(([label, text]) => `${label.padEnd(9)} ${text}`)
}

const MEANINGS = { subscribed: 'subscribed', suppressed: 'left', skip: 'skipped' } as const

function describeValue({ value, rows, status = 'skip' }: Reading['values'][number]): string {
  return `${value.trim().slice(0, MAX_TEXT) || 'empty'} ${toNumber(rows)} ${MEANINGS[status]}`
}

/** Such as `"Notes": "VIP" 12, empty 2,370`. Only the name when there are many values, or when they are harmless. */
function describeContents({ column, values, hasMoreValues, empty }: Contents): string {
  if (values.length === 0 || hasMoreValues || isHarmless(column.plain)) return quote(column.name)
  const sorted = values.toSorted(([, one], [, other]) => other - one)
  const shown = join(sorted.map(([value, rows]) => `${quote(value)} ${toNumber(rows)}`))
  return `${quote(column.name)}: ${shown}${empty > 0 ? `, empty ${toNumber(empty)}` : ''}`
}

/** Whether a column of that plain name does not say who left. */
function isHarmless(plain: string): boolean {
  return HARMLESS_NAMES.has(plain) || HARMLESS_NAMES.has(plain.replace(/\d+/g, ''))
}

/** What is doubtful about an import: each says what was seen, and names the option that answers it. */
export function findDoubts(review: Review): readonly string[] {
  const all = [findSilence, findWords, findEmptyStatuses, findGlobalStatus, findDateDoubts, findRowDoubts]
  return all.flatMap((find) => find(review))
}

/** Nothing says who left. */
function findSilence({ table, reading, options }: Review): readonly string[] {
  const { columns, rows, contents } = reading
  const isKnown =
    columns.statuses.some(({ saysWhoLeft }) => saysWhoLeft) ||
    columns.names.some((name) => SUBSCRIBERS_ONLY.includes(toPlain(name)))
  const titles = { 'name of the file': basename(table.file), title: table.title }
  const [found] = Object.entries(titles).find(([, title]) => rows.left === 0 && saysTitleLeft(title)) ?? []
  // Neither harmless, nor empty, nor only addresses.
  const isUnknown = ({ column: { plain }, addresses, rows, empty }: Contents) =>
    empty + addresses < rows && !isHarmless(plain) && !UNRELATED_NAMES.has(plain)
  const unknown = contents.filter(isUnknown).map(({ column }) => quote(column.option))
  if (options.suppress || rows.added === 0 || (!found && (isKnown || unknown.length === 0))) return []
  const [one] = unknown
  const seen = `${found ? `the ${found} says that people left, but ` : ''}nothing in it says who left`
  const advice = one
    ? `, and ${join(unknown)} ${unknown.length > 1 ? 'are' : 'is'} not read: --status-column ${one} if it does, --ignore-column ${one} if not, or`
    : ':'
  return [`${seen}${advice} --suppress if everybody left`]
}

/** A column that is not read says that somebody left: in a cell, or by its name and any value but no. */
function findWords({ table, reading, options }: Review): readonly string[] {
  const { leftRow, contents } = reading
  const advice = 'Import people who left with --suppress, from a file of their own'
  const inAddress =
    leftRow && !options.suppress ? [`${describeRow(leftRow, table)} says that somebody left. ${advice}`] : []
  const inColumns = contents.flatMap(({ column: { plain, name, option }, left, values, hasMoreValues }) => {
    const isNamed = [name, name.replace(/(?<=\p{Ll})(?=\p{Lu})/gu, ' ')].some(saysLeft)
    const isFilled = hasMoreValues || values.some(([value]) => findFlag(toPlain(value)) !== 'no')
    if (UNRELATED_NAMES.has(plain) || !(left || (isNamed && isFilled))) return []
    const where = left ? `${table.place} ${left.line} has ${quote(left.cell)}` : 'its name'
    const options = `--status-column ${quote(option)} reads it, --ignore-column ${quote(option)} does not`
    return [`${quote(name)} says that somebody left (${where}), and is not read: ${options}`]
  })
  return [...inAddress, ...inColumns]
}

/** Somebody has no status. */
function findEmptyStatuses({ reading }: Review): readonly string[] {
  const assumed = reading.values.filter(({ isAssumed }) => isAssumed)
  return assumed.map(({ column, rows }) => {
    const advice = `--treat ${quote(`${column}:=subscribed`)} adds them`
    return `${toCount(rows, 'row')} without a value of ${quote(column)} will be skipped: ${advice}`
  })
}

/** The program has one status for all lists. */
function findGlobalStatus({ reading, options }: Review): readonly string[] {
  const plain = reading.columns.names.map(toPlain)
  const found = GLOBAL_STATUS.find(({ columns }) => columns.every((name) => plain.includes(toPlain(name))))
  if (!found || options.statusColumn || reading.rows.added === 0) return []
  const advice = 'docs/import.md says how to export one. --status-column status if there is no other list'
  return [`exports of ${found.program} do not say who left one list: ${advice}`]
}

/** Dates cannot be added later. */
function findDateDoubts({ reading, options }: Review): readonly string[] {
  const { columns, contents, undated, rows } = reading
  if (options.dateColumn !== undefined || options.suppress || rows.added === 0 || undated === 0) return []
  if (columns.dates.length > 0) {
    return [`${toCount(undated, 'row')} would be added without a date: --date-column none if that is right`]
  }
  // Unix time from 2001 to 2033. Other numbers are rarely dates.
  const isOne = ([text]: readonly [string, number]) =>
    SERIAL.test(text) || /^1\d{9}(?:\d{3})?$/.test(text) || (Number.isNaN(Number(text)) && isDate(text))
  const isMostly = (values: Contents['values']) => values.filter(isOne).length * 2 >= values.length
  const mayBeDate = ({ column: { plain, name }, values }: Contents) =>
    values.length > 0 && !isHarmless(plain) && !saysLeft(name) && (isMostly(values) || DATE_NAMES.includes(plain))
  const found = contents.find(mayBeDate)
  if (!found) return []
  return [`no date is read, and none can be added later: --date-column ${quote(found.column.option)}, or none`]
}

/** Rows that are lost, or that are not what they seem. */
function findRowDoubts({ table, reading, options }: Review): readonly string[] {
  const { rows, rejected, contents, columns, subscribers } = reading
  const unclear = rejected.filter(({ reason }) => reason === UNCLEAR_DATE).length
  const read = rows.all - rows.empty - rejected.filter(({ cell }) => !cell.includes('@')).length
  const address = columns.names[columns.address] ?? ''
  // A column with the name of an address, or beside one without it, may be the right one.
  const isOther = ({ column, addresses }: Contents) =>
    addresses > (isAddressName(address) && !isAddressName(column.name.replace(/\d/g, '')) ? read : 0) && !options.column
  const others = contents.filter(isOther).map(({ column: { name, option }, addresses }) => {
    const seen = `${quote(name)} has ${toCount(addresses, 'address that is not read', 'addresses that are not read')}`
    return `${seen}: --column ${quote(option)} reads only these`
  })
  const [first] = subscribers
  const isFirst = ({ email }: (typeof subscribers)[number]) => first && toIdentity(email) === toIdentity(first.email)
  const isOne = rows.added > 1 && rows.added + rows.empty === rows.all && subscribers.every(isFirst)
  const lost = table.head.filter(({ content }) => content.includes('@'))
  const doubts = lost.map(
    ({ line, content }) => `line ${line} is not read as a row: ${quote(content)}. Correct the file if it is one`,
  )
  if (unclear > 0) doubts.push(`${toCount(unclear, 'date')} may be day/month or month/day: --date-order dmy, or mdy`)
  if (rejected.length * 10 > rows.all) {
    doubts.push(`rejected are ${toNumber(rejected.length)} of ${toCount(rows.all, 'row')}: --rejected FILE keeps them`)
  }
  if (isOne) doubts.push(`all rows have the address in ${quote(address)}: --column names another column`)
  return [...doubts, ...others]
}
