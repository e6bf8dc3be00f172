/**
 * Plans how to read a table: what each column is, the order of dates, and the questions that only the owner can answer. One
 * pass profiles every column. Nothing is read yet.
 */

import { Failure } from '../../failure.ts'
import {
  addToSample,
  type ColumnOptions,
  createSample,
  findAddress,
  findColumn,
  findColumns,
  findDates,
} from './columns.ts'
import { type DateOrder, findDateOrder } from './dates.ts'
import { addCell, createProfile, findSuspicion, hasOwnColumn, isConsentName, type Suspicion } from './evidence.ts'
import { toPlain } from './names.ts'
import { findStatusColumns, type Meaning, readStatus, type StatusColumn, type Treatments } from './statuses.ts'
import { findSwallowed, type Row, type Table } from './table.ts'
import type { Status } from './words.ts'

export interface PlanOptions extends ColumnOptions {
  /** The name of the file in messages. */
  readonly name: string
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
export interface SuspectColumn {
  /** Its name, or its number if another column has the name. */
  readonly column: string
  readonly suspicion: Suspicion
  /** How many rows have each value; undefined when there are too many values. Dates are one value. */
  readonly values: readonly (readonly [value: string, rows: number])[] | undefined
  /** The first cell that says that somebody left. */
  readonly left: string | undefined
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
  const { name: file, suppress = false, treat = new Map() } = options
  const names = (table.names ?? ['address']).map((name, index) => name.trim() || `column ${index + 1}`)
  if (names.join() === REJECTED_COLUMNS.join()) {
    throw new Failure(`${file}: it is a file of rejected rows. Correct these rows in the list, and import that again`)
  }
  const findAll = (given: readonly string[] = []) => given.flatMap((name) => findColumns(names, name, file))
  const ignored = findAll(options.ignoreColumns)
  const named = [...new Set(findAll(options.statusColumns))]
  const statuses = suppress ? [] : findStatusColumns(names, { named, ignored, treat })
  const survey = surveyRows(table, names, statuses)

