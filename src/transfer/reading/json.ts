/** JSON as a table: one object per line (NDJSON), an array of objects, or an object that has one such array. */

import { Failure } from '../../failure.ts'
import { parseOwnerAddress } from './addresses.ts'
import type { Row, Table } from './csv.ts'
import { isAddressName } from './programs.ts'

type Json = Readonly<Record<string, unknown>>

/**
 * Opens JSON. The columns are the members of all objects. A member that an object lacks is an empty cell, and so is null.
 *
 * @throws Failure when it is not JSON, or has several lists or no row
 */
export function openJson(text: string, file: string): Table {
  const documents = parseDocuments(text, file)
  const lists = documents.flatMap((document) => {
    const found = findLists(document)
    // A document without a list is a person, or some.
    return found.length > 0 ? found : [{ name: '', people: [document].flat() }]
  })
  const title = [...new Set(lists.map(({ name }) => name))]
  if (title.length > 1) {
    const seen = title.map((name) => JSON.stringify(name)).join(', ')
    throw new Failure(`${file}: it has several lists: ${seen}. Save the one of the subscribers as a file`)
  }
  const people = lists.flatMap((list) => list.people)
  const names = findNames(people)
  if (names.length === 0) {
    throw new Failure(`${file}: there is no row: use one object per line, or one array of objects`)
  }
  const rows = () => people.values().map((person, index) => toRow(person, index + 1, names))
  return { file, place: 'record', title, names, rows }
}

/** Parses the values of JSON that follow one another. @throws Failure with the line of the first one that is not JSON */
function parseDocuments(text: string, file: string): readonly unknown[] {
  const { values, done, read } = Bun.JSONL.parseChunk(text)
  if (done) return values
  const rest = text.slice(read).trimStart()
  const before = text.slice(0, text.length - rest.length)
  const line = before.split('\n').length
  throw new Failure(`${file}: line ${line}: it is not valid JSON: use one object per line, or one array of objects`)
}

/** The names of the members of all people, in the order in which they come first. */
function findNames(people: readonly unknown[]): readonly string[] {
  const names = new Set<string>()
  for (const person of people) {
    for (const name in toObject(person)) names.add(name)
  }
  return [...names]
}

function toRow(person: unknown, record: number, names: readonly string[]): Row {
  const members = toObject(person)
  // Each of its cells is the whole value, for the file of rejected rows.
  if (!members) return { line: record, cells: names.map(() => toCell(person)), problem: 'it is not a JSON object' }
  // `constructor` and others would be found in every object, which inherits them.
  const toMember = (name: string) => (Object.hasOwn(members, name) ? members[name] : undefined)
  return { line: record, cells: names.map((name) => toCell(toMember(name) ?? '')) }
}

const toCell = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))

interface List {
  /** The name of the member that it is. */
  readonly name: string
  readonly people: readonly unknown[]
}

/**
 * The lists of people in a value: itself if it is one, or else those in its members. A person has none: an array in it, such as
 * that of other addresses, is a cell.
 */
function findLists(value: unknown, name = ''): readonly List[] {
  if (Array.isArray(value)) {
    const people: readonly unknown[] = value
    return people.some(isPerson) ? [{ name, people }] : []
  }
  if (!(value instanceof Object)) return []
  const found = Object.entries(value).flatMap(([name, member]) => findLists(member, name))
  // Last, because most objects have no list, and it parses each member as an address.
  return found.length > 0 && isPerson(value) ? [] : found
}

/** Whether a value is an address, or an object with an address or with the name of one. */
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
