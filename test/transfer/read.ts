/** Reads a text as an import does, without a list. */

import { findSuspicion } from '../../src/transfer/reading/evidence.ts'
import { createPlan, type PlanOptions } from '../../src/transfer/reading/plan.ts'
import { readRows } from '../../src/transfer/reading/rows.ts'
import { parseTable } from '../../src/transfer/reading/table.ts'
import type { Status } from '../../src/transfer/reading/words.ts'

export type Options = Partial<PlanOptions>

export function plan(text: string, options: Options = {}) {
  return createPlan(parseTable(text, 'list', options.column !== undefined), options)
}

/** Reads the rows. @throws Error that names the questions, such as `gone: x 1, empty 2 (shape)` */
export function read(text: string, options: Options = {}) {
  const found = plan(text, options)
  const questions = [
    ...found.suspects.map((suspect) => {
      const { column, values, empty } = suspect
      const parts = [...(values ?? [['many values', '']]).map((value) => value.join(' ').trim())]
      const suspicion = findSuspicion(suspect, true) ?? 'shape'
      return `${column.option}: ${[...parts, ...(empty > 0 ? [`empty ${empty}`] : [])].join(', ')} (${suspicion})`
    }),
    ...found.values
      .filter(({ status }) => !status)
      .map(({ column, value, line, rows }) => `${column}: line ${line}: ${JSON.stringify(value)} in ${rows} rows`),
  ]
  if (questions.length > 0) throw new Error(questions.join('; '))
  const toNames = (indexes: readonly number[]) => indexes.flatMap((index) => found.names[index] ?? [])
  return {
    ...readRows(parseTable(text, 'list', options.column !== undefined), found),
    plan: found,
    date: toNames(found.dates).join(', '),
    status: toNames(found.statuses.map(({ index }) => index)).join(', '),
    unread: toNames(found.unread),
  }
}

/** Treatments such as `x=skip, gone=suppressed`. */
export function treat(text: string): Pick<PlanOptions, 'treat'> {
  return { treat: new Map(text.split(', ').map((part) => part.split('=') as [string, Status])) }
}
