/** From the rows of an older list to those that may be imported; the others are refused, each with its reason. */

import type { ImportRow } from '../../subscriber.ts'
import type { RefusedFile, RefusedRow } from '../writing/rejected-file.ts'
import { readAddress } from './addresses.ts'
import { parseDate } from './dates.ts'
import type { Source, SourceRow } from './rows.ts'

export interface RowReader {
  readonly pages: AsyncIterable<readonly ImportRow[]>
  /** Rows that have been refused so far. */
  readonly refused: number
}

/** Reads all rows of a source. */
export function readRows(source: Source, file: Pick<RefusedFile, 'add'>): RowReader {
  let count = 0

  async function* read(): AsyncGenerator<readonly ImportRow[]> {
    for await (const page of source.pages) {
      const rows: ImportRow[] = []
      const refused: RefusedRow[] = []
      for (const row of page) {
        const result = toImportRow(row)
        if ('email' in result) rows.push(result)
        else refused.push({ row, reason: row.remark ? `${result.reason}; ${row.remark}` : result.reason })
      }
      count += refused.length
      await file.add(refused)
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

function toImportRow({ email, date }: SourceRow): ImportRow | { readonly reason: string } {
  const read = readAddress(email)
  if ('reason' in read) return read
  const parsed = parseDate(date)
  return 'reason' in parsed ? parsed : { email: read.address, subscribedAt: parsed.date }
}
