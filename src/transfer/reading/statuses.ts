/** Finds the columns of a table that say who left, and reads the status of a row from them. */

import { isBlank, isDate } from './dates.ts'
import { A_DATE } from './evidence.ts'
import { DATE, EMPTY, NO, PROGRAMS, type StatusRule } from './programs.ts'
import { findFlag, STATUSES, type Status, saysLeft, toPlain, toPlainValue, WORDS } from './words.ts'

/** What a value of a status column means. Rows whose value means the same, and is written alike, share one object. */
export interface Meaning {
  /** The name of the column. */
  readonly column: string
  /** For the owner: as in the first cell with it, or `empty` or `a date` if the import knows what that means. */
  readonly value: string
  /** Undefined when nobody knows it. */
  readonly status: Status | undefined
  /** What `--treat` has before its last `=`, if that says so. */
  readonly treatment?: string | undefined
  /** Whether it shows that the file says who unsubscribed: see decision 4. */
  readonly showsUnsubscribed: boolean
}

export interface StatusColumn {
  readonly index: number
  find(cell: string): Meaning
}

/** Parts of a postal address. */
const POSTAL_NAMES = ['address', 'address1', 'address2', 'street', 'city', 'zip', 'zip code', 'postcode', 'country']

const RULES = PROGRAMS.flatMap(({ rules }) => rules)

/**
 * Finds the status columns of a table.
 *
 * @param given the indexes of columns that the owner named, and of those to ignore. One that is named is not ignored
 */
export function findStatusColumns(
  names: readonly string[],
  { named, ignored }: Readonly<Record<'named' | 'ignored', readonly number[]>>,
  treat: ReadonlyMap<string, Status>,
): readonly StatusColumn[] {
  const plain = names.map(toPlain)
  const isColumn = (name: string) => plain.includes(toPlain(name))
  const possible = RULES.filter((rule) => !rule.with || rule.with.some(isColumn))
  const found = plain.map((name) => possible.filter(({ columns }) => columns.map(toPlain).includes(name)))
  // Beside a postal address, a column such as "State" is a part of it.
  const hasOther = found.flat().some(({ isWeak }) => !isWeak) || POSTAL_NAMES.some(isColumn)
  return names.flatMap((name, index) => {
    const rules = (found[index] ?? []).filter(({ isWeak }) => !isWeak || !hasOther)
    const isNamed = named.includes(index)
    const isKnown = rules.length > 0 && !ignored.includes(index)
    if (!isNamed && !isKnown) return []
    return { index, find: createFind({ name, rules, isNamed }, selectTreatments(treat, index, plain)) }
  })
}

/** A value as it is compared: empty for all that mean no value. */
function toKey(value: string): string {
  return isBlank(value.trim()) ? '' : toPlainValue(value)
}

/** The treatments for a column, by key. Those of `COLUMN:VALUE` count before those of `VALUE`. */
function selectTreatments(treat: ReadonlyMap<string, Status>, index: number, plain: readonly string[]) {
  const all = [...treat].map(([treatment, status]) => {
    const colons = [...treatment.matchAll(/:/g)].map((colon) => colon.index)
    const end = colons.findLast((colon) => plain.includes(toPlain(treatment.slice(0, colon)))) ?? -1
    const column = end < 0 ? undefined : toPlain(treatment.slice(0, end))
    return { column, entry: [toKey(treatment.slice(end + 1)), { status, treatment }] as const }
  })
  const select = (wanted: string | undefined) => all.filter(({ column }) => column === wanted)
  return new Map([...select(undefined), ...select(plain[index])].map(({ entry }) => entry))
}

/** Different cells of a column whose meaning is kept, because to find it takes long. */
const MAX_CELLS = 1000

/** Creates the function that finds the meaning of a cell. */
function createFind(
  { name, rules, isNamed }: { name: string; rules: readonly StatusRule[]; isNamed: boolean },
  treatments: ReturnType<typeof selectTreatments>,
): StatusColumn['find'] {
  const toValues = (status: Status) => rules.flatMap((rule) => rule[status] ?? []).map(toPlain)
  // The strictest status counts if several rules have a value.
  const values = new Map(STATUSES.flatMap((status) => toValues(status).map((value) => [value, status] as const)))
  const hasWords = values.size === 0 || rules.some((rule) => rule.hasWords || STATUSES.every((status) => !rule[status]))
  const hasBouncesOnly = rules.some((rule) => rule.hasBouncesOnly)
  const any = treatments.get('*')
  const meanings = new Map<string, Meaning>()
  const cells = new Map<string, Meaning>()

  /** What the owner says about this very value counts first. */
  function findStatus(cell: string, key: string, kind = ''): Pick<Meaning, 'status' | 'treatment'> {
    const treated = treatments.get(key)
    if (treated) return treated
    const hasValue = kind !== EMPTY && kind !== NO
    // `*` adds nobody who left.
    const isLeft = isNamed && saysLeft(cell)
    if (isNamed && any && hasValue && !(isLeft && any.status === 'subscribed')) return any
    const word = hasWords ? WORDS.get(key) : undefined
    const known = isLeft ? 'suppressed' : (values.get(key) ?? values.get(kind) ?? word)
    if (known || !any) return { status: known }
    if (hasValue) return any
    // Where any value means that somebody left, no value means the opposite.
    return { status: isNamed ? (any.status === 'subscribed' ? 'skip' : 'subscribed') : undefined }
  }

  function findMeaning(cell: string): Meaning {
    const key = toKey(cell)
    const kind = key === '' ? EMPTY : isDate(cell) ? DATE : findFlag(key)
    const { status, treatment } = findStatus(cell, key, kind)
    const isKnownDate = status && kind === DATE
    const value = isKnownDate ? A_DATE : status ? cell.trim() || 'empty' : cell
    const showsUnsubscribed = status === 'suppressed' && !isNamed && !treatment && !hasBouncesOnly
    const meaning = { column: name, value, status, treatment, showsUnsubscribed }
    return meanings.getOrInsert(JSON.stringify([status, treatment, isKnownDate ? A_DATE : key]), meaning)
  }

  return (cell) => {
    const meaning = cells.get(cell) ?? findMeaning(cell)
    if (cells.size < MAX_CELLS) cells.set(cell, meaning)
    return meaning
  }
}

/** The strictest first. A person who left in one column has left, also if another one is unclear (`undefined`). */
const BY_STRICTNESS = ['suppressed', undefined, 'skip', 'subscribed'] as const

/** Without a status column, everybody is a subscriber. */
const SUBSCRIBED = { meanings: [], status: 'subscribed' } as const

/**
 * Reads the status of a row: what each column says, `undefined` if the row ends before it, and the strictest of them,
 * `undefined` if one is unclear.
 */
export function readStatus(columns: readonly StatusColumn[], cells: readonly string[]) {
  if (columns.length === 0) return SUBSCRIBED
  const meanings = columns.map(({ index, find }) => (index < cells.length ? find(cells[index] ?? '') : undefined))
  const statuses = meanings.map((meaning) => meaning?.status)
  return { meanings, status: BY_STRICTNESS.find((status) => statuses.includes(status)) }
}
