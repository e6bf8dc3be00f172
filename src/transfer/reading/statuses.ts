/** What the values of a status column mean. */

import { isBlank, isDate } from './dates.ts'
import { DATE, EMPTY, NO, type StatusRule } from './programs.ts'
import { findFlag, findStatus, STATUSES, type Status, saysLeft, toPlain, toPlainValue } from './words.ts'

/** A value of a status column. Cells that mean the same, and are written alike, share it. */
export interface Value {
  /** The name of the column. */
  readonly column: string
  /** As in the first cell with it; empty for none, `a date` for all dates. */
  readonly value: string
  /** Undefined when nobody knows it. */
  readonly status: Status | undefined
  /** An empty value that nobody knows: it is skipped. */
  readonly isAssumed: boolean
  /** How many rows have it, and the first of them; 0 before. */
  rows: number
  line: number
}

/** What values mean, by `VALUE` or `COLUMN:VALUE`. */
export type Treatments = ReadonlyMap<string, Status>

/** A value as it is compared: empty for all that mean no value. */
const toKey = (value: string) => (isBlank(value.trim()) ? '' : toPlainValue(value))

/** The treatments for a column, by key. Those of `COLUMN:VALUE` count before those of `VALUE`. */
function selectTreatments(treat: Treatments, name: string): Treatments {
  const start = `${name.toLowerCase()}:`
  const own = [...treat].filter(([text]) => text.toLowerCase().startsWith(start))
  const values = own.map(([text, status]) => [text.slice(start.length), status] as const)
  return new Map([...treat, ...values].map(([text, status]) => [toKey(text), status]))
}

/** Different cells of a column whose value is kept, because to find it takes long. */
const MAX_CELLS = 1000

/**
 * Creates the function that finds the value of a cell. Its status is the first of these: what the owner says about the value; left,
 * when a cell of a column that the owner named says so; what the rules say; what a word means; what the owner says about `*`.
 *
 * @param column its name
 * @param isNamed whether the owner named it
 */
export function createFindValue(
  column: string,
  rules: readonly StatusRule[],
  treat: Treatments,
  isNamed: boolean,
): (cell: string) => Value {
  const treatments = selectTreatments(treat, column)
  const toValues = (status: Status) => rules.flatMap((rule) => rule[status] ?? []).map(toPlain)
  // If several rules have a value, the strictest status counts: it is the last one.
  const known = new Map(STATUSES.flatMap((status) => toValues(status).map((value) => [value, status] as const)))
  const hasWords = known.size === 0 || rules.some((rule) => rule.hasWords || STATUSES.every((status) => !rule[status]))
  const any = treatments.get('*')
  // If any other value has this status, an empty one and `no` have the opposite one.
  const ofNo = isNamed && any ? (any === 'subscribed' ? 'skip' : 'subscribed') : undefined
  const values = new Map<string, Value>()
  const cells = new Map<string, Value>()

  function findValue(cell: string): Value {
    const isDated = isDate(cell)
    const value = isDated ? 'a date' : cell.trim()
    const key = toKey(value)
    const kind = key === '' ? EMPTY : isDated ? DATE : findFlag(key)
    const left = isNamed && saysLeft(cell) ? 'suppressed' : undefined
    const word = hasWords ? findStatus(key) : undefined
    const found = treatments.get(key) ?? left ?? known.get(key) ?? known.get(kind ?? '') ?? word
    const status = found ?? (kind === EMPTY || kind === NO ? ofNo : any)
    // A column that the owner named has a meaning for every value.
    const isAssumed = !status && kind === EMPTY && !isNamed
    const create = (): Value => ({ column, value, status: isAssumed ? 'skip' : status, isAssumed, rows: 0, line: 0 })
    return values.getOrInsertComputed(`${status} ${key}`, create)
  }

  return (cell) => {
    const value = cells.get(cell) ?? findValue(cell)
    if (cells.size < MAX_CELLS) cells.set(cell, value)
    return value
  }
}
