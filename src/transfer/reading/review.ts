/** What an import is going to do, for the owner: the counts, the columns, and what is doubtful. Pure. */

import { basename } from 'node:path'
import { toIdentity } from '../../email.ts'
import { join, quote, quotePath, shorten, toCount, toNumber } from '../../failure.ts'
import type { ImportRow } from '../../subscriber.ts'
import type { Cell, Column } from './columns.ts'
import { isDate, SERIAL, UNCLEAR_DATE } from './dates.ts'
import { DATE_NAMES, GLOBAL_STATUS, isAddressName, isHarmless, SUBSCRIBERS_ONLY, UNRELATED_NAMES } from './programs.ts'
import { MAX_VALUES, type Reading } from './rows.ts'
import type { Value } from './statuses.ts'
import { findFlag, saysLeft, saysTitleLeft, toPlain } from './words.ts'

const toDay = (date: Date) => date.toISOString().slice(0, 10)

/** Such as `line 3 "bob@"`, and why it is rejected. For an invalid address, the cell says enough. */
function describeRow({ line, cell, reason = '' }: Cell & { readonly reason?: string }, { table }: Reading): string {
  const isPlain = /^(?:the address is not valid|there is no address)?$/.test(reason)
  return `${table.place} ${line} ${quote(cell)}${isPlain ? '' : ` (${reason})`}`
}

/** Describes what would be done, one line each. The doubts come last, and begin with `!`. */
export function toReviewLines(reading: Reading): readonly string[] {
  const { table, options, rows, rejected, subscribers, optOuts } = reading
  const toAddresses = ({ length }: readonly unknown[], count: number) =>
    length > count ? ` (${toCount(length, 'address', 'addresses')})` : ''
  const counts = [
    [rows.added, `would be added${toAddresses(subscribers, rows.added)}`],
    [rows.left, `left: suppressed, and removed if they are on the list${toAddresses(optOuts, rows.left)}`],
    [rows.skipped, 'skipped'],
    [rows.rejected, `rejected: ${join(rejected.map((row) => describeRow(row, reading)))}`],
    [rows.empty, 'empty'],
  ] as const
  return [
    `${table.file}: ${toCount(rows.all, 'row')}`,
    ...counts
      .filter(([count], index) => count > 0 || (index === 0 && !options.suppress))
      .map(([count, text]) => `${toNumber(count).padStart(7)}  ${text}`),
    ...(table.names ? toColumnLines(reading) : []),
    ...findDoubts(reading).map((doubt) => `! ${doubt}`),
  ]
}

function toColumnLines({ table, options, columns, values, dates }: Reading): readonly string[] {
  const title = table.title.filter((line) => line.trim() !== '').map(quote)
  const range =
    dates &&
    `, from ${toDay(dates.first)} to ${toDay(dates.last)}; ${table.place} ${dates.line} is ${toDay(dates.date)}`
  const dated = columns.dates.map(({ name }) => quote(name)).join(', ')
  const undated = `none: everybody ${options.suppress ? 'left' : 'subscribes'} at the time of the import`
  const statuses = [...Map.groupBy(values, ({ column }) => column)]
  const lines: readonly (readonly [label: string, text: string])[] = [
    ['header', table.header && title.length > 0 ? `line ${table.title.length + 1}, below ${join(title)}` : ''],
    ['address', quote(columns.address.name)],
    ['date', dated === '' ? undated : dated + (range ?? '')],
    ...statuses.map(([name, found]) => ['status', `${quote(name)}: ${join(found.map(describeValue), '; ')}`] as const),
    ['not read', columns.unread.map(describeContents).join('; ')],
  ]
  return lines.filter(([, text]) => text !== '').map(([label, text]) => `${label.padEnd(9)} ${text}`)
}

const MEANINGS = { subscribed: 'subscribed', suppressed: 'left', skip: 'skipped' } as const

function describeValue({ value, rows, status = 'skip' }: Value): string {
  return `${shorten(value) || 'empty'} ${toNumber(rows)} ${MEANINGS[status]}`
}

