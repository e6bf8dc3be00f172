/** The rows of a list as an export writes them, and what must hold for them. */

import { check, toSample } from './check.ts'
import type { List } from './rollcall.ts'

/** A row of an export. */
export interface Row {
  readonly email: string
  readonly subscribed_at: string
  readonly seq: number
}

/** Options of an export that writes every row. */
export const EVERYTHING = ['--format', 'ndjson', '--include-reserved'] as const

/** Reads the whole list. Fails when the order is wrong. */
export async function readRows(list: List): Promise<Row[]> {
  return parseRows(await list.run(['export', ...EVERYTHING]))
}

/** Parses rows, and checks that the cursor grows. */
export function parseRows(text: string): Row[] {
  const rows = text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Row)
  for (const [index, { seq }] of rows.entries()) {
    const before = rows[index - 1]?.seq ?? 0
    check(seq > before, () => `the cursor does not grow: ${seq} follows ${before}`)
  }
  return rows
}

/** The rows by identity. Fails when an address is listed twice. */
export function byIdentity(rows: readonly Row[]): Map<string, Row> {
  const listed = new Map<string, Row>()
  for (const row of rows) {
    const identity = row.email.toLowerCase()
    const earlier = listed.get(identity)
    check(!earlier, () => `an address is on the list twice, at ${earlier?.seq} and ${row.seq}: ${identity}`)
    listed.set(identity, row)
  }
  return listed
}

/** Fails when an acknowledged address is not among the listed ones. */
export function checkNoneLost(listed: ReadonlyMap<string, Row>, acknowledged: Iterable<string>): void {
  const lost = [...acknowledged].filter((identity) => !listed.has(identity))
  check(lost.length === 0, () => `${lost.length} acknowledged addresses are lost: ${toSample(lost)}`)
}

/** Fails when an address is listed that nobody sent. */
export function checkAllSent(listed: ReadonlyMap<string, Row>, isSent: (identity: string) => boolean): void {
  const strange = [...listed.keys()].filter((identity) => !isSent(identity))
  check(strange.length === 0, () => `addresses that nobody sent are listed: ${toSample(strange)}`)
}
