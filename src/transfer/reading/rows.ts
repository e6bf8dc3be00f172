/** What every reader of an older list gives: its rows, as they were found. */

/** A row; what it holds has not been looked at. */
export interface SourceRow {
  /** Where it ends in the file, counted from 1. */
  readonly line: number
  readonly email: unknown
  readonly date: unknown
  /** All of its cells, for the file of the refused. */
  readonly cells: readonly string[]
  /** Why it cannot be read at all, or what makes it odd. */
  readonly remark?: string | undefined
}

export interface Source {
  /** The names of the cells. */
  readonly header: readonly string[]
  /** The rows, in pages. */
  readonly pages: AsyncIterable<readonly SourceRow[]>
}

/** A text, of which the first line is known already. */
export interface PeekedText {
  /** What messages call it. */
  readonly name: string
  /** The first line that is not blank. */
  readonly firstLine: string
  /** All of it. */
  readonly parts: AsyncIterable<string>
}

/** No row of a list is longer than this many characters. */
export const MAX_ROW = 1024 * 1024

/** Rows in a page. */
export const PAGE = 1000

/** Parses a JSON object; undefined for anything else. */
export function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}
