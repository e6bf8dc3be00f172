/** What the values of a status column mean. */

import { isBlank, isDate } from './dates.ts'
import { DATE, EMPTY, NO, type StatusRule, type YES } from './programs.ts'
import { findFlag, findStatus, STATUSES, type Status, saysLeft, toPlain, toPlainValue } from './words.ts'

/** A value of a status column, and what it means. Cells that mean the same, and are written alike, share it. */
export interface Value {
  /** The name of the column. */
  readonly column: string
  /** As in the first cell with it; empty for none, `a date` for all dates. */
  readonly value: string
  /** Undefined when nobody knows it. */
  readonly status: Status | undefined
  /** An empty value that nobody knows: it is skipped. */
  readonly isAssumed: boolean
  /** Whether the owner said what it means. */
  readonly isAnswered: boolean
}

/** What values mean, by `VALUE` or `COLUMN:VALUE`. */
export type Treatments = ReadonlyMap<string, Status>

/** A value as `--treat` has it. It is compared without spaces and punctuation, so a line break becomes a space. */
export function toTreated({ column, value }: Value): string {
  return `${column}:${value.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')}`
}

/** A value as it is compared: empty for all that mean no value. */
const toKey = (value: string) => (isBlank(value.trim()) ? '' : toPlainValue(value))

/** The treatments for a column, by key. Those of `COLUMN:VALUE` count before those of `VALUE`. */
function selectTreatments(treat: Treatments, name: string): Treatments {
  const start = `${name}:`
  // Lower case may have another length, as that of `İ`.
  const isOfColumn = (text: string) => text.slice(0, start.length).toLowerCase() === start.toLowerCase()
  const ofAll = [...treat].map(([text, status]) => [toKey(text), status] as const)
  const ofColumn = [...treat]
    .filter(([text]) => isOfColumn(text))
    .map(([text, status]) => [toKey(text.slice(start.length)), status] as const)
  // Of two with one key, the later one stays.
  return new Map([...ofAll, ...ofColumn])
}

/** What is known about a cell of a status column. */
interface Question {
  readonly cell: string
  readonly key: string
  /** What kind of value it is, if it is one of these. */
  readonly kind: typeof EMPTY | typeof DATE | typeof YES | typeof NO | undefined
}

function toKind(key: string, isDated: boolean): Question['kind'] {
  if (key === '') return EMPTY
  return isDated ? DATE : findFlag(key)
}

/** Something that says what cells mean. */
interface Source {
  /** Whether it is the owner, in an option or an answer. */
  readonly isOwner: boolean
  /** Returns undefined when it says nothing about the cell. */
  readonly find: (question: Question) => Status | undefined
}

/** Different cells of a column whose value is kept, because to find it takes long. */
const MAX_CELLS = 1000

/**
 * Creates the function that finds the value of a cell.
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
  // Without values, the words count: see StatusRule.
  const hasNoValues = (rule: StatusRule) => STATUSES.every((status) => !rule[status])
  const hasWords = known.size === 0 || rules.some((rule) => rule.hasWords || hasNoValues(rule))
  const findWords = (cell: string) => (saysLeft(cell) ? 'suppressed' : undefined)

  /** The precedence: the first one that says something counts. */
  const sources: readonly Source[] = [
    // The owner, about the value.
    { isOwner: true, find: ({ key }) => treatments.get(key) },
    // Words that say that somebody left, in a column that the owner named.
    { isOwner: false, find: ({ cell }) => (isNamed ? findWords(cell) : undefined) },
    // The table of programs, about the value.
    { isOwner: false, find: ({ key }) => known.get(key) },
    // The table of programs, about yes, no, a date or no value.
    { isOwner: false, find: ({ kind }) => (kind === undefined ? undefined : known.get(kind)) },
    // The words of a status.
    { isOwner: false, find: ({ key }) => (hasWords ? findStatus(key) : undefined) },
    // Words that say that somebody left, among others.
    { isOwner: false, find: ({ cell }) => findWords(cell) },
    // The owner, about any other value. An empty value, and no, may mean the opposite of all others.
    { isOwner: true, find: ({ kind }) => (kind === EMPTY || kind === NO ? undefined : treatments.get('*')) },
  ]

  const values = new Map<string, Value>()
  const cells = new Map<string, Value>()

  function findValue(cell: string): Value {
    const isDated = isDate(cell)
    const value = isDated ? 'a date' : cell.trim()
    const key = toKey(value)
    const kind = toKind(key, isDated)
    const question = { cell, key, kind }
    const source = sources.find(({ find }) => find(question) !== undefined)
    const status = source?.find(question)
    // In a column that the owner named, an empty value is a question too.
    const isAssumed = !status && kind === EMPTY && !isNamed
    const isAnswered = source?.isOwner === true
    const shown = key === '' ? '' : value
    const create = (): Value => ({ column, value: shown, status: isAssumed ? 'skip' : status, isAssumed, isAnswered })
    return values.getOrInsertComputed(`${status} ${key}`, create)
  }

  return (cell) => {
    const value = cells.get(cell) ?? findValue(cell)
    if (cells.size < MAX_CELLS) cells.set(cell, value)
    return value
  }
}
