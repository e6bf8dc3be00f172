/** Checks the rows of a source: some can be imported, the others are rejected with a reason. */

import type { Result } from '../../result.ts'
import type { ImportRow, OptOut } from '../../subscriber.ts'
import { parseOwnerAddress } from './addresses.ts'
import { type DateOrder, findDateOrder, parseDate } from './dates.ts'
import type { Status } from './export-columns.ts'
import type { Source, SourceRow } from './rows.ts'
import { readStatus } from './statuses.ts'

/** A row that cannot be imported, and for the owner why not. */
export interface RejectedRow {
  readonly row: SourceRow
  readonly reason: string
  /** undefined when it has no status that is known. */
  readonly status: Status | undefined
}

export interface ReadOptions {
  /** The status of every row. Default: what the row says. */
  readonly forced?: Status | undefined
  /** Whether the column of the date holds the dates of opt-outs. */
  readonly hasOptOutDates?: boolean | undefined
  /** The order of dates that may have both. */
  readonly dateOrder?: DateOrder | undefined
  /** Finds the order when it is not given. Called when the first date does not show it. */
  readonly findOrder: () => Promise<DateOrder | undefined>
  /** Without it, rows that are not valid are left out. */
  readonly onRejected?: (rows: readonly RejectedRow[]) => Promise<void>
}

type ParsedRow =
  | ({ readonly status: 'subscribed' } & ImportRow)
  | ({ readonly status: 'suppressed' } & OptOut)
  | { readonly status: 'skip' }

interface ParsedPage {
  readonly subscribers: readonly ImportRow[]
  readonly optOuts: readonly OptOut[]
  /** The number of rows of people who are not subscribed. */
  readonly skipped: number
}

/** Reads the rows of subscribers, in pages; `onSkipped` gets the number of rows of people who are not subscribed. */
export async function* readSubscribers(
  source: Source,
  { onSkipped, ...options }: ReadOptions & { readonly onSkipped: (count: number) => void },
): AsyncGenerator<readonly ImportRow[]> {
  for await (const { subscribers, skipped } of parsePages(source, options)) {
    onSkipped(skipped)
    yield subscribers
  }
}

/** Reads the rows of people who opted out, in pages. */
export async function* readOptOuts(source: Source, options: ReadOptions): AsyncGenerator<readonly OptOut[]> {
  for await (const { optOuts } of parsePages(source, options, 'suppressed')) yield optOuts
}

/** @param only does not check the rows with another status */
async function* parsePages(
  { pages }: Source,
  { forced, hasOptOutDates, dateOrder, findOrder, onRejected }: ReadOptions,
  only?: Status,
): AsyncGenerator<ParsedPage> {
  let rules: RowRules = { forced, hasOptOutDates, order: dateOrder, only }
  let isOrderKnown = dateOrder !== undefined
  for await (const page of pages) {
    if (!isOrderKnown && page.some(hasUnclearDate)) {
      rules = { ...rules, order: await findOrder() }
      isOrderKnown = true
    }
    const { rejected, ...parsed } = parsePage(page, rules)
    if (rejected.length > 0) await onRejected?.(rejected)
    yield parsed
  }
}

function parsePage(page: readonly SourceRow[], rules: RowRules) {
  const subscribers: ImportRow[] = []
  const optOuts: OptOut[] = []
  const rejected: RejectedRow[] = []
  let skipped = 0
  for (const row of page) {
    const parsed = parseRow(row, rules)
    if (!parsed.ok) rejected.push(parsed.reason)
    else if (parsed.value.status === 'subscribed') subscribers.push(parsed.value)
    else if (parsed.value.status === 'suppressed') optOuts.push(parsed.value)
    else skipped++
  }
  return { subscribers, optOuts, rejected, skipped }
}

function hasUnclearDate({ date, statuses }: SourceRow): boolean {
  if (findDateOrder(date) === 'unclear') return true
  return statuses.length > 0 && statuses.some(({ value }) => findDateOrder(value) === 'unclear')
}

interface RowRules extends Pick<ReadOptions, 'forced' | 'hasOptOutDates'> {
  readonly order: DateOrder | undefined
  readonly only: Status | undefined
}

function parseRow(row: SourceRow, { forced, hasOptOutDates, order, only }: RowRules): Result<ParsedRow, RejectedRow> {
  const found = readStatus(row.statuses, { forced })
  if (!found.ok) return reject(row, found.reason.value === undefined ? 'there is no status' : 'the status is not known')
  const { status, optedOutAt } = found.value
  if (status === 'skip' || (only && status !== only)) return SKIPPED
  const address = parseOwnerAddress(row.email)
  if (!address.ok) return reject(row, address.reason, status)
  const email = address.value
  const date = parseDate(status === 'subscribed' || hasOptOutDates ? row.date : optedOutAt, order)
  if (status === 'subscribed') {
    return date.ok ? { ok: true, value: { status, email, subscribedAt: date.value } } : reject(row, date.reason, status)
  }
  // A person who left is suppressed also when the date cannot be read.
  return { ok: true, value: { status, email, optedOutAt: date.ok ? date.value : undefined } }
}

const SKIPPED = { ok: true, value: { status: 'skip' } } as const

function reject(row: SourceRow, reason: string, status?: Status): Result<ParsedRow, RejectedRow> {
  return { ok: false, reason: { row, reason: row.problem ? `${reason}; ${row.problem}` : reason, status } }
}
