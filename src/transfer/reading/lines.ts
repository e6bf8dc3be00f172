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
  const findMembers = createMemberFinder(options)
  const found = { email: new Set<string>(), date: new Set<string>(), status: new Set<string>() }

  function toRow(line: number, content: string): SourceRow {
    const object = parseObject(content)
    if (!object) {
      const problem = 'it is not a JSON object'
      return { line, email: undefined, date: undefined, statuses: NO_STATUSES, cells: [content], problem }
    }
    const members = findMembers(Object.keys(object), found)
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

/** Objects with the same names share the result. This is the most kinds of objects that are kept. */
const MAX_SHAPES = 1000

/** Creates a function that finds members by the names of all members, and adds those that it finds to `found`. */
function createMemberFinder(options: ColumnOptions) {
  const findColumns = createColumnFinder(options)
  const shapes = new Map<string, Members>()

  return (names: readonly string[], found: Readonly<Record<keyof ColumnNames, Set<string>>>): Members => {
    const shape = names.join('\n')
    const known = shapes.get(shape)
    if (known) return known
    const { email, dates, statuses } = findColumns(names)
    const toNames = (indexes: readonly number[]) => indexes.flatMap((index) => names[index] ?? [])
    const [name] = toNames(email === undefined ? [] : [email])
    const members = { email: name, dates: toNames(dates), statuses }
    if (name !== undefined) found.email.add(name)
    for (const date of members.dates) found.date.add(date)
    for (const { column } of statuses) found.status.add(column.name)
    if (shapes.size === MAX_SHAPES) shapes.clear()
    shapes.set(shape, members)
    return members
  }
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
