/** Reads a text as an import does, without a list. */

import { toDoubtText } from '../../src/transfer/reading/doubt.ts'
import type { Column, ReadOptions } from '../../src/transfer/reading/layout.ts'
import { createReview, toReviewLines } from '../../src/transfer/reading/review.ts'
import { readRows } from '../../src/transfer/reading/rows.ts'

import { parseTable } from '../../src/transfer/reading/table.ts'
import type { Status } from '../../src/transfer/reading/words.ts'

export type Options = Partial<ReadOptions>

/** @param file its name @throws Error that names the values that nobody knows, such as `status: line 3: "VIP" in 1 rows` */
export function read(text: string, options: Options = {}, file = 'list') {
  const table = parseTable(text, file, options.column !== undefined)
  const reading = readRows(table, options)
  const values = [...reading.values]
  const unknown = values.filter(({ status }) => !status)
  if (unknown.length > 0) {
    const toText = ({ column, line, value, rows }: (typeof unknown)[number]) =>
      `${column}: line ${line}: ${JSON.stringify(value)} in ${rows} rows`
    throw new Error(unknown.map(toText).join('; '))
  }
  const { layout } = reading
  const review = createReview(reading, undefined)
  const toNames = (found: readonly Column[]) => (table.names ? found.map(({ name }) => name).join(', ') : '')
  return {
    ...reading,
    values,
    skipped: reading.counts.skip,
    address: toNames([layout.address]),
    date: toNames(layout.dates),
    status: toNames(layout.statuses.map(({ column }) => column)),
    unread: layout.unread.map(({ name }) => name),
    doubts: review.doubts.map(toDoubtText),
    lines: toReviewLines(review),
  }
}

/** Treatments such as `x=skip, gone=suppressed`. */
export function treat(text: string): Pick<ReadOptions, 'treat'> {
  return { treat: new Map(text.split(', ').map((part) => part.split('=') as [string, Status])) }
}