/** Such as `"Notes": "VIP" 12, empty 2,370`. Only the name when there are many values, or when they are harmless. */
function describeContents({ name, plain, values, cells }: Column): string {
  if (values.size === 0 || values.size > MAX_VALUES || isHarmless(plain)) return quote(name)
  const sorted = [...values].toSorted(([, one], [, other]) => other - one)
  const shown = join(sorted.map(([value, rows]) => `${quote(value)} ${toNumber(rows)}`))
  return `${quote(name)}: ${shown}${cells.empty > 0 ? `, empty ${toNumber(cells.empty)}` : ''}`
}

/** What is doubtful about an import: each says what was seen, and names the option that answers it. */
export function findDoubts(reading: Reading): readonly string[] {
  return DOUBTS.flatMap((find) => find(reading) ?? [])
}

type Doubt = (reading: Reading) => readonly string[] | string | undefined

/** Nothing says who left. */
const findSilence: Doubt = ({ table, columns, rows }) => {
  const titles = { 'name of the file': basename(table.file), title: table.title.join('\n') }
  const [found] = Object.entries(titles).find(([, title]) => rows.left === 0 && saysTitleLeft(title)) ?? []
  const isKnown =
    columns.statuses.some(({ saysWhoLeft }) => saysWhoLeft) ||
    columns.all.some(({ plain }) => SUBSCRIBERS_ONLY.includes(plain))
  const isUnknown = ({ plain, cells }: Column) => cells.others > 0 && !isHarmless(plain) && !UNRELATED_NAMES.has(plain)
  const unknown = columns.unanswered.filter(isUnknown)
  if (rows.added === 0) return undefined
  // A title that says so is a doubt in any case.
  if (!found && (isKnown || unknown.length === 0)) return undefined
  const [one] = unknown.map(({ option }) => quotePath(option))
  const seen = `${found ? `the ${found} says that people left, but ` : ''}nothing in it says who left`
  const advice = one
    ? `, and ${join(unknown.map(({ name }) => quote(name)))} ${unknown.length > 1 ? 'are' : 'is'} not read: --status-column ${one} if it does, --ignore-column ${one} if not, or`
    : ':'
  return `${seen}${advice} --suppress if everybody left`
}

/** A cell of the address says, beside an address or without one, that somebody left. */
const findWordsBesideAddress: Doubt = (reading) => {
  const { left } = reading.columns.address
  const advice = 'Import people who left with --suppress, from a file of their own'
  return left && `${describeRow(left, reading)} says that somebody left. ${advice}`
}

/** A column that is not read says that somebody left: in a cell, or by its name and any value but no. */
const findWords: Doubt = (reading) =>
  reading.columns.unanswered.flatMap(({ plain, name, option, left, values }) => {
    const isNamed = [name, name.replace(/(?<=\p{Ll})(?=\p{Lu})/gu, ' ')].some(saysLeft)
    const isFilled = [...values.keys()].some((value) => findFlag(toPlain(value)) !== 'no')
    if (UNRELATED_NAMES.has(plain) || !(left || (isNamed && isFilled))) return []
    const where = left ? describeRow(left, reading) : 'its name'
    const options = `--status-column ${quotePath(option)} reads it, --ignore-column ${quotePath(option)} does not`
    return [`${quote(name)} says that somebody left (${where}), and is not read: ${options}`]
  })

/** Somebody has no status. */
const findEmptyStatuses: Doubt = ({ values }) =>
  [...values.values().filter(({ isAssumed }) => isAssumed)].map(({ column, rows }) => {
    const advice = `--treat ${quotePath(`${column}:=subscribed`)} adds them`
    return `${toCount(rows, 'row')} without a value of ${quote(column)} will be skipped: ${advice}`
  })

