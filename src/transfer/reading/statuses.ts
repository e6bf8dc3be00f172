/** Finds the columns that say who left, and reads the status of a row from them. */

import { isBlank, isDate } from './dates.ts'
import { DATE, EMPTY, NO, RULES, type StatusRule } from './programs.ts'
import { findFlag, STATUSES, type Status, saysLeft, toPlain, toPlainValue, WORDS } from './words.ts'

/** What a value of a status column means. Rows whose value means the same, and is written alike, share one object. */
export interface Meaning {
  /** The name of the column. */
  readonly column: string
  /** As in the first cell with it; `empty` or `a date` if the import knows what that means. */
  readonly value: string
  /** Undefined when nobody knows it. */
  readonly status: Status | undefined
  /** An empty value that nobody knows: it is skipped. */
  readonly isAssumed: boolean
}

export interface StatusColumn {
  readonly index: number
  /** Whether it says who unsubscribed. Otherwise it says only who bounced, or confirmed. */
  readonly saysWhoLeft: boolean
  find(cell: string): Meaning
}

type Treatments = ReadonlyMap<string, Status>

/**
 * Finds the status columns of a table.
 *
 * @param given the indexes of columns that the owner named, and of those to ignore. One that is named is not ignored
 */
export function findStatusColumns(
  names: readonly string[],
  { named, ignored }: Readonly<Record<'named' | 'ignored', readonly number[]>>,
  treat: Treatments,
): readonly StatusColumn[] {
  const plain = names.map(toPlain)
  const isColumn = (name: string) => plain.includes(toPlain(name))
  const possible = RULES.filter((rule) => (!rule.with || rule.with.some(isColumn)) && !rule.without?.some(isColumn))
  return names.flatMap((name, index) => {
    const rules = possible.filter(({ columns }) => columns.map(toPlain).includes(plain[index] ?? ''))
    const isNamed = named.includes(index)
    if (!isNamed && (rules.length === 0 || ignored.includes(index))) return []
    const saysWhoLeft = isNamed || rules.some(({ isPartial }) => !isPartial)
    return { index, saysWhoLeft, find: createFind({ name, rules, isNamed }, selectTreatments(treat, name)) }
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

/** Different cells of a column whose meaning is kept, because to find it takes long. */
const MAX_CELLS = 1000

/** Creates the function that finds the meaning of a cell. */
function createFind(
  { name, rules, isNamed }: { name: string; rules: readonly StatusRule[]; isNamed: boolean },
  treatments: Treatments,
): StatusColumn['find'] {
  const toValues = (status: Status) => rules.flatMap((rule) => rule[status] ?? []).map(toPlain)
  // The strictest status counts if several rules have a value.
  const values = new Map(STATUSES.flatMap((status) => toValues(status).map((value) => [value, status] as const)))
  const hasWords = values.size === 0 || rules.some((rule) => rule.hasWords || STATUSES.every((status) => !rule[status]))
  const any = treatments.get('*')
  const meanings = new Map<string, Meaning>()
  const cells = new Map<string, Meaning>()

  /** What the owner says about this very value counts first, and `*` last. */
  function findStatus(cell: string, key: string, kind = ''): Status | undefined {
    const word = hasWords ? WORDS.get(key) : undefined
    const left = isNamed && saysLeft(cell) ? 'suppressed' : undefined
    const known = treatments.get(key) ?? left ?? values.get(key) ?? values.get(kind) ?? word
    if (known || !any || (kind !== EMPTY && kind !== NO)) return known ?? any
    // Where any value means that somebody left, no value means the opposite.
    return isNamed ? (any === 'subscribed' ? 'skip' : 'subscribed') : undefined
  }

  function findMeaning(cell: string): Meaning {
    const key = toKey(cell)
    const kind = key === '' ? EMPTY : isDate(cell) ? DATE : findFlag(key)
    const found = findStatus(cell, key, kind)
    // A column that the owner named has a meaning for every value.
    const isAssumed = !found && kind === EMPTY && !isNamed
    const status = isAssumed ? 'skip' : found
    const isKnownDate = status && kind === DATE
    const value = isKnownDate ? 'a date' : status ? cell.trim() || 'empty' : cell
    return meanings.getOrInsert(JSON.stringify([status, isKnownDate || key]), {
      column: name,
      value,
      status,
      isAssumed,
    })
  }

  return (cell) => {
    const meaning = cells.get(cell) ?? findMeaning(cell)
    if (cells.size < MAX_CELLS) cells.set(cell, meaning)
    return meaning
  }
}

/** The strictest first. A person who left in one column has left, also if another one is unclear (`undefined`). */
const BY_STRICTNESS = ['suppressed', undefined, 'skip', 'subscribed'] as const

/**
 * Reads the status of a row: what each column says, `undefined` if the row ends before it, and the strictest of them,
 * `undefined` if one is unclear.
 */
export function readStatus(columns: readonly StatusColumn[], cells: readonly string[]) {
  const meanings = columns.map(({ index, find }) => (index < cells.length ? find(cells[index] ?? '') : undefined))
  const statuses = meanings.map((meaning) => meaning?.status)
  return { meanings, status: BY_STRICTNESS.find((status) => statuses.includes(status)) }
}
