/**
 * Plans how to read a table: what each column is, the order of dates, and the questions that only the owner can answer. One
 * pass profiles every column. Nothing is read yet.
 */

import { Failure } from '../../failure.ts'
import { type ColumnOptions, findAddress, findColumns, findDates } from './columns.ts'
import type { DateOrder } from './dates.ts'
import { A_DATE, findSuspicion, isConsentName, Profile, type Suspicion } from './evidence.ts'
import { toPlain } from './names.ts'
import { OWN_NAMES } from './programs.ts'
import { findStatusColumns, type Meaning, readStatus, type StatusColumn, type Treatments } from './statuses.ts'
import type { Row, Table } from './table.ts'
import type { Status } from './words.ts'

export interface PlanOptions extends ColumnOptions {
  /** The order of dates with slashes or hyphens. Default: the order that a date of the list shows. */
  readonly dateOrder?: DateOrder | undefined
  readonly treat?: Treatments | undefined
  /** Whether everybody in the list has opted out. No status is read; `dateColumn` holds the dates of the opt-outs. */
  readonly suppress?: boolean | undefined
}

/** How many rows have a value in a status column, and what it means. */
export interface StatusCount {
  readonly column: string
  /** As in the first of these rows, `empty` or `a date`. */
  readonly value: string
  readonly status: Status
  readonly rows: number
}

/** A column that the import does not know, and that may say who left. */
export interface SuspectColumn extends Readonly<Pick<Profile, 'left'>> {
  /** How many rows have each value; undefined when there are too many values. All dates are one value. */
  readonly values: readonly (readonly [value: string, rows: number])[] | undefined
  /** Its name, or its number if another column has the name. */
  readonly column: string
  readonly suspicion: Suspicion
  readonly empty: number
  /** Whether a yes means a subscription. */
  readonly isConsent: boolean
}

/** A value of a status column that nobody knows. */
export interface UnknownValue {
  readonly column: string
  readonly value: string
  /** The first line with it, from 1. */
  readonly line: number
  readonly rows: number
}

/** How to read a table. Columns are indexes of the cells in a row. */
export interface Plan {
  /** The names of the columns. A column without a name is `column` with its number. */
  readonly names: readonly string[]
  readonly address: number
  /** The date is in the first one of these that has one. */
  readonly dates: readonly number[]
  readonly statuses: readonly StatusColumn[]
  readonly unread: readonly number[]
  readonly dateOrder: DateOrder | undefined
  readonly suppress: boolean
  readonly counts: readonly StatusCount[]
  /** Values of `treat` that no row has. */
  readonly unusedTreatments: readonly string[]
  /** The table must not be read before these have an answer. */
  readonly questions: { readonly columns: readonly SuspectColumn[]; readonly values: readonly UnknownValue[] }
  /** Names of columns that have only dates, when no column of the date was found. */
  readonly possibleDates: readonly string[]
}

/** The header of a file of rejected rows. */
export const REJECTED_COLUMNS = ['line', 'reason', 'address'] as const

/** @throws Failure when the table cannot be a list, or has no column that an option names */
export function createPlan(table: Table, options: PlanOptions): Plan {
  const { file } = table
  const { suppress = false, treat = new Map(), column, dateColumn } = options
  const names = (table.names ?? ['address']).map((name, index) => name.trim() || `column ${index + 1}`)
  if (names.join() === REJECTED_COLUMNS.join()) {
    throw new Failure(`${file}: it is a file of rejected rows. Correct these rows in the list, and import that again`)
  }
  const find = (given: string) => findColumns(names, given, file)
  const ignored = (options.ignoreColumns ?? []).flatMap(find)
  const statuses = suppress
    ? []
    : findStatusColumns(names, { named: (options.statusColumns ?? []).flatMap(find), ignored }, treat)
  const survey = surveyRows(table, names, statuses)
  const { profiles } = survey

  const plain = names.map((name, index) => (ignored.includes(index) ? '' : toPlain(name)))
  const address = column === undefined ? findAddress({ names, plain, profiles }, file) : find(column)[0]
  // With `suppress`, a date is that of the opt-out, and only the owner can say which column has it.
  const found = suppress || dateColumn === 'none' ? [] : findDates(plain, profiles)
  const dates = dateColumn && dateColumn !== 'none' ? [find(dateColumn)[0]] : found
  const read = [address, ...dates, ...statuses.map(({ index }) => index)]
  const unread = [...names.keys()].filter((index) => !read.includes(index))
  const watched = suppress ? [] : unread.filter((index) => !ignored.includes(index))
  const isUndated = dates.length === 0 && dateColumn === undefined
  return {
    names: table.names ? names : [],
    address,
    dates,
    statuses,
    unread,
    dateOrder: options.dateOrder ?? findOrder(read.slice(1).map((index) => profiles[index])),
    suppress,
    counts: survey.counts,
    unusedTreatments: [...treat.keys()].filter((value) => !survey.treatments.has(value)),
    questions: { columns: findSuspects(watched, names, survey), values: survey.unknown },
    possibleDates: watched.flatMap((index) => (isUndated && profiles[index]?.dates ? toColumnName(names, index) : [])),
  }
}

