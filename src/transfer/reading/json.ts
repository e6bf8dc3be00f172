/** JSON as a table: one object per line (NDJSON), an array of objects, or an object that has one such array. */

import { Failure } from '../../failure.ts'
import { parseOwnerAddress } from './addresses.ts'
import type { Row, Table } from './csv.ts'
import { isAddressName } from './programs.ts'

type Json = Readonly<Record<string, unknown>>

/**
 * Opens JSON. The columns are the members of all objects. A member that an object lacks is an empty cell, and so is null.
 *
 * @param lines reads the lines of the text
 * @throws Failure when it is not JSON, has several lists, or an object has a name twice
 */
export function openJson(text: string, file: string, lines: () => IteratorObject<Row>): Table {
  // Most files are NDJSON: their lines are parsed one by one, which needs less memory.
  const [line] = lines().take(1)
  const first = parseObject(line?.cells[0])
  if (first && findLists(first).length === 0) return toTable({ file, place: 'line', title: '' }, lines)
  // Several documents begin on lines of their own, as jq writes them.
  const { values, done } = Bun.JSONL.parseChunk(text)
  if (!done) throw new Failure(`${file}: it is not valid JSON: use one object per line, or one array of objects`)
  checkNames(text, values, file)
  const lists = values.flatMap((document) => {
    const found = findLists(document)
    return found.length > 0 ? found : [{ name: '', people: [document].flat() }]
  })
  const names = [...new Set(lists.map(({ name }) => name))]
  if (names.length > 1) {
    const seen = names.map((name) => JSON.stringify(name)).join(', ')
    throw new Failure(`${file}: it has several lists: ${seen}. Save the one of the subscribers as a file`)
  }
  const people = lists.flatMap(({ people }) => people.map((person) => JSON.stringify(person)))
  return toTable({ file, place: 'record', title: names.join() }, () =>
    people.values().map((text, index) => ({ line: index + 1, cells: [text] })),
  )
}

/** @param rows the JSON of each row */
function toTable(from: Pick<Table, 'file' | 'place' | 'title'>, rows: () => IteratorObject<Row>): Table {
  const items = () => rows().map(({ line, cells: [text = ''] }) => ({ line, text, value: parseObject(text) }))
  const found = new Set<string>()
  for (const { line, text, value } of items()) {
    for (const name in value) found.add(name)
    // A quick test, because most lines have no other spaces.
    if (value && JSON.stringify(value) !== text) checkNames(text, [value], `${from.file}: ${from.place} ${line}`)
  }
  const names = [...found]
  if (names.length === 0)
    throw new Failure(`${from.file}: there is no row: use one object per line, or one array of objects`)
  const toRows = () =>
    items().map(({ line, text, value }): Row => {
      if (!value) return { line, cells: names.map(() => text), problem: 'it is not a JSON object' }
      return { line, cells: names.map((name) => toCell(value[name] ?? '')) }
    })
  return { ...from, names, head: [], rows: toRows }
}

const toCell = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))

/** Of two members with one name, parsing takes the last one. Then the text has more members than what was read from it. */
function checkNames(text: string, values: readonly unknown[], place: string): void {
  // Also a colon after a quote in a text counts, in both.
  const count = (json: string) => {
    let members = 0
    for (const colon = /"\s*:/g; colon.test(json); ) members++
    return members
  }
  const read = values.flat().reduce((sum: number, value) => sum + count(JSON.stringify(value)), 0)
  if (count(text) > read) throw new Failure(`${place}: an object has a name twice: keep one of its values`)
}

/** The lists of people in an object, and in the objects in it. A person has none. */
function findLists(
  value: unknown,
  name = '',
): readonly { readonly name: string; readonly people: readonly unknown[] }[] {
  if (Array.isArray(value)) return value.some(isPerson) ? [{ name, people: value as unknown[] }] : []
  if (!(value instanceof Object) || isPerson(value)) return []
  return Object.entries(value).flatMap(([name, member]) => findLists(member, name))
}

/** Whether a value is an address, or an object with one or with a member of that name. */
function isPerson(value: unknown): boolean {
  if (!(value instanceof Object)) return parseOwnerAddress(value).ok
  return Object.entries(value).some(([name, member]) => isAddressName(name) || parseOwnerAddress(member).ok)
}

/** A JSON object as it is, a text as an object with an address, as in a list of texts; undefined for anything else. */
function toObject(value: unknown): Json | undefined {
  if (typeof value === 'string') return { email: value }
  return value instanceof Object && !Array.isArray(value) ? (value as Json) : undefined
}

/** Parses JSON, as `toObject`. */
export function parseObject(text = ''): Json | undefined {
  try {
    return toObject(JSON.parse(text))
  } catch {
    return undefined
  }
}
