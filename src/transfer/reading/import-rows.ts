/** From the rows of an older list to those that may be imported; the others are refused, each with its reason. */

import type { Result } from '../../result.ts'
import type { ImportRow } from '../../subscriber.ts'
import { readAddress } from './addresses.ts'
import { parseDate } from './dates.ts'
import type { Source, SourceRow } from './rows.ts'

/** A row that cannot be imported, with the reason in words for the owner. */
export interface RefusedRow {
  readonly row: SourceRow
  readonly reason: string
}

export interface RowReader {
  readonly pages: AsyncIterable<readonly ImportRow[]>
  /** Rows that have been refused so far. */
  readonly refused: number
}

/** Reads all rows of a source. */
export function readRows(
  source: Source,
  onRefused: (rows: readonly RefusedRow[]) => Promise<void>,
): RowReader {
  let count = 0

  async function* read(): AsyncGenerator<readonly ImportRow[]> {
    for await (const page of source.pages) {
      const rows: ImportRow[] = []
      const refused: RefusedRow[] = []
      for (const row of page) {
        const result = parseRow(row)
        if (result.ok) rows.push(result.value)
        else refused.push({ row, reason: row.remark ? `${result.reason}; ${row.remark}` : result.reason })
      }
      count += refused.length
      await onRefused(refused)
      yield rows
    }
  }

  return {
    pages: read(),
    get refused() {
      return count
    },
  }
}

function parseRow({ email, date }: SourceRow): Result<ImportRow, string> {
  const address = readAddress(email)
  if (!address.ok) return address
  const parsed = parseDate(date)
  return parsed.ok ? { ok: true, value: { email: address.value, subscribedAt: parsed.value } } : parsed
}
