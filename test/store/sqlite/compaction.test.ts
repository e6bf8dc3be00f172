/** Compaction may stop after any slice, and several processes may compact the same list. */

import { afterAll, expect, test } from 'bun:test'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { append, compactAll, countInbox, createCompaction } from '../../../src/store/sqlite/compaction.ts'
import { type ListFile, openListFile } from '../../../src/store/sqlite/file.ts'
import { readHead } from '../../../src/store/sqlite/read.ts'
import { createFolder } from '../../support/service.ts'
import { createAddresses } from '../../support/store-suite.ts'

const folder = await createFolder()
afterAll(() => rm(folder, { recursive: true }))

/** New addresses in a row of the inbox. The second half of a row repeats the row before, in upper case. */
const NEW = 4_000
const ADDRESSES = createAddresses(12 * NEW)
const ROWS = Array.from({ length: 12 }, (_, row) => [
  ...ADDRESSES.slice(row * NEW, (row + 1) * NEW),
  ...ADDRESSES.slice(Math.max(row - 1, 0) * NEW, row * NEW).map((address) => address.toUpperCase()),
])

let lists = 0

/** Fills an inbox. Returns two connections to it. */
function openTwice(): [ListFile, ListFile] {
  const file = join(folder, `${++lists}.db`)
  const list = openListFile(file)
  for (const row of ROWS) append(list.db, JSON.stringify(row))
  return [list, openListFile(file)]
}

function readList({ db }: ListFile) {
  return db.query<{ seq: number; email: string }, []>('SELECT seq, email FROM subscribers ORDER BY seq').all()
}

function expectList(list: ListFile): void {
  const subscribers = readList(list)
  expect(subscribers.map(({ email }) => email)).toEqual(ADDRESSES)
  expect(countInbox(list.db)).toBe(0)
  expect(list.db.query('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' })
}

test('a connection goes on where another one stopped, after any slice', () => {
  for (let slices = 0, goesOn = true; goesOn; slices++) {
    const [stopped, other] = openTwice()
    const compact = createCompaction(stopped.db)
    for (let slice = 0; slice < slices && goesOn; slice++) goesOn = compact().left
    const rest = createCompaction(other.db)
    while (rest().left);
    expectList(other)
    stopped.close()
    other.close()
  }
})

test('two connections that compact in turns move each address once', () => {
  const [one, other] = openTwice()
  const compact = [createCompaction(one.db), createCompaction(other.db)]
  let moved = 0
  for (let turn = 0; countInbox(one.db) > 0; turn++) moved += compact[turn % 2]?.().moved ?? 0
  expect(moved).toBe(ROWS.flat().length)
  expectList(one)
  one.close()
  other.close()
})

test('moves nothing that was accepted after a number', () => {
  const [list, other] = openTwice()
  const compact = createCompaction(list.db)
  const { lastSeq: until } = readHead(list.db)
  append(other.db, JSON.stringify(['late@site.io']))
  while (compact(until).left);
  expect(readList(list)).toHaveLength(ADDRESSES.length)
  expect(countInbox(list.db)).toBe(1)
  expect(compact(until)).toEqual({ moved: 0, left: false })
  list.close()
  other.close()
})

test('a transaction of the caller that is rolled back leaves nothing behind', () => {
  const [list, other] = openTwice()
  const fail = list.db.transaction(() => {
    compactAll(list.db)
    throw new Error('no disk')
  })
  expect(fail).toThrow('no disk')
  expect(readList(list)).toEqual([])
  list.db.transaction(() => compactAll(list.db))()
  expectList(list)
  list.close()
  other.close()
})

test('a batch with more addresses than a slice is moved as a whole', () => {
  const list = openListFile(join(folder, 'large.db'))
  append(list.db, JSON.stringify(ADDRESSES))
  append(list.db, JSON.stringify(['next@site.io']))
  const compact = createCompaction(list.db)
  expect(compact()).toEqual({ moved: ADDRESSES.length, left: true })
  expect(compact()).toEqual({ moved: 1, left: false })
  list.close()
})
