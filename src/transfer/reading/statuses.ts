/** Reads the status columns of a row. */

import { classifyDate } from './dates.ts'
import { toPlain, toPlainNames } from './names.ts'
import { PROGRAMS, type StatusRule } from './programs.ts'
import { findFlag, STATUSES, type Status, saysLeft, toPlainValue, WORDS } from './words.ts'

/** What a value of a status column means. Cells with the same meaning share one object. */
export interface Meaning {
  /** As in the first cell, `empty` or `a date`. */
  readonly value: string
  readonly status: Status
  readonly isDate: boolean
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

interface StatusOptions {
  /** Indexes of columns that the owner named. */
  readonly named: readonly number[]
  /** Indexes of columns that are not read. */
  readonly ignored: readonly number[]
  readonly treat: Treatments
}

/** Statuses by value, or by `COLUMN:VALUE`, before the known meanings. See docs/import.md for `*`. */
export type Treatments = ReadonlyMap<string, Status>

/** Parts of a postal address, plain. */
const POSTAL_NAMES = toPlainNames('address, address1, address2, street, city, zip, zip code, postcode, country')

const RULES = PROGRAMS.flatMap(({ rules }) => rules)

/** Finds the status columns of a table. @param names of all columns */
export function findStatusColumns(names: readonly string[], options: StatusOptions): readonly StatusColumn[] {
  const { named, ignored, treat } = options
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
      const find = createFind(rules, { isNamed, treatments: selectTreatments(treat, index, plain) })
      return { index, name: names[index] ?? '', showsUnsubscribed, find }
    })
}

function isRuleOf(rule: StatusRule, name: string, names: readonly string[]): boolean {
  const hasName = rule.columns.some((column) => toPlain(column) === name)
  return hasName && (!rule.with || rule.with.some((required) => names.includes(toPlain(required))))
}

interface Treatment {
  readonly given: string
  readonly status: Status
}

/** The treatments for a column, by plain value. Those of `COLUMN:VALUE` count before those of `VALUE`. */
function selectTreatments(treat: Treatments, index: number, plain: readonly string[]): ReadonlyMap<string, Treatment> {
  const own = new Map<string, Treatment>()
  const others = new Map<string, Treatment>()
  for (const [given, status] of treat) {
    const end = [...given.matchAll(/:/g)].findLast((colon) =>
      plain.includes(toPlain(given.slice(0, colon.index))),
    )?.index
    if (end === undefined) others.set(toPlainValue(given), { given, status })
    else if (toPlain(given.slice(0, end)) === plain[index])
      own.set(toPlainValue(given.slice(end + 1)), { given, status })
  }
  return new Map([...others, ...own])
}

/** Cells of a column whose meaning is kept. */
const MAX_CELLS = 1000

interface FindOptions {
  readonly isNamed: boolean
  readonly treatments: ReadonlyMap<string, Treatment>
}

/** Creates the function that finds the meaning of a cell; undefined when nobody knows it. */
function createFind(rules: readonly StatusRule[], { isNamed, treatments }: FindOptions): StatusColumn['find'] {
  const values = toValues(rules)
  const hasWords = values.size === 0 || rules.some((rule) => rule.hasWords || STATUSES.every((status) => !rule[status]))
  const any = treatments.get('*')
  const meanings = new Map<string, Meaning>()
  const cells = new Map<string, Meaning | undefined>()

  function findStatus(cell: string, word: string, kind: string): Treatment | { readonly status: Status } | undefined {
    const treated = treatments.get(word) ?? (kind === '(empty)' ? treatments.get('') : undefined)
    if (treated) return treated
    const hasValue = kind !== '(empty)' && kind !== '(no)'
    const isLeft = isNamed && saysLeft(cell)
    // Whoever left is never added, whatever the other values mean.
    if (isNamed && any && hasValue && !(isLeft && any.status === 'subscribed')) return any
    const known = values.get(word) ?? values.get(kind) ?? (hasWords ? WORDS.get(word) : undefined)
    const status = isLeft ? 'suppressed' : known
    if (status || !any) return status && { status }
    if (hasValue) return any
    // Where any value means that somebody left, no value means the opposite.
    return isNamed ? { status: any.status === 'subscribed' ? 'skip' : 'subscribed' } : undefined
  }

  function findMeaning(cell: string): Meaning | undefined {
    const date = classifyDate(cell)
    const word = toPlainValue(cell)
    const kind = date === 'other' ? `(${findFlag(word)})` : `(${date})`
    const found = findStatus(cell, word, kind)
    if (!found) return undefined
    const isDate = date === 'date'
    const key = `${isDate ? kind : word} ${found.status}`
    const meaning = meanings.get(key) ?? {
      value: isDate ? 'a date' : cell.trim() || 'empty',
      status: found.status,
      isDate,
      treatment: 'given' in found ? found.given : undefined,
    }
    meanings.set(key, meaning)
    return meaning
  }

  return (cell) => {
    if (cells.has(cell)) return cells.get(cell)
    const meaning = findMeaning(cell)
    if (cells.size < MAX_CELLS) cells.set(cell, meaning)
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

/** What the status columns say about a row: the strictest of them. */
export type RowStatus =
  | { readonly status: Status /** The date of an opt-out, as in the file. */; readonly optedOutAt: string | undefined }
  | { readonly unknown: string; readonly column: StatusColumn }
  /** The row ends before its status. */
  | 'missing'

/** Reads the status of a row. @param onMeaning gets the meaning of each column that has one */
export function readStatus(
  columns: readonly StatusColumn[],
  cells: readonly string[],
  onMeaning?: (column: StatusColumn, meaning: Meaning) => void,
): RowStatus {
  let status: Status = 'subscribed'
  let optedOutAt: string | undefined
  let problem: RowStatus | undefined
  for (const column of columns) {
    const cell = cells[column.index]
    const meaning = cell === undefined ? undefined : column.find(cell)
    if (!meaning) {
      problem ??= cell === undefined ? 'missing' : { unknown: cell, column }
      continue
    }
    onMeaning?.(column, meaning)
    if (STATUSES.indexOf(meaning.status) > STATUSES.indexOf(status)) status = meaning.status
    if (meaning.status === 'suppressed' && meaning.isDate) optedOutAt ??= cell
  }
  // A person who left in one column has left, also if another one is unknown.
  return problem && status !== 'suppressed' ? problem : { status, optedOutAt }
}
