/** Reads the status columns of a row. */

import { isBlank, isDate } from './dates.ts'
import { A_DATE } from './evidence.ts'
import { toPlain, toPlainNames } from './names.ts'
import { DATE, EMPTY, NO, PROGRAMS, type StatusRule } from './programs.ts'
import { findFlag, STATUSES, type Status, saysLeft, toPlainValue, WORDS } from './words.ts'

/** What a cell of a status column means. */
export interface Meaning {
  /** Rows with the same key are counted together. */
  readonly key: string
  /** As in the cell, `empty` or `a date`. */
  readonly value: string
  readonly status: Status
  /** The value of `--treat` that says so. */
  readonly treatment?: string | undefined
}

export interface StatusColumn {
  readonly index: number
  readonly name: string
  /** Whether somebody who left in it shows that the file says who unsubscribed: see decision 9. */
  readonly showsUnsubscribed: boolean
  find(cell: string): Meaning | undefined
}

/** Statuses by value, or by `COLUMN:VALUE`, before the known meanings. See docs/import.md for `*`. */
export type Treatments = ReadonlyMap<string, Status>

/** Parts of a postal address, plain. */
const POSTAL_NAMES = toPlainNames('address, address1, address2, street, city, zip, zip code, postcode, country')

const RULES = PROGRAMS.flatMap(({ rules }) => rules)

/**
 * Finds the status columns of a table.
 *
 * @param names of all columns
 * @param given the indexes of columns that the owner named, and of those that are not read
 */
export function findStatusColumns(
  names: readonly string[],
  { named, ignored }: Readonly<Record<'named' | 'ignored', readonly number[]>>,
  treat: Treatments,
): readonly StatusColumn[] {
  const plain = names.map(toPlain)
  const known = plain.map((name) => RULES.filter((rule) => isRuleOf(rule, name, plain)))
  const isStrong = (rules: readonly StatusRule[] = []) => rules.some(({ isWeak }) => !isWeak)
  const allowsWeak = !known.some(isStrong) && !plain.some((name) => POSTAL_NAMES.includes(name))
  const isKnown = (index: number) => isStrong(known[index]) || (allowsWeak && known[index]?.length !== 0)
  return [...names.keys()]
    .filter((index) => named.includes(index) || (isKnown(index) && !ignored.includes(index)))
    .map((index) => {
      const rules = known[index] ?? []
      const isNamed = named.includes(index)
      const showsUnsubscribed = !isNamed && !rules.some(({ hasBouncesOnly }) => hasBouncesOnly)
      const find = createFind(rules, isNamed, selectTreatments(treat, index, plain))
      return { index, name: names[index] ?? '', showsUnsubscribed, find }
    })
}

function isRuleOf(rule: StatusRule, name: string, names: readonly string[]): boolean {
  const hasName = rule.columns.some((column) => toPlain(column) === name)
  return hasName && (!rule.with || rule.with.some((required) => names.includes(toPlain(required))))
}

/** A value as it is compared: empty for all that mean no value. */
function toKey(value: string): string {
  return isBlank(value.trim()) ? '' : toPlainValue(value)
}

/** The treatments for a column, by key. Those of `COLUMN:VALUE` count before those of `VALUE`. */
function selectTreatments(treat: Treatments, index: number, plain: readonly string[]): ReadonlyMap<string, Known> {
  const isColumn = (text: string) => plain.includes(toPlain(text))
  const all = [...treat].map(([treatment, status]) => {
    const colons = [...treatment.matchAll(/:/g)].map((colon) => colon.index)
    const end = colons.findLast((colon) => isColumn(treatment.slice(0, colon))) ?? -1
    const column = end < 0 ? undefined : toPlain(treatment.slice(0, end))
    return { column, key: toKey(treatment.slice(end + 1)), known: { status, treatment } }
  })
  const select = (wanted: string | undefined) => all.filter(({ column }) => column === wanted)
  return new Map([...select(undefined), ...select(plain[index])].map(({ key, known }) => [key, known]))
}

