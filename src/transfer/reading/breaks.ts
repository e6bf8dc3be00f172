/** Finds a row that a line break splits in two, because its cell is not in quotes. Pure. */

import { parseOwnerAddresses } from './addresses.ts'
import type { Row } from './csv.ts'
import { isDate } from './dates.ts'
import type { Column, Layout } from './layout.ts'

/** Why a part of a row is not read. */
export const BROKEN = 'with the line before or after it, it may be one row: a line break is not in quotes'

/**
 * Gives two neighbors a problem when they may be one row that is split. Each part alone could have an address that is in no file, or
 * the status of nobody: `bo.` and `1@site.io,active`.
 *
 * Many programs leave out empty cells at the end of a row, so a short row alone shows nothing.
 *
 * @param width the number of columns
 */
export function* markBroken(rows: Iterable<Row>, layout: Layout, width: number): Generator<Row, undefined> {
  let before: Row | undefined
  let isPart = false
  for (const row of rows) {
    const isSplit = before !== undefined && isSplitRow(before, row, layout, width)
    if (before) yield isPart || isSplit ? toBroken(before) : before
    before = row
    isPart = isSplit
  }
  if (before) yield isPart ? toBroken(before) : before
}

const toBroken = (row: Row): Row => ({ ...row, problem: row.problem ?? BROKEN })

/**
 * Whether two rows together are one that can be read. They are two when both have an address. They are also two when one of them alone
 * says all that both together would say: then nothing of it was in the other one.
 */
function isSplitRow({ cells: start }: Row, { cells: end }: Row, layout: Layout, width: number): boolean {
  const isShort = start.length < width || end.length < width
  const fitsOneRow = start.length + end.length - 1 <= width
  if (!isShort || !fitsOneRow) return false
  const broken = start.length - 1
  const joined = [...start.slice(0, broken), `${start[broken]}${end[0]}`, ...end.slice(1)]
  if (!isReadable(joined, layout)) return false
  const hasAddress = (cells: readonly string[]) => toAddresses(cells, layout) !== ''
  const haveBoth = hasAddress(start) && hasAddress(end)
  return !haveBoth && !saysSame(start, joined, layout) && !saysSame(end, joined, layout)
}

const toCell = (cells: readonly string[], { index }: Column) => cells[index]?.trim() ?? ''

/** The addresses of a row; empty for none. */
function toAddresses(cells: readonly string[], { address }: Layout): string {
  const found = parseOwnerAddresses(toCell(cells, address))
  return found.ok ? found.value.join() : ''
}

/** Whether a row has an address, a known status, and a date where it has one. */
function isReadable(cells: readonly string[], layout: Layout): boolean {
  const isKnown = layout.statuses.every(({ column, findValue }) => findValue(toCell(cells, column)).status)
  const areDates = layout.dates.every((column) => toCell(cells, column) === '' || isDate(toCell(cells, column)))
  return isKnown && areDates && toAddresses(cells, layout) !== ''
}

/** Whether two rows have the same in all columns that are read. */
function saysSame(one: readonly string[], other: readonly string[], layout: Layout): boolean {
  const columns = [...layout.dates, ...layout.statuses.map(({ column }) => column)]
  const isSame = toAddresses(one, layout) === toAddresses(other, layout)
  return isSame && columns.every((column) => toCell(one, column) === toCell(other, column))
}
