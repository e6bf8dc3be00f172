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
 * @throws Failure when it is not JSON, or has several lists
 */
export function openJson(text: string, file: string, lines: () => IteratorObject<Row>): Table {
  // Most files are NDJSON: their lines are parsed one by one, which needs less memory.
  const first = parseObject(lines().take(1).toArray()[0]?.cells[0])
  if (first && findLists(first).length === 0) return toTable(file, 'line', () => lines().map(toLine))
  const items = toItems(parseDocuments(text, file), file)
  return toTable(file, 'record', () =>
    items.values().map((value, index) => ({ line: index + 1, value: toObject(value) })),
  )
}

/** An object, or the text in its place. */
interface Item {
  readonly line: number
  readonly value: Json | undefined
  readonly text?: string
}

function toLine({ line, cells: [text = ''] }: Row): Item {
  return { line, value: parseObject(text), text }
}

function toTable(file: string, place: Table['place'], items: () => IteratorObject<Item>): Table {
  const names = [...new Set(items().flatMap(({ value }) => Object.keys(value ?? {})))]
  if (names.length === 0)
    throw new Failure(`${file}: there is no row: use one object per line, or one array of objects`)
  const toCell = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))
  const toRow = ({ line, value, text = '' }: Item): Row => {
    if (!value) return { line, cells: names.map(() => text), problem: 'it is not a JSON object' }
    return { line, cells: names.map((name) => toCell(value[name] ?? '')) }
  }
  return { file, names, head: [], place, rows: () => items().map(toRow) }
}

/** Parses a document, or several that begin at the start of a line, as jq writes them. */
function parseDocuments(text: string, file: string): readonly unknown[] {
  try {
    return [JSON.parse(text)]
  } catch {
    try {
      return text
        .split(/(?<=^[}\]])\s*$/m)
        .filter((part) => part.trim() !== '')
        .map((part): unknown => JSON.parse(part))
    } catch {
      throw new Failure(`${file}: it is not valid JSON: use one object per line, or one array of objects`)
    }
  }
}

/** The objects of documents: their lists, or themselves. */
function toItems(documents: readonly unknown[], file: string): readonly unknown[] {
  return documents.flatMap((document) => {
    if (Array.isArray(document)) return document as unknown[]
    const found = findLists(document)
    // Beside the people there may be lists of links, and empty ones.
    const [people, filled] = [
      found.filter(([, items]) => items.some(isPerson)),
      found.filter(([, items]) => items.length > 0),
    ]
    const lists = [people, filled, found].find(({ length }) => length > 0) ?? []
    const [list = [document], ...others] = lists.map(([, items]) => items)
    if (others.length === 0) return list
    const names = lists.map(([name]) => JSON.stringify(name)).join(', ')
    throw new Failure(`${file}: it has several lists: ${names}. Save the one of the subscribers as a file`)
  })
}

/** The arrays of objects in an object, also in an object in it. One with an address is no list, but a person. */
function findLists(value: unknown): readonly (readonly [name: string, items: readonly unknown[]])[] {
  if (isPerson(value)) return []
  return Object.entries(toObject(value) ?? {}).flatMap(([name, member]) => {
    if (!Array.isArray(member)) return findLists(member)
    return member.length === 0 || member.some((item) => typeof item !== 'string' && toObject(item))
      ? [[name, member as unknown[]] as const]
      : []
  })
}

/** Whether an object has an address, or a member of that name. */
function isPerson(value: unknown): boolean {
  const members = Object.entries(toObject(value) ?? {})
  return members.some(([name, member]) => isAddressName(name) || parseOwnerAddress(member).ok)
}

/** A text in a list is an address. */
function toObject(value: unknown): Json | undefined {
  if (typeof value === 'string') return { email: value }
  return value instanceof Object && !Array.isArray(value) ? (value as Json) : undefined
}

/** Parses a JSON object; undefined for anything else. */
export function parseObject(text = ''): Json | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'string' ? undefined : toObject(value)
  } catch {
    return undefined
  }
}
