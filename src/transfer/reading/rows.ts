/** What the readers of the formats have in common. */

/** A row as it is in the file; its values have not been checked. */
export interface SourceRow {
  /** The line on which it ends, from 1. */
  readonly line: number
  readonly email: unknown
  readonly date: unknown
  /** All its cells, for the file of the rejected rows. */
  readonly cells: readonly string[]
  /** What is wrong with its format; part of the reason if the row is rejected. */
  readonly problem?: string | undefined
}

export interface Source {
  /** The names of the cells. */
  readonly header: readonly string[]
  readonly pages: AsyncIterable<readonly SourceRow[]>
}

/** A text whose first line is known, because its format depends on that. */
export interface PeekedText {
  /** The name of the file in messages. */
  readonly name: string
  /** The first line that is not blank. */
  readonly firstLine: string
  /** All of the text, the first line included. */
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
