/** Reads the rows of a table by its plan. Pure: the import writes what it returns. */

import type { Address } from '../../email.ts'
import type { ImportRow, OptOut } from '../../subscriber.ts'
import { parseOwnerAddresses } from './addresses.ts'
import { parseDate, toDateText } from './dates.ts'
import { toPlain } from './names.ts'
import type { Plan } from './plan.ts'
import { type RowStatus, readStatus } from './statuses.ts'
import type { Row, Table } from './table.ts'
import { findFlag, STATUSES, type Status } from './words.ts'

/** A row that cannot be imported. */
export interface RejectedRow {
  /** The line on which it ends, from 1. */
  readonly line: number
  readonly reason: string
  /** As in the file, at most MAX_ADDRESS_TEXT characters of it. */
  readonly address: string
}

/** The first row with a status: the cells of the columns that are read, and what was read from them. */
export interface SampleRow {
  readonly status: Status
  readonly line: number
  readonly cells: readonly (readonly [column: string, cell: string])[]
  readonly date: Date | undefined
}

/** The rows of a file that was read. */
export interface ImportFile {
  readonly subscribers: readonly ImportRow[]
  readonly optOuts: readonly OptOut[]
  readonly rejected: readonly RejectedRow[]
  /** The number of rows of people who are not subscribed and have not left. */
  readonly skipped: number
  readonly samples: readonly SampleRow[]
}

const MAX_ADDRESS_TEXT = 1000

/** Reads a table whose plan has no questions. @throws Failure when a quote is not closed */
export function readRows(table: Table, plan: Plan): ImportFile {
  const { columns, values } = plan.questions
  if (columns.length + values.length > 0) throw new Error('the plan has questions without an answer')
  const subscribers: ImportRow[] = []
  const optOuts: OptOut[] = []
  const rejected: RejectedRow[] = []
  const samples = new Map<Status, SampleRow>()
  let skipped = 0
  for (const row of table.rows()) {
    const read = readRow(row, plan)
    if ('reason' in read) {
      const address = (row.cells[plan.address] ?? '').slice(0, MAX_ADDRESS_TEXT)
      rejected.push({ line: row.line, reason: read.reason, address })
      continue
    }
    if (read.status === 'skip') skipped++
    for (const email of read.addresses) {
      if (read.status === 'subscribed') subscribers.push({ email, subscribedAt: read.date })
      else optOuts.push({ email, optedOutAt: read.date })
    }
    if (!samples.has(read.status)) samples.set(read.status, toSample(row, read, plan))
  }
  return { subscribers, optOuts, rejected, skipped, samples: STATUSES.flatMap((status) => samples.get(status) ?? []) }
}

type ReadRow =
  | { readonly status: Status; readonly addresses: readonly Address[]; readonly date: Date | undefined }
  /** Why the row is rejected. */
  | { readonly reason: string }

function readRow({ cells, problem }: Row, plan: Plan): ReadRow {
  if (problem !== undefined) return { reason: problem }
  const { status, optedOutAt = '' } = plan.suppress ? OPTED_OUT : readStatus(plan.statuses, cells)
  if (!status) return { reason: 'there is no status: the row ends before that column' }
  if (status === 'skip') return { status, addresses: [], date: undefined }
  const addresses = parseOwnerAddresses(cells[plan.address] ?? '')
  if (!addresses.ok) return addresses
  const date = parseDate(findDate(cells, plan.dates), plan.dateOrder)
  if (status === 'subscribed') return date.ok ? { status, addresses: addresses.value, date: date.value } : date
  // A person who left is suppressed also when no date can be read. An opt-out is not earlier than its own subscription.
  const left = parseDate(optedOutAt, plan.dateOrder)
  const dates = [left, date].flatMap((parsed) => (parsed.ok && parsed.value ? parsed.value : []))
  return { status, addresses: addresses.value, date: dates.toSorted((one, other) => Number(other) - Number(one))[0] }
}

const OPTED_OUT: Omit<RowStatus, 'meanings'> = { status: 'suppressed' }

/** The first cell that has a date. A flag in a column such as `Subscribed` is not a date. */
function findDate(cells: readonly string[], dates: readonly number[]): string {
  for (const index of dates) {
    const text = toDateText(cells[index])
    if (text.trim() !== '' && !findFlag(toPlain(text))) return text
  }
  return ''
}

function toSample(
  { line, cells }: Row,
  { status, date }: { status: Status; date: Date | undefined },
  plan: Plan,
): SampleRow {
  const { names, address, dates, statuses } = plan
  const indexes = new Set([address, ...dates, ...statuses.map(({ index }) => index)])
  return { status, line, cells: [...indexes].map((index) => [names[index] ?? 'address', cells[index] ?? '']), date }
}
