/** The result of an import, as text or JSON, and whether it failed. */

import type { ListTally } from '../transfer/list-import.ts'
import type { ColumnNames } from '../transfer/reading/rows.ts'
import type { StatusCount } from '../transfer/reading/survey.ts'
import { note, print, printJson, toCount } from './output.ts'

/** The result of an import. */
export interface Summary extends ListTally {
  /** Rows that are not valid. */
  readonly refused: number
  /** The file of these rows. */
  readonly rejected: string | null
  /** The names of the columns that were read. */
  readonly columns: ColumnNames
  /** How many rows have each value of the status columns. */
  readonly statuses: readonly StatusCount[]
}

/** Says why an import failed; undefined if it did not. */
export function findFailure(summary: Summary): string | undefined {
  const { added, known, suppressed, optedOut, skipped, refused } = summary
  const isUseless = refused > 0 && added + known + suppressed + optedOut + skipped === 0
  return isUseless ? 'no row could be imported' : undefined
}

export async function printSummary(summary: Summary, { dryRun, json }: { dryRun?: true; json?: true }): Promise<void> {
  if (json) return await printJson(toJson(summary))
  const lines = [toCounts(summary), ...toColumnLines(summary)]
  await print((dryRun ? 'dry run: ' : '') + lines.join('\n'))
  if (summary.kept > 0) {
    const people = toCount(summary.kept, 'person who opted out stays', 'people who opted out stay')
    note(`${people} on the list: the subscription is newer, or the date of the opt-out is unknown`)
  }
  if (summary.rejected) note(`rejected rows, with line numbers and reasons: ${summary.rejected}`)
}

function toJson(summary: Summary) {
  const { added, known, suppressed, optedOut, removed, kept, skipped, refused, rejected, columns, statuses } = summary
  const optOuts = { opted_out: optedOut, removed, kept }
  return {
    added,
    known,
    suppressed,
    ...optOuts,
    skipped,
    rejected: refused,
    rejected_file: rejected,
    columns,
    statuses,
  }
}

function toCounts({ added, known, suppressed, optedOut, removed, skipped, refused, columns }: Summary): string {
  const hasStatus = columns.status.length > 0 || optedOut > 0
  const left = `${optedOut} opted out${removed > 0 ? ` (${removed} removed from the list)` : ''}`
  return [
    `${added} new`,
    `${known} known`,
    `${suppressed} suppressed`,
    ...(hasStatus ? [left, `${skipped} skipped`] : []),
    `${refused} rejected`,
  ].join(', ')
}

/** Which columns were read. A file with one address per line has none. */
function toColumnLines({ columns, statuses }: Summary): string[] {
  if (columns.email.length === 0) return []
  const toNames = (names: readonly string[]) => names.map((name) => JSON.stringify(name)).join(', ') || 'none'
  return [
    `address: ${toNames(columns.email)}; date: ${toNames(columns.date)}; status: ${toNames(columns.status)}`,
    ...statuses.map(({ column, value, status, rows }) => `${column}: ${value}: ${toCount(rows, 'row')}, ${status}`),
  ]
}
