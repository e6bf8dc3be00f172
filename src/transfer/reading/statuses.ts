/** What a column holds. Finds the columns that say who left, and what their values mean. */

import { isBlank, isDate } from './dates.ts'
import { DATE, EMPTY, NO, RULES, type StatusRule } from './programs.ts'
import { findFlag, findStatus, STATUSES, type Status, saysLeft, toPlain, toPlainValue } from './words.ts'

/** A cell, and the line or record of its row. */
export interface Cell {
  readonly line: number
  readonly cell: string
}

/** A column of a table, and what its cells hold. */
export interface Column {
  /** Its index in the cells of a row. */
  readonly index: number
  /** Its name; `column` with its number if it has none. */
  readonly name: string
  /** The name as it is compared. */
  readonly plain: string
  /** Its name in an option, or its number if another column has the name. */
  readonly option: string
  /** Its cells in the first rows, trimmed, without blank ones. */
  readonly sample: readonly string[]
  /** How many rows have each of the first different values. This and what follows: only if it is not read, in rows of people who have not left. */
  readonly values: Map<string, number>
  /** Cells without a value, cells with an `@` (of the address too), and all others. */
  readonly cells: { empty: number; addresses: number; others: number }
  /** The first cell that says that somebody left; of the address, beside the address. */
  left: Cell | undefined
}

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

export interface StatusColumn {
  readonly column: Column
  /** Whether it says who unsubscribed. Otherwise it says only who bounced, or confirmed. */
  readonly saysWhoLeft: boolean
  find(cell: string): Value
}

type Treatments = ReadonlyMap<string, Status>

/**
 * Finds the status columns of a table.
 *
 * @param given columns that the owner named, and those to ignore. One that is named is not ignored
 */
export function findStatusColumns(
  columns: readonly Column[],
  { named, ignored }: Readonly<Record<'named' | 'ignored', readonly Column[]>>,
  treat: Treatments,
): readonly StatusColumn[] {
  const isColumn = (name: string) => columns.some(({ plain }) => plain === toPlain(name))
  const possible = RULES.filter((rule) => (!rule.with || rule.with.some(isColumn)) && !rule.without?.some(isColumn))
  return columns.flatMap((column) => {
    const rules = possible.filter((rule) => rule.columns.map(toPlain).includes(column.plain))
    const isNamed = named.includes(column)
    if (!isNamed && (rules.length === 0 || ignored.includes(column))) return []
    const saysWhoLeft = isNamed || rules.some(({ isPartial }) => !isPartial)
    return {
      column,
      saysWhoLeft,
      find: createFind({ ...column, rules, isNamed }, selectTreatments(treat, column.name)),
    }
  })
}

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

/** Creates the function that finds the value of a cell. */
function createFind(
  { name, rules, isNamed }: { name: string; rules: readonly StatusRule[]; isNamed: boolean },
  treatments: Treatments,
): StatusColumn['find'] {
  const toValues = (status: Status) => rules.flatMap((rule) => rule[status] ?? []).map(toPlain)
  // The strictest status counts if several rules have a value.
  const known = new Map(STATUSES.flatMap((status) => toValues(status).map((value) => [value, status] as const)))
  const hasWords = known.size === 0 || rules.some((rule) => rule.hasWords || STATUSES.every((status) => !rule[status]))
  const any = treatments.get('*')
  // Where any value means that somebody left, no value means the opposite.
  const opposite = isNamed && any ? (any === 'subscribed' ? 'skip' : 'subscribed') : undefined
  const values = new Map<string, Value>()
  const cells = new Map<string, Value>()

  function findValue(cell: string): Value {
    const text = isDate(cell) ? 'a date' : cell.trim()
    const key = toKey(text)
    const kind = key === '' ? EMPTY : text === cell.trim() ? findFlag(key) : DATE
    const left = isNamed && saysLeft(cell) ? 'suppressed' : undefined
    const word = hasWords ? findStatus(key) : undefined
    // What the owner says about this very value counts first, and `*` last.
    const found = treatments.get(key) ?? left ?? known.get(key) ?? known.get(kind ?? '') ?? word
    const status = found ?? (kind === EMPTY || kind === NO ? opposite : any)
    // A column that the owner named has a meaning for every value.
    const isAssumed = !status && kind === EMPTY && !isNamed
    const value = {
      column: name,
      value: text,
      status: isAssumed ? 'skip' : status,
      isAssumed,
      rows: 0,
      line: 0,
    } as const
    return values.getOrInsertComputed(`${value.status} ${key}`, () => ({ ...value }))
  }

  return (cell) => {
    const value = cells.get(cell) ?? findValue(cell)
    if (cells.size < MAX_CELLS) cells.set(cell, value)
    return value
  }
}
