/** Finds the status columns of a file, and reads what they say about a row. */

import type { Result } from '../../result.ts'
import { classifyDate } from './dates.ts'
import { type ExportColumn, POSTAL_NAMES, type Status, WORDS } from './export-columns.ts'
import { EXPORTS } from './exports.ts'
import { toPlainName, toPlainValue } from './names.ts'

/** What a value of a column means. Equal values of a column share one object. */
export interface Meaning {
  /** The name of the column in the file. */
  readonly column: string
  /** The plain value, `empty` or `a date`. */
  readonly value: string
  readonly status: Status
}

/** A status column of a file. */
export interface StatusColumn {
  readonly name: string
  /** By the plain value. */
  readonly meanings: ReadonlyMap<string, Meaning>
  /** The meaning of a date. */
  readonly date: Meaning | undefined
}

/** What a row has in a status column. The value is undefined when the row ends before the column. */
export interface StatusCell {
  readonly column: StatusColumn
  readonly value: unknown
}

export interface RowStatus {
  readonly status: Status
  /** The date of the opt-out, as in the file. */
  readonly optedOutAt: unknown
}

type Rule = Pick<ExportColumn, 'values' | 'date' | 'with' | 'weak'>

/** The column in which a file of rejected rows says what each row was. It overrides all others. */
export const TREATED_AS = 'treated_as'
const TREATED_AS_RULE: Rule = { values: { subscribed: 'subscribed', suppressed: 'suppressed' } }

const RULES = mergeRules()

/** Whether a plain name is that of a status column of some program. */
export function isStatusName(name: string): boolean {
  return RULES.has(name)
}

/** The stricter status has the higher number. */
const STRICTNESS: Readonly<Record<Status, number>> = { subscribed: 0, skip: 1, suppressed: 2 }

/** A status column and its place in a row. */
export interface StatusMatch {
  readonly index: number
  readonly column: StatusColumn
}

/**
 * Creates a function that finds the status columns by the names of all columns, or reads only the one with the index
 * `given`. Columns with the same name share one object.
 */
export function createStatusFinder(treat: ReadonlyMap<string, Status> = new Map()) {
  const known = new Map<string, StatusColumn>()

  function toColumn(name: string, rule: Rule): StatusColumn {
    const column = known.get(name) ?? createColumn(name, rule, treat)
    known.set(name, column)
    return column
  }

  return (names: readonly string[], given?: number): readonly StatusMatch[] => {
    const plain = names.map(toPlainName)
    const toMatch = (index: number, rule: Rule) => ({ index, column: toColumn(names[index] ?? '', rule) })
    if (given !== undefined) return [toMatch(given, RULES.get(plain[given] ?? '') ?? { values: WORDS })]
    const found = plain.flatMap((name, index) => {
      const rule = RULES.get(name)
      return rule && appliesTo(rule, plain) ? [{ index, rule }] : []
    })
    const strong = found.filter(({ rule }) => !rule.weak)
    const isPostal = plain.some((name) => POSTAL_NAMES.includes(name))
    const matches = (strong.length > 0 || isPostal ? strong : found).map(({ index, rule }) => toMatch(index, rule))
    const override = names.indexOf(TREATED_AS)
    return override < 0 ? matches : [toMatch(override, TREATED_AS_RULE), ...matches]
  }
}

function createColumn(name: string, { values, date }: Rule, treat: ReadonlyMap<string, Status>): StatusColumn {
  const toMeaning = (value: string, status: Status): Meaning => ({ column: name, value: value || 'empty', status })
  const entries = [...Object.entries(values), ...treat]
  return {
    name,
    meanings: new Map(entries.map(([value, status]) => [value, toMeaning(value, status)])),
    date: date && toMeaning('a date', date),
  }
}

function appliesTo(rule: Rule, names: readonly string[]): boolean {
  return !rule.with || rule.with.some((name) => names.includes(toPlainName(name)))
}

/** The cells of a row without a status column. */
export const NO_STATUSES: readonly StatusCell[] = []

/** Reads the cells of a row. */
export function toStatusCells(
  matches: readonly StatusMatch[],
  toValue: (match: StatusMatch) => unknown,
): readonly StatusCell[] {
  return matches.length === 0 ? NO_STATUSES : matches.map((match) => ({ column: match.column, value: toValue(match) }))
}

const SUBSCRIBED: Result<RowStatus, StatusCell> = { ok: true, value: { status: 'subscribed', optedOutAt: undefined } }

/**
 * Reads the status of a row: the strictest that one of its columns says.
 *
 * @param options.forced the status of every row
 * @param options.onMeaning called with the meaning of each value
 * @returns the cell whose value is not known or missing, unless another column says that the person left
 */
export function readStatus(
  cells: readonly StatusCell[],
  { forced, onMeaning }: { forced?: Status | undefined; onMeaning?: (meaning: Meaning) => void } = {},
): Result<RowStatus, StatusCell> {
  if (cells.length === 0 && !forced) return SUBSCRIBED
  let status = forced ?? 'subscribed'
  let optedOutAt: unknown
  let unknown: StatusCell | undefined
  let isDecided = forced !== undefined
  for (const cell of cells) {
    const meaning = findMeaning(cell)
    if (meaning?.status === 'suppressed' && meaning === cell.column.date) optedOutAt ??= cell.value
    if (isDecided) continue
    isDecided = cell.column.name === TREATED_AS
    if (!meaning) unknown ??= cell
    else {
      onMeaning?.(meaning)
      if (STRICTNESS[meaning.status] > STRICTNESS[status]) status = meaning.status
    }
  }
  if (unknown && status !== 'suppressed') return { ok: false, reason: unknown }
  return { ok: true, value: { status, optedOutAt } }
}

function findMeaning({ column, value }: StatusCell): Meaning | undefined {
  if (value === undefined) return undefined
  const text = toText(value)
  const meaning = column.meanings.get(text) ?? column.meanings.get(toPlainValue(text))
  if (meaning || !column.date) return meaning
  const kind = classifyDate(text)
  return kind === 'date' ? column.date : kind === 'empty' ? column.meanings.get('') : undefined
}

/** A value of NDJSON as text. */
export function toText(value: unknown): string {
  if (typeof value === 'string') return value
  return value === null || value === undefined ? '' : JSON.stringify(value)
}

/** The rules of all exports, by the plain name of the column. */
function mergeRules(): ReadonlyMap<string, Rule> {
  const rules = new Map<string, Rule>()
  for (const { names, ...column } of EXPORTS.flatMap(({ columns }) => columns)) {
    for (const name of names.map(toPlainName)) {
      const before = rules.get(name)
      const required = [...(before?.with ?? []), ...(column.with ?? [])]
      const values = { ...before?.values, ...column.values }
      rules.set(name, { ...before, ...column, values, ...(required.length > 0 && { with: required }) })
    }
  }
  return rules
}
