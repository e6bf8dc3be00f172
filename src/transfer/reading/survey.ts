/**
 * Reads a list before it is imported: to stop at an unknown status before anything is written, and to learn the order of
 * its dates.
 */

import { Failure } from '../../failure.ts'
import { type DateOrder, findDateOrder } from './dates.ts'
import type { Status } from './export-columns.ts'
import type { Source, SourceRow } from './rows.ts'
import { type Meaning, readStatus, type StatusCell, toText } from './statuses.ts'

/** How many rows have a value in a status column. */
export interface StatusCount extends Meaning {
  readonly rows: number
}

export interface Survey {
  readonly statuses: readonly StatusCount[]
  /** The order that a date shows; undefined when none shows it, or when two dates show different ones. */
  readonly dateOrder: DateOrder | undefined
}

/** Unknown values in the message, at most. */
const MAX_UNKNOWN = 5

/**
 * Reads all rows.
 *
 * @param options.forced the status of every row, so that no status is read
 * @throws Failure that names the unknown values of status columns and their lines
 */
export async function surveySource(
  source: Source,
  { forced, signal }: { readonly forced: Status | undefined; readonly signal: AbortSignal },
): Promise<Survey> {
  const counts = new Map<Meaning, number>()
  const orders = new Set<DateOrder>()
  const unknown = new Map<string, SourceRow>()
  const addOrder = (value: unknown) => {
    const order = findDateOrder(value)
    if (order && order !== 'unclear') orders.add(order)
  }
  const onMeaning = (meaning: Meaning) => counts.set(meaning, (counts.get(meaning) ?? 0) + 1)

  for await (const page of source.pages) {
    signal.throwIfAborted()
    for (const row of page) {
      addOrder(row.date)
      for (const { value } of row.statuses) addOrder(value)
      const status = readStatus(row.statuses, { forced, onMeaning })
      // The import rejects a row that ends before its status.
      if (status.ok || status.reason.value === undefined || unknown.size === MAX_UNKNOWN) continue
      const name = quoteCell(status.reason)
      if (!unknown.has(name)) unknown.set(name, row)
    }
  }

  if (unknown.size > 0) throw toFailure(source.name, unknown)
  const [dateOrder] = orders.size === 1 ? orders : []
  return { statuses: [...counts].map(([meaning, rows]) => ({ ...meaning, rows })), dateOrder }
}

function quoteCell({ column, value }: StatusCell): string {
  return `${JSON.stringify(toText(value).trim().slice(0, 60))} in the column ${JSON.stringify(column.name)}`
}

function toFailure(name: string, unknown: ReadonlyMap<string, SourceRow>): Failure {
  const [first, ...others] = [...unknown].map(([cell, { line }]) => `line ${line}: ${cell}`)
  const also = others.length > 0 ? ` (also ${others.join('; ')})` : ''
  return new Failure(
    `${name}: ${first} is not a known status${also}; nothing was imported. Say what it means with ` +
      '--treat VALUE=subscribed, --treat VALUE=suppressed or --treat VALUE=skip, or choose the column with --status-column NAME or none',
  )
}
