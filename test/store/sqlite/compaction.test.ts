/** A pass of compaction may stop after any slice, and several processes may compact the same list. */

import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { append, compactAll, countInbox, createCompaction } from '../../../src/store/sqlite/compaction.ts'
import { type ListFile, openListFile } from '../../../src/store/sqlite/file.ts'
import { checkIntegrity, lookUp } from '../../../src/store/sqlite/read.ts'
import { applyChanges } from '../../../src/store/sqlite/write.ts'
import { createFolder } from '../../support/service.ts'
import { createAddresses } from '../suite.ts'

const folder = await createFolder()

/** New addresses in a row of the inbox. The second half of a row repeats the row before, in upper case. */
const NEW = 1_600
const ADDRESSES = createAddresses(4 * NEW)
const ROWS = Array.from({ length: 4 }, (_, row) => [
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
  checkIntegrity(list.db)
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

test('an address that was removed meanwhile does not come back, and can be added again', () => {
  const [paused, other] = openTwice()
  const compact = createCompaction(paused.db)
  // Slices go by the identity, so this one comes last.
  const removed = ADDRESSES.toSorted().at(-1)!
  expect(compact().left).toBe(true)
  other.db.transaction(() => {
    compactAll(other.db)
    const [subscriber] = lookUp(other.db, [removed])
    applyChanges(other.db, { add: [], remove: [subscriber!.subscriber!], suppress: [], lift: [] })
  })()
  while (compact().left);
  expect(readList(other).map(({ email }) => email)).toEqual(ADDRESSES.filter((address) => address !== removed))
  append(other.db, JSON.stringify([removed]))
  while (compact().left);
  expect(readList(other).at(-1)?.email).toBe(removed)
  checkIntegrity(other.db)
  paused.close()
  other.close()
})