type Known = Pick<Meaning, 'status' | 'treatment'>

/** Cells of a column whose meaning is kept. */
const MAX_CELLS = 1000

/** Creates the function that finds the meaning of a cell; undefined when nobody knows it. */
function createFind(
  rules: readonly StatusRule[],
  isNamed: boolean,
  treatments: ReadonlyMap<string, Known>,
): StatusColumn['find'] {
  const values = toValues(rules)
  const hasWords = values.size === 0 || rules.some((rule) => rule.hasWords || STATUSES.every((status) => !rule[status]))
  const any = treatments.get('*')
  const meanings = new Map<string, Meaning | undefined>()

  function findKnown(cell: string, key: string, kind: string): Known | undefined {
    const treated = treatments.get(key)
    if (treated) return treated
    const hasValue = kind !== EMPTY && kind !== NO
    // Whoever left is never added, whatever the other values mean.
    const isLeft = isNamed && saysLeft(cell)
    if (isNamed && any && hasValue && !(isLeft && any.status === 'subscribed')) return any
    const status = isLeft ? 'suppressed' : (values.get(key) ?? values.get(kind) ?? (hasWords && WORDS.get(key)))
    if (status || !any) return status ? { status } : undefined
    if (hasValue) return any
    // Where any value means that somebody left, no value means the opposite.
    return isNamed ? { status: any.status === 'subscribed' ? 'skip' : 'subscribed' } : undefined
  }

  return (cell) => {
    if (meanings.has(cell)) return meanings.get(cell)
    const key = toKey(cell)
    const kind = key === '' ? EMPTY : isDate(cell) ? DATE : `(${findFlag(key)})`
    const known = findKnown(cell, key, kind)
    const value = kind === DATE ? A_DATE : cell.trim() || 'empty'
    const meaning = known && { ...known, key: `${kind === DATE ? DATE : key} ${known.status}`, value }
    if (meanings.size < MAX_CELLS) meanings.set(cell, meaning)
    return meaning
  }
}

/** The meanings of values. A stricter one counts if several rules have the value. */
function toValues(rules: readonly StatusRule[]): ReadonlyMap<string, Status> {
  const toKey = (value: string) => (value.startsWith('(') ? value : toPlain(value))
  return new Map(
    STATUSES.flatMap((status) => rules.flatMap((rule) => (rule[status] ?? []).map((value) => [toKey(value), status]))),
  )
}

/** What a column says about a row. */
interface Reading {
  readonly column: StatusColumn
  /** Undefined when the row ends before it. */
  readonly cell: string | undefined
  /** Undefined when nobody knows it. */
  readonly meaning: Meaning | undefined
}

/** What the status columns say about a row. */
export interface RowStatus {
  readonly readings: readonly Reading[]
  /** The strictest of them; undefined when one is unclear. */
  readonly status?: Status
  /** The first that has no meaning. */
  readonly unclear?: Reading
  /** The date of an opt-out, as in the file. */
  readonly optedOutAt?: string | undefined
}

/** Reads the status of a row. */
export function readStatus(columns: readonly StatusColumn[], cells: readonly string[]): RowStatus {
  const readings = columns.map((column): Reading => {
    const cell = cells[column.index]
    return { column, cell, meaning: cell === undefined ? undefined : column.find(cell) }
  })
  const strictest = STATUSES.findLast((status) => readings.some(({ meaning }) => meaning?.status === status))
  const unclear = readings.find(({ meaning }) => !meaning)
  // A person who left in one column has left, also if another one is unclear.
  if (unclear && strictest !== 'suppressed') return { readings, unclear }
  const dated = readings.find(({ meaning }) => meaning?.status === 'suppressed' && meaning.value === A_DATE)
  return { readings, status: strictest ?? 'subscribed', optedOutAt: dated?.cell }
}
