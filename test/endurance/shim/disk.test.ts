/** After a power cut the disk of the endurance suite has what was synced, and what a cut may keep of the rest. */

import { afterEach, beforeEach, expect, test } from 'bun:test'
import { constants, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRandom } from '../../../endurance/random.ts'
import { CUTS, type Cut, createDisk, type Disk } from '../../../endurance/shim/disk.ts'
import type { Record } from '../../../endurance/shim/recording.ts'

/** The kinds without their position, which the disk does not use. */
type Operation = Record extends infer One ? (One extends Record ? Omit<One, 'position'> : never) : never

let folder = ''
let disk: Disk
let syncs = 0n

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rollcall-'))
  disk = createDisk()
})

afterEach(() => rmSync(folder, { recursive: true }))

function apply(...operations: readonly Operation[]): void {
  for (const operation of operations) disk.apply({ ...operation, position: 0 } as Record)
}

const create = (path: string, inode: number): Operation => ({ kind: 'open', inode, path, flags: constants.O_CREAT })
const write = (inode: number, text: string, offset = 0): Operation => ({
  ...{ kind: 'write', inode, offset },
  data: Buffer.from(text),
})
const truncate = (inode: number, size: number): Operation => ({ kind: 'truncate', inode, size })
const rename = (from: string, to: string): Operation => ({ kind: 'rename', from, to })

function sync(inode: number, isDone = true): Operation[] {
  const id = ++syncs
  return [
    { kind: 'syncBegin', inode, id },
    { kind: 'syncEnd', inode, id, isDone },
  ]
}

/** Makes the names in the folder durable. */
const syncFolder = (): Operation[] => [
  { kind: 'open', inode: 99, path: '/disk', flags: constants.O_DIRECTORY },
  ...sync(99),
]

/** The text of a file after a cut; undefined when it is not there. */
function readAfter(kind: Cut, path: string, seed = 1): string | undefined {
  rmSync(join(folder, 'disk'), { recursive: true, force: true })
  disk.cut(kind, createRandom(seed), (name) => join(folder, name))
  const file = join(folder, path)
  return existsSync(file) ? readFileSync(file, 'latin1') : undefined
}

const SEEDS = Array.from({ length: 30 }, (_, seed) => seed)
const listAfter = (kind: Cut, path: string) => new Set(SEEDS.map((seed) => readAfter(kind, path, seed)))

test.each(CUTS)('%s: what was synced is there', (kind) => {
  apply(create('/disk/a', 1), write(1, 'synced'), ...sync(1), ...syncFolder())
  expect(readAfter(kind, 'disk/a')).toBe('synced')
})

test('what was not synced may be there or not', () => {
  apply(create('/disk/a', 1), write(1, 'old '), ...sync(1), ...syncFolder(), write(1, 'new!'), write(1, ' more', 4))
  expect(readAfter('drop all', 'disk/a')).toBe('old ')
  expect(readAfter('keep all', 'disk/a')).toBe('new! more')
  expect(listAfter('keep the first', 'disk/a')).toEqual(new Set(['old ', 'new!', 'new! more']))
  expect(listAfter('keep some', 'disk/a')).toEqual(new Set(['old ', 'new!', 'old  more', 'new! more']))
})

test('a write may be there in part, by sectors', () => {
  const [old, changed] = ['a'.repeat(1024), 'b'.repeat(1024)]
  apply(create('/disk/a', 1), write(1, old), ...sync(1), ...syncFolder(), write(1, changed))
  const sectors = (text: string) => [text.slice(0, 512), text.slice(512)]
  for (const text of listAfter('tear', 'disk/a')) {
    for (const sector of sectors(text ?? '')) expect(['a'.repeat(512), 'b'.repeat(512)]).toContain(sector)
  }
  expect(listAfter('tear', 'disk/a').size).toBe(4)
})

test('a sync covers what came before it began', () => {
  const id = ++syncs
  apply(create('/disk/a', 1), write(1, 'old'), ...syncFolder(), { kind: 'syncBegin', inode: 1, id }, write(1, 'new'))
  apply({ kind: 'syncEnd', inode: 1, id, isDone: true })
  expect(readAfter('drop all', 'disk/a')).toBe('old')
})

test('a sync that failed covers nothing', () => {
  apply(create('/disk/a', 1), write(1, 'text'), ...sync(1, false), ...syncFolder())
  expect(readAfter('drop all', 'disk/a')).toBe('')
})

test('a name needs a sync of its folder', () => {
  apply(create('/disk/a', 1), write(1, 'text'), ...sync(1))
  expect(readAfter('drop all', 'disk/a')).toBeUndefined()
  expect(readAfter('keep all', 'disk/a')).toBe('text')
})

test('a rename that was not synced leaves the old file or the new one', () => {
  apply(create('/disk/a', 1), write(1, 'old'), ...sync(1), create('/disk/b', 2), write(2, 'new'), ...sync(2))
  apply(...syncFolder(), rename('/disk/b', '/disk/a'))
  expect(listAfter('keep some', 'disk/a')).toEqual(new Set(['old', 'new']))
  apply(...syncFolder())
  expect(readAfter('drop all', 'disk/a')).toBe('new')
  expect(readAfter('drop all', 'disk/b')).toBeUndefined()
})

test('a truncate is undone when it was not synced', () => {
  apply(create('/disk/a', 1), write(1, 'long text'), ...sync(1), ...syncFolder(), truncate(1, 4))
  expect(listAfter('keep some', 'disk/a')).toEqual(new Set(['long text', 'long']))
})

test('a file in a new folder needs the folder', () => {
  apply({ kind: 'mkdir', path: '/disk/new' }, create('/disk/new/a', 1), write(1, 'text'), ...sync(1))
  apply({ kind: 'open', inode: 98, path: '/disk/new', flags: constants.O_DIRECTORY }, ...sync(98))
  expect(readAfter('drop all', 'disk/new/a')).toBeUndefined()
  apply(...syncFolder())
  expect(readAfter('drop all', 'disk/new/a')).toBe('text')
})

test('a deleted file stays until its folder is synced, and its number may be used again', () => {
  apply(create('/disk/a', 1), write(1, 'old'), ...sync(1), ...syncFolder(), { kind: 'unlink', path: '/disk/a' })
  expect(readAfter('drop all', 'disk/a')).toBe('old')
  apply(create('/disk/a', 1), write(1, 'new'), ...sync(1))
  expect(readAfter('drop all', 'disk/a')).toBe('old')
  apply(...syncFolder())
  expect(readAfter('drop all', 'disk/a')).toBe('new')
})
