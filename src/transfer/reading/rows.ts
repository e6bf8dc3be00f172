/** Reads the rows of a table by its plan. Pure: the import writes what it returns. */

import type { Address, Result } from '../../email.ts'
import type { ImportRow, OptOut } from '../../subscriber.ts'
import { parseOwnerAddresses } from './addresses.ts'
import { type ParsedDate, parseDate, toDateText } from './dates.ts'
import { hasQuestions, type Plan } from './plan.ts'
import { readStatus } from './statuses.ts'
import type { Row, Table } from './table.ts'
import { findFlag, STATUSES, type Status, toPlain } from './words.ts'

/** What was read from a row. */
export interface ReadRow extends Pick<Row, 'line' | 'cells'> {
  readonly status: Status
  /** Empty when the row is skipped. */
  readonly addresses: readonly Address[]
  /** Of the subscription, or of the opt-out. */
  readonly date: Date | undefined
}

/** The rows of a file that was read. */
export interface ImportFile {
  readonly subscribers: readonly ImportRow[]
  readonly optOuts: readonly OptOut[]
  /** Rows that cannot be imported, with the line on which each ends, and at most MAX_ADDRESS_TEXT characters of its address. */
  readonly rejected: readonly { readonly line: number; readonly reason: string; readonly address: string }[]
  /** The number of rows of people who are not subscribed and have not left. */
  readonly skipped: number
  /** The first row with each status. */
  readonly samples: readonly ReadRow[]
}

const MAX_ADDRESS_TEXT = 1000

/** Reads a table whose plan has no questions. @throws Failure when a quote is not closed */
export function readRows(table: Table, plan: Plan): ImportFile {
  if (hasQuestions(plan)) throw new Error('the plan has questions without an answer')
  const subscribers: ImportRow[] = []
  const optOuts: OptOut[] = []
  const rejected: ImportFile['rejected'][number][] = []
  const samples = new Map<Status, ReadRow>()
  let skipped = 0
  for (const row of table.rows()) {
    const read = readRow(row, plan)
    if (!read.ok) {
      const address = (row.cells[plan.address] ?? '').slice(0, MAX_ADDRESS_TEXT)
      rejected.push({ line: row.line, reason: read.reason, address })
      continue
    }
    const { status, addresses, date } = read.value
    if (status === 'skip') skipped++
    for (const email of addresses) {
      if (status === 'subscribed') subscribers.push({ email, subscribedAt: date })
      else optOuts.push({ email, optedOutAt: date })
    }
    samples.getOrInsert(status, read.value)
  }
  return { subscribers, optOuts, rejected, skipped, samples: STATUSES.flatMap((status) => samples.get(status) ?? []) }
}

/** Reads a row, or says why it is rejected. */
function readRow({ line, cells, problem }: Row, plan: Plan): Result<ReadRow, string> {
  if (problem !== undefined) return { ok: false, reason: problem }
  const status = plan.suppress ? 'suppressed' : readStatus(plan.statuses, cells).status
  if (!status) return { ok: false, reason: 'there is no status: the row ends before that column' }
  const toResult = (addresses: readonly Address[], date?: Date) => {
    return { ok: true, value: { line, cells, status, addresses, date } } as const
  }
  if (status === 'skip') return toResult([])
  const addresses = parseOwnerAddresses(cells[plan.address] ?? '')
  if (!addresses.ok) return addresses
  const date = readDate(cells, plan)
  if (status === 'subscribed') return date.ok ? toResult(addresses.value, date.value) : date
  // A person who left is suppressed also when no date can be read. An opt-out is not earlier than its own subscription.
  const all = [date, ...plan.statuses.map(({ index }) => parseDate(cells[index] ?? '', plan.dateOrder))]
  const dates = all.flatMap((parsed) => (parsed.ok && parsed.value ? parsed.value : []))
  return toResult(addresses.value, dates.toSorted((one, other) => Number(other) - Number(one))[0])
}

/** Reads the first date of a row. A flag in a column such as `Subscribed` is none. */
function readDate(cells: readonly string[], { dates, dateOrder }: Plan): ParsedDate {
  for (const index of dates) {
    const text = toDateText(cells[index])
    const date = parseDate(text, dateOrder)
    if (date.ok ? date.value : !findFlag(toPlain(text))) return date
  }
  return { ok: true, value: undefined }
}
