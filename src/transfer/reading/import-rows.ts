/** Checks the rows of a source: some can be imported, the others are rejected with a reason. */

import type { Result } from '../../result.ts'
import type { ImportRow } from '../../subscriber.ts'
import { parseIdnAddress } from './addresses.ts'
import { parseDate } from './dates.ts'
import type { Source, SourceRow } from './rows.ts'

/** A row that cannot be imported, and for the owner why not. */
export interface RejectedRow {
  readonly row: SourceRow
  readonly reason: string
}

/** Reads the rows that can be imported, in pages; `onRejected` gets the others of each page. */
export async function* readRows(
  { pages }: Source,
  onRejected: (rows: readonly RejectedRow[]) => Promise<void>,
): AsyncGenerator<readonly ImportRow[]> {
  for await (const page of pages) {
    const rows: ImportRow[] = []
    const rejected: RejectedRow[] = []
    for (const row of page) {
      const result = parseRow(row)
      if (result.ok) rows.push(result.value)
      else rejected.push({ row, reason: row.problem ? `${result.reason}; ${row.problem}` : result.reason })
    }
    if (rejected.length > 0) await onRejected(rejected)
    yield rows
  }
}

function parseRow({ email, date }: SourceRow): Result<ImportRow, string> {
  const address = parseIdnAddress(email)
  if (!address.ok) return address
  const subscribedAt = parseDate(date)
  return subscribedAt.ok
    ? { ok: true, value: { email: address.value, subscribedAt: subscribedAt.value } }
    : subscribedAt
}