type Survey = ReturnType<typeof surveyRows>

/** Looks at every row once. */
function surveyRows(table: Table, names: readonly string[], statuses: readonly StatusColumn[]) {
  const profiles = names.map(() => new Profile())
  const known = new Map<string, { readonly column: StatusColumn; readonly meaning: Meaning; rows: number }>()
  const unknown = new Map<string, Omit<UnknownValue, 'rows'> & { rows: number }>()
  let added = 0
  for (const row of table.rows()) {
    if (findProblem(row, names)) continue
    const { cells, line } = row
    const { readings, status, unclear } = readStatus(statuses, cells)
    for (const { column, meaning } of readings) {
      if (meaning) countRow(known, `${column.index} ${meaning.key}`, { column, meaning })
    }
    const value = unclear?.cell
    if (unclear && value !== undefined) {
      countRow(unknown, `${unclear.column.index} ${value}`, { column: unclear.column.name, value, line })
    }
    // What a column says about somebody who is not added is no evidence.
    const isAdded = status === 'subscribed' || value !== undefined
    if (isAdded) added++
    for (const [index, profile] of profiles.entries()) profile.add(cells[index] ?? '', isAdded)
  }
  const counts = [...known.values()].toSorted((one, other) => one.column.index - other.column.index)
  return {
    profiles,
    /** Number of rows that would be added. */
    added,
    /** Whether a column that is read says who unsubscribed. */
    saysWhoLeft:
      names.some((name) => OWN_NAMES.has(toPlain(name))) ||
      counts.some(
        ({ column, meaning }) => column.showsUnsubscribed && meaning.status === 'suppressed' && !meaning.treatment,
      ),
    unknown: [...unknown.values()],
    counts: counts.map(({ column: { name: column }, meaning: { value, status }, rows }) => {
      return { column, value, status, rows }
    }),
    treatments: new Set(counts.map(({ meaning }) => meaning.treatment)),
  }
}

/** Counts rows by a key, and keeps what the first of them had. */
function countRow<T>(counts: Map<string, T & { rows: number }>, key: string, first: T): void {
  const found = counts.get(key)
  if (found) found.rows++
  else counts.set(key, { ...first, rows: 1 })
}

/** Why a row cannot be read. A cell after the last column means that a delimiter is not quoted, so cells may be in the wrong columns. */
export function findProblem({ cells, problem }: Row, names: readonly string[]): string | undefined {
  if (problem !== undefined || cells.length <= names.length || names.length === 0) return problem
  return cells.slice(names.length).some((cell) => cell.trim() !== '') ? toWidth(cells, names) : undefined
}

export function toWidth(cells: readonly string[], names: readonly string[]): string {
  return `the row has ${cells.length} columns, the header ${names.length}`
}

/** The order that dates show. Two dates that show different orders show none. */
function findOrder(profiles: readonly (Profile | undefined)[]): DateOrder | undefined {
  const shown = new Set(profiles.flatMap((profile) => [...(profile?.orders ?? [])]))
  const [order] = shown
  return shown.size === 1 ? order : undefined
}

function findSuspects(indexes: readonly number[], names: readonly string[], survey: Survey): readonly SuspectColumn[] {
  const { profiles, added: rows } = survey
  const suspects = indexes.flatMap((index): SuspectColumn[] => {
    const [name = '', profile] = [names[index], profiles[index]]
    const suspicion = profile && findSuspicion(name, profile, survey)
    if (!suspicion) return []
    const { dates, left } = profile
    const values = dates === undefined ? profile.values && [...profile.values] : [[A_DATE, dates] as const]
    const column = toColumnName(names, index)
    return [
      { column, suspicion, values, left, empty: rows - (dates ?? profile.filled), isConsent: isConsentName(name) },
    ]
  })
  // The surest first: a message shows how to read the first one.
  return suspects.toSorted((one, other) => Number(one.suspicion === 'shape') - Number(other.suspicion === 'shape'))
}

/** The name of a column in an option, or its number if the name would find another column. */
function toColumnName(names: readonly string[], index: number): string {
  const name = names[index] ?? ''
  const isOnly = names.filter((other) => toPlain(other) === toPlain(name)).length === 1
  return isOnly && !/^\d+$|\p{Cc}/u.test(name) ? name : String(index + 1)
}
