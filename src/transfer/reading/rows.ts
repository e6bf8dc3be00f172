/** What the readers of the formats have in common. */

import type { StatusCell } from './statuses.ts'

/** A row as it is in the file; its values have not been checked. */
export interface SourceRow {
  /** The line on which it ends, from 1. */
  readonly line: number
  readonly email: unknown
  readonly date: unknown
  /** What its status columns hold. */
  readonly statuses: readonly StatusCell[]
  /** All its cells, for the file of the rejected rows. */
  readonly cells: readonly string[]
  /** What is wrong with its format; part of the reason if the row is rejected. */
  readonly problem?: string | undefined
}

/** The names of the columns that are read. */
export interface ColumnNames {
  readonly email: readonly string[]
  readonly date: readonly string[]
  readonly status: readonly string[]
}

export interface Source {
  /** The name of the file in messages. */
  readonly name: string
  /** The names of the cells. Those of NDJSON are known when all rows have been read. */
  readonly header: readonly string[]
  /** Like the header, known for NDJSON when all rows have been read. */
  readonly columns: ColumnNames
  /** Whether a row may have a status. */
  readonly hasStatuses: boolean
  /** Reads the file from its start, each time. Standard input can be read once, unless the source keeps a copy. */
  readonly pages: AsyncIterable<readonly SourceRow[]>
}

/** A text whose first line is known, because its format depends on that. */
export interface PeekedText {
  /** The name of the file in messages. */
  readonly name: string
  /** The first line that is neither blank nor a comment. */
  readonly firstLine: string
  /** Its number, from 1. */
  readonly line: number
  /** The delimiter that a line before it names. */
  readonly delimiter?: string | undefined
  readonly lineBreak: '\n' | '\r'
  /** The text from the first line on, each time it is read. */
  readonly parts: AsyncIterable<string>
}

/** Parses a JSON object; undefined for anything else. */
export function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
