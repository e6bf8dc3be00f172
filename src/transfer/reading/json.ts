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
  if (first && findLists(first).length === 0)
    return toTable({ file, place: 'line', title: '' }, () => lines().map(toLine))
  // Several documents begin on lines of their own, as jq writes them.
  const { values, done } = Bun.JSONL.parseChunk(text)
  if (!done) throw new Failure(`${file}: it is not valid JSON: use one object per line, or one array of objects`)
  const title = values.flatMap((document) => findLists(document).map(([name]) => name)).join()
  const items = values.flatMap((document) => toItems(document, file))
  return toTable({ file, place: 'record', title }, () =>
    items.values().map((value, index) => ({ line: index + 1, value: toObject(value), text: JSON.stringify(value) })),
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

function toTable(from: Pick<Table, 'file' | 'place' | 'title'>, items: () => IteratorObject<Item>): Table {
  const names = [...new Set(items().flatMap(({ value }) => Object.keys(value ?? {})))]
  if (names.length === 0)
    throw new Failure(`${from.file}: there is no row: use one object per line, or one array of objects`)
  const toCell = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))
  const toRow = ({ line, value, text = '' }: Item): Row => {
    if (!value) return { line, cells: names.map(() => text), problem: 'it is not a JSON object' }
    return { line, cells: names.map((name) => toCell(value[name] ?? '')) }
  }
  return { ...from, names, head: [], rows: () => items().map(toRow) }
}

/** The items of a document: those of its list, or itself. */
function toItems(document: unknown, file: string): readonly unknown[] {
  if (Array.isArray(document)) return document as unknown[]
  const lists = findLists(document)
  const [[, list] = ['', [document]], ...others] = lists
  if (others.length === 0) return list
  const names = lists.map(([name]) => JSON.stringify(name)).join(', ')
  throw new Failure(`${file}: it has several lists: ${names}. Save the one of the subscribers as a file`)
}

/** The lists of people in an object, and in the objects in it. A person has none. */
function findLists(value: unknown): readonly (readonly [name: string, people: readonly unknown[]])[] {
  if (!(value instanceof Object) || isPerson(value)) return []
  return Object.entries(value).flatMap(([name, member]) => {
    if (!Array.isArray(member)) return findLists(member)
    return member.some(isPerson) ? [[name, member as unknown[]] as const] : []
  })
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
    const value: unknown = JSON.parse(text)
    return typeof value === 'string' ? undefined : toObject(value)
  } catch {
    return undefined
  }
}
