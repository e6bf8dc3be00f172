/** Text with one address or one JSON object per line. */

import { Failure } from '../../failure.ts'
import { MAX_ROW_LENGTH } from '../../limits.ts'
import { type ColumnOptions, createColumnFinder, hasDate } from './columns.ts'
import { type ColumnNames, type PeekedText, parseObject, type Source, type SourceRow } from './rows.ts'
import { NO_STATUSES, type StatusMatch, toStatusCells, toText } from './statuses.ts'

/** Opens a text with one address per line; skips blank lines. */
export function openLines(text: PeekedText): Source {
  const toRow = (line: number, content: string): SourceRow => ({
    line,
    email: content,
    date: undefined,
    statuses: NO_STATUSES,
    cells: [content],
  })
  return {
    name: text.name,
    header: ['email'],
    columns: { email: [], date: [], status: [] },
    hasStatuses: false,
    pages: { [Symbol.asyncIterator]: () => toPages(text, toRow) },
  }
}

/** Opens a text with one JSON object per line (NDJSON); skips blank lines. */
export function openJsonLines(text: PeekedText, options: ColumnOptions): Source {
  const found = { email: new Set<string>(), date: new Set<string>(), status: new Set<string>() }
  const findMembers = createMemberFinder(options, found)

  function toRow(line: number, content: string): SourceRow {
    const object = parseObject(content)
    if (!object) {
      const problem = 'it is not a JSON object'
      return { line, email: undefined, date: undefined, statuses: NO_STATUSES, cells: [content], problem }
    }
    const members = findMembers(Object.keys(object))
    const email = members.email === undefined ? undefined : object[members.email]
    const dated = members.dates.find((name) => hasDate(object[name]))
    const date = dated === undefined ? undefined : object[dated]
    const statuses = toStatusCells(members.statuses, ({ column }) => object[column.name])
    return {
      line,
      email,
      date,
      statuses,
      // Only a rejected row needs them.
      get cells() {
        const optOut = statuses.find(({ column, value }) => column.date && toText(value) !== '')
        return [email, date, ...(found.status.size > 0 ? [optOut?.value] : [])].map(toText)
      },
    }
  }

  return {
    name: text.name,
    get header() {
      return ['email', 'subscribed_at', ...(found.status.size > 0 ? ['unsubscribed_at'] : [])]
    },
    get columns() {
      return { email: [...found.email], date: [...found.date], status: [...found.status] }
    },
    hasStatuses: options.statusColumn !== 'none',
    pages: { [Symbol.asyncIterator]: () => toPages(text, toRow) },
  }
}

/** Members of an object. */
interface Members {
  readonly email: string | undefined
  readonly dates: readonly string[]
  readonly statuses: readonly StatusMatch[]
}

/** Kinds of objects, by the names of their members, for which the result is kept. */
const MAX_SHAPES = 1000

/** Creates a function that finds members by the names of all members, and adds those that it finds to `found`. */
function createMemberFinder(options: ColumnOptions, found: Readonly<Record<keyof ColumnNames, Set<string>>>) {
  const findColumns = createColumnFinder(options)
  const shapes = new Map<string, Members>()
  let last: { readonly names: readonly string[]; readonly members: Members } | undefined

  function findMembers(names: readonly string[]): Members {
    const { email, dates, statuses } = findColumns(names)
    const toNames = (indexes: readonly number[]) => indexes.flatMap((index) => names[index] ?? [])
    const members = { email: email === undefined ? email : names[email], dates: toNames(dates), statuses }
    if (members.email !== undefined) found.email.add(members.email)
    for (const date of members.dates) found.date.add(date)
    for (const { column } of statuses) found.status.add(column.name)
    return members
  }

  return (names: readonly string[]): Members => {
    // Most objects have the same members as the one before.
    if (last && hasSameNames(names, last.names)) return last.members
    const shape = names.join('\n')
    const members = shapes.get(shape) ?? findMembers(names)
    if (shapes.size === MAX_SHAPES) shapes.clear()
    shapes.set(shape, members)
    last = { names, members }
    return members
  }
}

function hasSameNames(names: readonly string[], others: readonly string[]): boolean {
  return names.length === others.length && names.every((name, index) => name === others[index])
}

/** Splits a text into lines (LF, CRLF or CR). Each page has the rows of a part of the text. */
async function* toPages(
  { name, parts, line: firstLine }: PeekedText,
  toRow: (line: number, content: string) => SourceRow,
): AsyncGenerator<readonly SourceRow[]> {
  let rest = ''
  let line = firstLine - 1
  for await (const part of endLine(parts)) {
    // A carriage return at the end may be half of a CRLF.
    const text = rest + part
    const end = text.endsWith('\r') ? text.length - 1 : text.length
    const lines = text.slice(0, end).split(/\r\n|\n|\r/)
    rest = (lines.pop() ?? '') + text.slice(end)
    const page: SourceRow[] = []
    for (const content of lines) {
      checkLength(content, ++line, name)
      if (content.trim() !== '') page.push(toRow(line, content))
    }
    checkLength(rest, line + 1, name)
    yield page
  }
}

function checkLength(content: string, line: number, name: string): void {
  if (content.length <= MAX_ROW_LENGTH) return
  throw new Failure(`${name}: line ${line} is longer than ${MAX_ROW_LENGTH} characters`)
}

/** Ends the last line, which may lack its line break. */
async function* endLine(parts: AsyncIterable<string>): AsyncGenerator<string> {
  yield* parts
  yield '\n'
}
