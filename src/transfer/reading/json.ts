/** JSON as a table: one object per line (NDJSON), an array of objects, or an object that has one such array. */

import { Failure } from '../../failure.ts'
import { parseOwnerAddress } from './addresses.ts'
import type { Row, Table } from './csv.ts'
import { isAddressName } from './programs.ts'

type Json = Readonly<Record<string, unknown>>

/** A row; undefined, with its text, when it is no object. */
interface Item {
  readonly line: number
  readonly value: Json | undefined
  readonly text: string
}

/**
 * Opens JSON. The columns are the members of all objects. A member that an object lacks is an empty cell, and so is null.
 *
 * @param lines reads the lines of the text
 * @throws Failure when it is not JSON, has several lists, or an object has a name twice
 */
export function openJson(text: string, file: string, lines: () => IteratorObject<Row>): Table {
  // Most files are NDJSON: their lines are parsed one by one, which needs less memory.
  const items = () => lines().map((row) => toItem(row, file))
  const [first] = items().take(1)
  if (first?.value && findLists(first.value).length === 0) return toTable({ file, place: 'line', title: '' }, items)
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
  const people = lists.flatMap(({ people }) => people)
  return toTable({ file, place: 'record', title: names.join() }, () =>
    people.values().map((person, index) => ({ line: index + 1, text: toCell(person), value: toObject(person) })),
  )
}

function toItem({ line, cells: [text = ''] }: Row, file: string): Item {
  const value = parseObject(text)
  // A quick test, because most lines have no other spaces.
  if (value && JSON.stringify(value) !== text) checkNames(text, [value], `${file}: line ${line}`)
  return { line, value, text }
}

function toTable(from: Pick<Table, 'file' | 'place' | 'title'>, items: () => IteratorObject<Item>): Table {
  const found = new Set<string>()
  for (const { value } of items()) for (const name in value) found.add(name)
  const names = [...found]
  if (names.length === 0)
    throw new Failure(`${from.file}: there is no row: use one object per line, or one array of objects`)
  const toRow = ({ line, value, text }: Item): Row => {
    if (!value) return { line, cells: names.map(() => text), problem: 'it is not a JSON object' }
    return { line, cells: names.map((name) => toCell(value[name] ?? '')) }
  }
  return { ...from, names, head: [], rows: () => items().map(toRow) }
}

const toCell = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))

/** Of two members with one name, parsing takes the last one. Then the text has more members than what was read from it. */
function checkNames(text: string, values: readonly unknown[], place: string): void {
  const read = values.flat().reduce((sum: number, value) => sum + countMembers(JSON.stringify(value)), 0)
  if (countMembers(text) > read) throw new Failure(`${place}: an object has a name twice: keep one of its values`)
}

/** Counts members, and texts with a colon after a quote. */
function countMembers(json: string): number {
  let count = 0
  for (const colon = /"\s*:/g; colon.test(json); ) count++
  return count
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

/** A text in a list is an address. */
function toObject(value: unknown): Json | undefined {
  if (typeof value === 'string') return { email: value }
  return value instanceof Object && !Array.isArray(value) ? (value as Json) : undefined
}

/** Parses a JSON object; undefined for anything else. */
export function parseObject(text = ''): Json | undefined {
  try {
    return toObject(JSON.parse(text))
  } catch {
    return undefined
  }
}
