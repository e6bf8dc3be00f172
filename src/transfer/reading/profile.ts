/** What a column that is not read holds: collected row by row, of people who have not left. */

import { isBlank, isDate } from './dates.ts'
import { findFlag, saysLeft, saysNo, toPlain } from './words.ts'

/** A cell, and the line or record of its row. */
export interface Cell {
  readonly line: number
  readonly cell: string
}

/** What a column holds. */
export interface Profile {
  /** How many rows have each of the first different values. */
  readonly values: ReadonlyMap<string, number>
  /** Cells without a value. */
  readonly empty: number
  /** Cells with an address that is not the one of the row. */
  readonly addresses: number
  /** Cells with a value and without an address. */
  readonly others: number
  /** The first cell that says that somebody left. */
  readonly left: Cell | undefined
  /** The first cell of somebody who would be added that says no. */
  readonly no: Cell | undefined
  /** Whether all values are flags, such as yes, no, 1 and 0. */
  readonly hasFlagsOnly: boolean
  /**
   * Whether it cannot say who left, even if its name says so: the same value that is no flag, a date, or the address again, in all rows;
   * or no value at all.
   */
  readonly saysNothing: boolean
}

/** Different values of a column that are kept. One more says that there are others. */
export const MAX_VALUES = 20

/** Most characters that are kept of a cell. */
export const MAX_CELL_TEXT = 1000

/** So many cells of a column are parsed as dates. In those after them, a digit is enough. */
const DATES = 1000

/** Longer cells do not say no. */
const MAX_NO = 60

/** Longer cells are no flag. */
const MAX_FLAG = 20

/**
 * Finds who says no in a column: `learn` which values say no, from the rows of all who have not left, and `meet` the first person to be
 * added who has one.
 */
class Answers {
  /** Values that say no. */
  readonly #noes = new Set<string>()
  /** Flags that may be a number or a letter, such as 0 and N: they say no if all values of the column are flags. */
  readonly #offs = new Set<string>()
  #no: Cell | undefined
  #off: Cell | undefined
  haveFlagsOnly = true

  /** Looks at a value that was not seen yet, or is not kept. */
  learn(cell: string): void {
    const flag = cell.length <= MAX_FLAG ? findFlag(toPlain(cell)) : undefined
    if (!flag) this.haveFlagsOnly = false
    if (flag === 'no') this.#offs.add(cell)
    if (!this.#no && cell.length <= MAX_NO && saysNo(cell)) this.#noes.add(cell)
  }

  /** Takes the cell of somebody who would be added. */
  meet(cell: string, line: number): void {
    if (!this.#no && this.#noes.has(cell)) this.#no = { line, cell }
    if (!this.#off && this.#offs.has(cell)) this.#off = { line, cell }
  }

  /** Returns the first cell that says no. */
  findNo(): Cell | undefined {
    return this.#no ?? (this.haveFlagsOnly ? this.#off : undefined)
  }
}

/** Whether a cell has a text in it, in any case. No cell holds an empty text. */
function holdsText(cell: string, text: string): boolean {
  return text !== '' && cell.toLowerCase().includes(text.toLowerCase())
}

/** Looks whether all rows have the cell of the first one, also those of people who left. */
class AllRows {
  #first: string | undefined
  rows = 0
  isConstant = true

  add(cell: string): void {
    this.#first ??= cell
    this.rows++
    if (cell !== this.#first) this.isConstant = false
  }
}

/** Counts the cells of people who have not left, by what they hold. */
class Counts {
  empty = 0
  /** Those with an address that is not the one of the row. */
  addresses = 0
  ownAddresses = 0
  /** Those with a value and without an address. */
  others = 0

  /** @param address the cell of the address in the same row */
  add(cell: string, address: string): void {
    if (isBlank(cell)) {
      this.empty++
    } else if (!cell.includes('@')) {
      this.others++
    } else if (holdsText(cell, address.trim())) {
      this.ownAddresses++
    } else {
      this.addresses++
    }
  }

  /** Those with a value. */
  get filled(): number {
    return this.others + this.addresses + this.ownAddresses
  }
}

/** Collects the profile of a column. */
export class Collector {
  readonly #all = new AllRows()
  readonly #counts = new Counts()
  readonly #values = new Map<string, number>()
  #left: Cell | undefined
  readonly #answers = new Answers()
  #hasDatesOnly = true

  /** Takes a cell of any row, also of somebody who left. */
  compare(cell: string): void {
    this.#all.add(cell)
  }

  /** Takes a cell of somebody who has not left. @param row.isAdded whether the person would be added @param row.address the cell of the address */
  add(cell: string, { line, isAdded, address }: { line: number; isAdded: boolean; address: string }): void {
    this.#counts.add(cell, address)
    if (isBlank(cell)) return
    const count = this.#values.get(cell) ?? 0
    if (count > 0 || this.#values.size <= MAX_VALUES) this.#values.set(cell, count + 1)
    if (this.#hasDatesOnly) this.#hasDatesOnly = this.#counts.others <= DATES ? isDate(cell) : /\d/.test(cell)
    if (count === 0) this.#noteWords(cell, line)
    if (isAdded) this.#answers.meet(cell, line)
  }

  /** Looks at a value that was not seen yet, or is not kept. */
  #noteWords(cell: string, line: number): void {
    if (!this.#left && saysLeft(cell)) this.#left = { line, cell: cell.slice(0, MAX_CELL_TEXT) }
    this.#answers.learn(cell)
  }

  get #isFilledEverywhere(): boolean {
    return this.#all.rows > 1 && this.#counts.filled > 0 && this.#counts.empty === 0
  }

  /** Whether all rows have the same value. */
  get #isSame(): boolean {
    if (!this.#isFilledEverywhere || this.#values.size !== 1) return false
    // When a single person has not left, one value shows nothing. So then those who left must have it too.
    return this.#counts.filled > 1 || this.#all.isConstant
  }

  get #hasFlagsOnly(): boolean {
    return this.#counts.filled > 0 && this.#answers.haveFlagsOnly
  }

  get #saysNothing(): boolean {
    // Such as "Source: website" in all rows. A flag, such as "Unsubscribed: yes" in all rows, may say that all of them left.
    if (this.#isSame && !this.#hasFlagsOnly) return true
    if (this.#isFilledEverywhere && this.#hasDatesOnly) return true
    // The address again. Also when no cell has a value.
    return this.#all.rows > 1 && this.#counts.ownAddresses === this.#counts.filled
  }

  toProfile(): Profile {
    return {
      values: this.#values,
      empty: this.#counts.empty,
      addresses: this.#counts.addresses,
      others: this.#counts.others,
      left: this.#left,
      // If all people say the same, it is about the list, such as "Suspended: no".
      no: this.#isSame ? undefined : this.#answers.findNo(),
      hasFlagsOnly: this.#hasFlagsOnly,
      saysNothing: this.#saysNothing,
    }
  }
}
