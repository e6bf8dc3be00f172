/** After a power cut the disk of the endurance suite has what was synced, and what a cut may keep of the rest. */

import { beforeEach, expect, test } from 'bun:test'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { CUTS, type Cut, createDisk, type Disk } from '../../endurance/power/disk.ts'
import { createRandom } from '../../endurance/random.ts'
import type { Call } from '../../endurance/strace.ts'
import { findCovered } from '../../endurance/trials/fsync.ts'
import { createFolder } from '../support/workspace.ts'

type Operation = Call extends infer One ? (One extends Call ? Omit<One, 'begin' | 'end'> : never) : never

const folder = await createFolder()
let disk: Disk
let now = 0

beforeEach(() => {
  disk = createDisk('/disk')
})

/** Each call ends before the next one begins. */
function apply(...operations: readonly Operation[]): void {
  for (const operation of operations) disk.apply({ ...operation, begin: ++now, end: ++now } as Call)
}

const open = (path: string): Operation => ({ kind: 'open', path, isCreated: true, isTruncated: false })
const write = (path: string, text: string, offset = 0): Operation => ({
  ...{ kind: 'write', path, offset },
  data: Buffer.from(text),
})
const rename = (path: string, to: string): Operation => ({ kind: 'rename', path, to })
const sync = (path: string): Operation => ({ kind: 'sync', path })

/** The text of a file after a cut; undefined when it is not there. */
function readAfter(kind: Cut, path: string, seed = 1): string | undefined {
  rmSync(join(folder, 'disk'), { recursive: true, force: true })
  disk.cut(kind, createRandom(seed), (name) => join(folder, name))
  const file = join(folder, path)
  return existsSync(file) ? readFileSync(file, 'latin1') : undefined
}

const SEEDS = Array.from({ length: 30 }, (_, seed) => seed)
const listAfter = (kind: Cut, path: string) => new Set(SEEDS.map((seed) => readAfter(kind, path, seed)))

const A = '/disk/a'

test.each(CUTS)('%s: what was synced is there', (kind) => {
  apply(open(A), write(A, 'synced'), sync(A), sync('/disk'))
  expect(readAfter(kind, 'disk/a')).toBe('synced')
})

test('what was not synced may be there or not', () => {
  apply(open(A), write(A, 'old '), sync(A), sync('/disk'), write(A, 'new!'), write(A, ' more', 4))
  expect(readAfter('drop all', 'disk/a')).toBe('old ')
  expect(readAfter('keep all', 'disk/a')).toBe('new! more')
  expect(listAfter('keep the first', 'disk/a')).toEqual(new Set(['old ', 'new!', 'new! more']))
  expect(listAfter('keep some', 'disk/a')).toEqual(new Set(['old ', 'new!', 'old  more', 'new! more']))
})

test('a write may be there in part, by sectors', () => {
  const [old, changed] = ['a'.repeat(1024), 'b'.repeat(1024)]
  apply(open(A), write(A, old), sync(A), sync('/disk'), write(A, changed))
  const sectors = (text: string) => [text.slice(0, 512), text.slice(512)]
  for (const text of listAfter('tear', 'disk/a')) {
    for (const sector of sectors(text ?? '')) expect(['a'.repeat(512), 'b'.repeat(512)]).toContain(sector)
  }
  expect(listAfter('tear', 'disk/a').size).toBe(4)
})

test('a sync covers what had ended before it began', () => {
  apply(open(A), write(A, 'old'), sync('/disk'))
  const begin = ++now
  apply(write(A, 'new'))
  disk.apply({ kind: 'sync', path: A, begin, end: ++now })
  expect(readAfter('drop all', 'disk/a')).toBe('old')
})

test('what was written before a sync that failed is gone, and no later sync brings it back', () => {
  apply(open(A), write(A, 'old '), sync(A), sync('/disk'), write(A, 'gone', 4), { kind: 'failed sync', path: A })
  for (const kind of CUTS) expect(readAfter(kind, 'disk/a')).toBe('old ')
  apply(write(A, 'new', 8), sync(A))
  for (const kind of CUTS) expect(readAfter(kind, 'disk/a')).toBe('old \0\0\0\0new')
})

test('a rename that was not synced leaves the old file or the new one', () => {
  const B = '/disk/b'
  apply(open(A), write(A, 'old'), sync(A), open(B), write(B, 'new'), sync(B))
  apply(sync('/disk'), rename(B, A))
  expect(listAfter('keep some', 'disk/a')).toEqual(new Set(['old', 'new']))
  apply(sync('/disk'))
  expect(readAfter('drop all', 'disk/a')).toBe('new')
  expect(readAfter('drop all', 'disk/b')).toBeUndefined()
})

test('a name needs a sync of its folder, and of the folder of that', () => {
  const inner = '/disk/new/a'
  apply({ kind: 'mkdir', path: '/disk/new' }, open(inner), write(inner, 'text'), sync(inner), sync('/disk/new'))
  expect(readAfter('drop all', 'disk/new/a')).toBeUndefined()
  expect(readAfter('keep all', 'disk/new/a')).toBe('text')
  apply(sync('/disk'))
  expect(readAfter('drop all', 'disk/new/a')).toBe('text')
})

test('a response that is sent before the sync of its address is found', () => {
  const data = Buffer.from('fsync-000001')
  const calls = (syncEnd: number, syncBegin = 3): Call[] => [
    { kind: 'receive', path: 'socket', data, begin: 0, end: 0 },
    { kind: 'write', path: A, offset: 0, data, begin: 1, end: 2 },
    { kind: 'sync', path: A, begin: syncBegin, end: syncEnd },
    { kind: 'send', path: 'socket', data: Buffer.from('HTTP/1.1 200 OK'), begin: 5, end: 6 },
  ]
  expect(findCovered(calls(4))).toEqual({ covered: 1, early: [] })
  expect(findCovered(calls(7))).toEqual({ covered: 0, early: ['fsync-000001'] })
  expect(findCovered(calls(4, 1))).toEqual({ covered: 0, early: ['fsync-000001'] })
})
