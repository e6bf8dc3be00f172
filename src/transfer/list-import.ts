/**
 * Imports the list of another program. Reads it up to three times: for the statuses, for the people who opted out, and for
 * the subscribers. So an unknown status stops the import before anything is written, and a person whom any row says to
 * have left is not added by another row.
 */

import { Failure } from '../failure.ts'
import type { ImportTally, OptOutTally, SubscriberStore } from '../subscriber.ts'
import { importRows, suppressRows } from './batch-import.ts'
import type { DateOrder } from './reading/dates.ts'
import { type ReadOptions, type RejectedRow, readOptOuts, readSubscribers } from './reading/import-rows.ts'
import type { Source } from './reading/rows.ts'
import { type StatusCount, surveySource } from './reading/survey.ts'

export interface PlanOptions {
  /** Whether all rows are people who opted out. Their status is not read. */
  readonly suppress: boolean
  /** The order of dates with slashes or hyphens. Default: the one that a date of the list shows. */
  readonly dateOrder?: DateOrder | undefined
  /** The column of the status, if the owner names it. */
  readonly statusColumn?: string | undefined
  /** The column of the date, if the owner names it. With `suppress`, it holds the dates of the opt-outs. */
  readonly dateColumn?: string | undefined
  readonly signal: AbortSignal
}

/** A list whose statuses are known. */
export interface ImportPlan {
  readonly source: Source
  readonly suppress: boolean
  readonly statuses: readonly StatusCount[]
  readonly reading: ReadOptions
}

export interface ListTally extends ImportTally {
  /** Rows of people who opted out. They are suppressed, except for those in `kept`. */
  readonly optedOut: number
  /** How many of them were on the list, and are not any more. */
  readonly removed: number
  /** How many of them stay on the list, because they subscribed later or because it is unknown when they left. */
  readonly kept: number
  /** Rows of people who are not subscribed. */
  readonly skipped: number
}

export interface WriteOptions {
  readonly onRejected: (rows: readonly RejectedRow[]) => Promise<void>
  /** Called after each batch with the tally so far. */
  readonly onBatch: (tally: ListTally) => void
  readonly signal: AbortSignal
}

/** Reads the statuses of a list. @throws Failure when one of them is not known */
export async function planImport(source: Source, options: PlanOptions): Promise<ImportPlan> {
  const { suppress, dateOrder, statusColumn = 'none', dateColumn = 'none', signal } = options
  const forced = suppress ? ('suppressed' as const) : undefined
  let survey: ReturnType<typeof surveySource> | undefined
  const readSurvey = () => {
    survey ??= surveySource(source, { forced, signal })
    return survey
  }
  const statuses = source.hasStatuses && !suppress ? (await readSurvey()).statuses : []
  if (statusColumn !== 'none' && !suppress && source.columns.status.length === 0) {
    throw new Failure(`${source.name}: no row has a column "${statusColumn}"`)
  }
  const findOrder = async () => (await readSurvey()).dateOrder
  const reading: ReadOptions = { forced, hasOptOutDates: suppress && dateColumn !== 'none', dateOrder, findOrder }
  return { source, suppress, statuses, reading }
}

/** Writes a list to the store. When it fails or is stopped, the batches that were written stay. */
export async function writeImport(
  store: Pick<SubscriberStore, 'import' | 'suppress'>,
  { source, suppress, statuses, reading }: ImportPlan,
  { onRejected, onBatch, signal }: WriteOptions,
): Promise<ListTally> {
  let tally: ListTally = { added: 0, known: 0, suppressed: 0, optedOut: 0, removed: 0, kept: 0, skipped: 0 }
  const update = (change: Partial<ListTally>) => {
    tally = { ...tally, ...change }
    onBatch(tally)
  }

  if (suppress || statuses.some(({ status }) => status === 'suppressed')) {
    // Rows are rejected when they are read for the last time.
    const rows = readOptOuts(source, suppress ? { ...reading, onRejected } : reading)
    const onOptOuts = (optOuts: OptOutTally) => update(toOptOuts(optOuts))
    await suppressRows(store, rows, { removeUndated: suppress, onBatch: onOptOuts, signal })
  }
  if (suppress) return tally

  let skipped = 0
  const onSkipped = (count: number) => {
    skipped += count
  }
  const rows = readSubscribers(source, { ...reading, onRejected, onSkipped })
  await importRows(store, rows, { onBatch: update, signal })
  return { ...tally, skipped }
}

function toOptOuts({ added, removed, kept, known }: OptOutTally): Pick<ListTally, 'optedOut' | 'removed' | 'kept'> {
  return { optedOut: added + removed + kept + known, removed, kept }
}