/** The program has one status for all lists. */
const findGlobalStatus: Doubt = ({ columns, options, rows }) => {
  const has = (name: string) => columns.all.some(({ plain }) => plain === toPlain(name))
  const found = GLOBAL_STATUS.find((program) => program.columns.every(has))
  if (!found || options.statusColumn || rows.added === 0) return undefined
  const advice = 'docs/import.md says how to export one. --status-column status if there is no other list'
  return `exports of ${found.program} do not say who left one list: ${advice}`
}

/** Dates cannot be added later. */
const findMissingDates: Doubt = (reading) => {
  const { columns, options, undated } = reading
  if (options.dateColumn !== undefined || !undated) return undefined
  if (columns.dates.length > 0) {
    const seen = `${toCount(undated.rows, 'row')} would be added without a date, such as ${describeRow(undated.first, reading)}`
    return `${seen}: --date-column none if that is right`
  }
  // Unix time from 2001 to 2033. Other numbers are rarely dates.
  const isLikeDate = (text: string) =>
    SERIAL.test(text) || /^1\d{9}(?:\d{3})?$/.test(text) || (Number.isNaN(Number(text)) && isDate(text))
  const found = columns.unanswered.find(({ plain, name, values }) => {
    const isMostly = [...values.keys()].filter(isLikeDate).length * 2 >= values.size || DATE_NAMES.includes(plain)
    return values.size > 0 && isMostly && !isHarmless(plain) && !saysLeft(name)
  })
  return found && `no date is read, and none can be added later: --date-column ${quotePath(found.option)}, or none`
}

/** The line of the header, or a title, may be a row. */
const findLostLines: Doubt = ({ table }) => {
  const toDoubt = (text: string, index: number) =>
    text.includes('@') ? `line ${index + 1} is not read as a row: ${quote(text)}. Correct the file if it is one` : []
  return [...table.title, table.header ?? ''].flatMap(toDoubt)
}

const findUnclearDates: Doubt = ({ rejected }) => {
  const unclear = rejected.filter(({ reason }) => reason === UNCLEAR_DATE).length
  return unclear > 0 ? `${toCount(unclear, 'date')} may be day/month or month/day: --date-order dmy, or mdy` : undefined
}

const findRejected: Doubt = ({ rows }) => {
  const seen = `rejected are ${toNumber(rows.rejected)} of ${toCount(rows.all, 'row')}`
  return rows.rejected * 10 > rows.all ? `${seen}: --rejected FILE keeps them` : undefined
}

/** All rows have the same address. */
const findOneAddress: Doubt = ({ columns, rows, subscribers: [first, ...others] }) => {
  const isSame = ({ email }: ImportRow) => first && toIdentity(email) === toIdentity(first.email)
  const isOne = rows.added > 1 && rows.added + rows.empty === rows.all && others.every(isSame)
  return isOne
    ? `all rows have the address in ${quote(columns.address.name)}: --column names another column`
    : undefined
}

/**
 * Another column may be the right one: one that has an address and the name of one; or any that has an address, if the one that is
 * read has no such name; or one that has more addresses.
 */
const findOtherAddresses: Doubt = ({ columns: { address, unanswered }, options }) => {
  const isNamed = ({ plain }: Column) => isAddressName(plain.replace(/\d/g, ''))
  const mustHaveMore = (column: Column) => isAddressName(address.plain) && !isNamed(column)
  const mayBeRight = (column: Column) => column.cells.addresses > (mustHaveMore(column) ? address.cells.addresses : 0)
  const others = options.column ? [] : unanswered.filter(mayBeRight)
  return others.map(({ name, option, cells }) => {
    const seen = toCount(cells.addresses, 'address that is not read', 'addresses that are not read')
    return `${quote(name)} has ${seen}: --column ${quotePath(option)} reads only these`
  })
}

const DOUBTS = [
  ...[findSilence, findWordsBesideAddress, findWords, findEmptyStatuses, findGlobalStatus, findMissingDates],
  ...[findLostLines, findUnclearDates, findRejected, findOneAddress, findOtherAddresses],
]