  const plain = names.map((name, index) => (ignored.includes(index) ? '' : toPlain(name)))
  const address =
    options.column === undefined
      ? findAddress(names, plain, survey.samples, file)
      : findColumn(names, options.column, file)
  checkSwallowed(survey.swallowed.get(address), file)
  const dates = planDates(options, { names, plain, survey })
  const read = new Set([address, ...dates, ...statuses.map(({ index }) => index)])
  const unread = [...names.keys()].filter((index) => !read.has(index))
  const watched = suppress ? [] : unread.filter((index) => !ignored.includes(index))
  const columns = findSuspects(watched, names, survey)
  return {
    names: table.names ? names : [],
    address,
    dates,
    statuses,
    unread,
    dateOrder: options.dateOrder ?? findOrder([...dates, ...statuses.map(({ index }) => index)], survey),
    suppress,
    counts: survey.counts,
    unusedTreatments: [...treat.keys()].filter((value) => !survey.treatments.has(value)),
    questions: { columns, values: survey.unknown },
    possibleDates:
      dates.length > 0 || options.dateColumn !== undefined
        ? []
        : watched.filter((index) => hasOnlyDates(survey, index)).map((index) => toColumnName(names, index)),
  }
}

/** Rows that show where the addresses and the dates are. */
const SAMPLE = 1000

type Survey = ReturnType<typeof surveyRows>

/** Looks at every row once. */
function surveyRows(table: Table, names: readonly string[], statuses: readonly StatusColumn[]) {
  const samples = names.map(createSample)
  const profiles = names.map(createProfile)
  const orders = names.map(() => new Set<DateOrder>())
  const swallowed = new Map<number, Row>()
  const counts = new Map(statuses.map((column) => [column, new Map<Meaning, number>()]))
  const unknown = new Map<string, UnknownValue>()
  let [rows, added, saysWhoLeft] = [0, 0, hasOwnColumn(names)]

  const countMeaning = (column: StatusColumn, meaning: Meaning) => {
    const meanings = counts.get(column)
    meanings?.set(meaning, (meanings.get(meaning) ?? 0) + 1)
    saysWhoLeft ||= column.showsUnsubscribed && meaning.status === 'suppressed' && !meaning.treatment
  }
  for (const row of table.rows()) {
    for (const index of findSwallowed(row, table)) if (!swallowed.has(index)) swallowed.set(index, row)
    const { cells, line } = row
    if (row.problem !== undefined || findExtraCell(cells, names)) continue
    const status = readStatus(statuses, cells, countMeaning)
    if (status !== 'missing' && 'unknown' in status) {
      const { unknown: value, column } = status
      const key = `${column.index} ${value}`
      unknown.set(key, {
        column: column.name,
        value,
        line,
        ...unknown.get(key),
        rows: (unknown.get(key)?.rows ?? 0) + 1,
      })
    }
    // What a column says about somebody who is not added is no evidence.
    const isAdded = status !== 'missing' && ('unknown' in status || status.status === 'subscribed')
    if (isAdded) added++
    for (const [index, cell] of cells.slice(0, names.length).entries()) {
      if (rows < SAMPLE) addToSample(samples[index] as (typeof samples)[number], cell)
      if (isAdded) addCell(profiles[index] as (typeof profiles)[number], cell)
      const order = findDateOrder(cell)
      if (order && order !== 'unclear') orders[index]?.add(order)
    }
    rows++
  }
  const meanings = [...counts].flatMap(([{ name }, found]) =>
    [...found].map(([meaning, count]) => ({ name, meaning, count })),
  )
  return {
    samples,
    profiles,
    orders,
    swallowed,
    /** Number of rows that would be added. */
    added,
    saysWhoLeft,
    unknown: [...unknown.values()],
    counts: meanings.map(({ name, meaning: { value, status }, count }) => ({
      column: name,
      value,
      status,
      rows: count,
    })),
    treatments: new Set(meanings.map(({ meaning }) => meaning.treatment)),
  }
}

/** A cell after the last column means that a delimiter is not quoted, so the other cells may be in the wrong columns. */
export function findExtraCell(cells: readonly string[], names: readonly string[]): string | undefined {
  if (cells.length <= names.length || cells.slice(names.length).every((cell) => cell.trim() === '')) return undefined
  return toWidth(cells, names)
}

export function toWidth(cells: readonly string[], names: readonly string[]): string {
  return `the row has ${cells.length} columns, the header ${names.length}`
}

/** @throws Failure when a quote is not closed before a line that looks like a row */
function checkSwallowed(row: Row | undefined, file: string): void {
  if (!row) return
  const first = row.line - (row.text?.split('\n').length ?? 1) + 1
  throw new Failure(
    `${file}: line ${first}: a quote is not closed, and the rows up to line ${row.line} are inside it; close or double it`,
  )
}

interface DateContext {
  readonly names: readonly string[]
  readonly plain: readonly string[]
  readonly survey: Survey
}

/** With `suppress`, a date is that of the opt-out, and only the owner can say which column has it. */
function planDates(
  { dateColumn, suppress, name }: PlanOptions,
  { names, plain, survey }: DateContext,
): readonly number[] {
  if (dateColumn === 'none') return []
  if (dateColumn !== undefined) return [findColumn(names, dateColumn, name)]
  return suppress ? [] : findDates(plain, survey.samples)
}

/** The order that the dates of these columns show. Two dates that show different orders show none. */
function findOrder(indexes: readonly number[], { orders }: Survey): DateOrder | undefined {
  const shown = new Set(indexes.flatMap((index) => [...(orders[index] ?? [])]))
  const [order] = shown
  return shown.size === 1 ? order : undefined
}

function findSuspects(indexes: readonly number[], names: readonly string[], survey: Survey): readonly SuspectColumn[] {
  const { profiles, added, saysWhoLeft } = survey
  const suspects = indexes.flatMap((index): SuspectColumn[] => {
    const [name = '', profile] = [names[index], profiles[index]]
    const suspicion = profile && findSuspicion({ name, profile, rows: added, saysWhoLeft })
    if (!suspicion) return []
    const { values, dates, filled, left } = profile
    const isDate = hasOnlyDates(survey, index)
    return [
      {
        column: toColumnName(names, index),
        suspicion,
        values: isDate ? [['a date', dates]] : values && [...values],
        left,
        empty: added - (isDate ? dates : filled),
        isConsent: isConsentName(name),
      },
    ]
  })
  // The surest first: a message shows how to read the first one.
  return suspects.toSorted((one, other) => Number(one.suspicion === 'shape') - Number(other.suspicion === 'shape'))
}

function hasOnlyDates({ profiles }: Survey, index: number): boolean {
  const profile = profiles[index]
  return profile !== undefined && profile.dates > 0 && !profile.hasOther
}

/** The name of a column in an option, or its number if the name would find another column. */
function toColumnName(names: readonly string[], index: number): string {
  const name = names[index] ?? ''
  const isOnly = names.filter((other) => toPlain(other) === toPlain(name)).length === 1
  return isOnly && !/^\d+$|\p{Cc}/u.test(name) ? name : String(index + 1)
}
