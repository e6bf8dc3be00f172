/** JSON as a table: one object per line (NDJSON), an array of objects, or an object that has one such array. */

import { Failure } from '../../failure.ts'
import { parseOwnerAddress } from './addresses.ts'
import type { Row, Table } from './csv.ts'
import { isAddressName } from './programs.ts'

type Json = Readonly<Record<string, unknown>>

/**
 * Opens JSON. The columns are the members of all objects. A member that an object lacks is an empty cell, and so is null.
 *
 * @throws Failure when it is not JSON, or has several lists
 */
export function openJson(text: string, file: string): Table {
  const { values, done, read } = Bun.JSONL.parseChunk(text)
  if (!done) {
    const before = text.length - text.slice(read).trimStart().length
    const line = text.slice(0, before).split('\n').length
    throw new Failure(`${file}: line ${line}: it is not valid JSON: use one object per line, or one array of objects`)
  }
  const lists = values.flatMap((document) => {
    const found = findLists(document)
    return found.length > 0 ? found : [{ name: '', people: [document].flat() }]
  })
  const titles = [...new Set(lists.map(({ name }) => name))]
  if (titles.length > 1) {
    const seen = titles.map((title) => JSON.stringify(title)).join(', ')
    throw new Failure(`${file}: it has several lists: ${seen}. Save the one of the subscribers as a file`)
  }
  const people = lists.flatMap(({ people }) => people)
  const found = new Set<string>()
  for (const person of people) for (const name in toObject(person)) found.add(name)
  const names = [...found]
  if (names.length === 0)
    throw new Failure(`${file}: there is no row: use one object per line, or one array of objects`)
  const toRow = (person: unknown, index: number): Row => {
    const value = toObject(person)
    const cells = names.map((name) => toCell(value ? (value[name] ?? '') : person))
    return { line: index + 1, cells, problem: value ? undefined : 'it is not a JSON object' }
  }
  const rows = () => people.values().map(toRow)
  return { file, place: 'record', title: titles, names, rows }
}

const toCell = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))

/** The lists of people in an object, and in the objects in it. A person has none. */
function findLists(
  value: unknown,
  name = '',
): readonly { readonly name: string; readonly people: readonly unknown[] }[] {
  if (Array.isArray(value)) return value.some(isPerson) ? [{ name, people: value as unknown[] }] : []
  if (!(value instanceof Object)) return []
  const found = Object.entries(value).flatMap(([name, member]) => findLists(member, name))
  return found.length > 0 && isPerson(value) ? [] : found
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
