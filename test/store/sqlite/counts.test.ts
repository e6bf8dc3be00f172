/** The counts of a list are those of its rows after every kind of change. */

import { Database } from 'bun:sqlite'
import { afterAll, expect, test } from 'bun:test'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { isReserved } from '../../../src/email.ts'
import { countRows, createCounts, resetCounts } from '../../../src/store/sqlite/counts.ts'
import { openSqliteStore, type SqliteStore } from '../../../src/store/sqlite/store.ts'
import { createFolder } from '../../support/service.ts'
import { createAddresses, listAll, listSuppressions, toAddress, toAddresses } from '../../support/store-suite.ts'

const folder = await createFolder()
afterAll(() => rm(folder, { recursive: true }))

let lists = 0
const createPath = () => join(folder, `${++lists}.db`)

/** Few addresses, so that they meet often. A third of them is reserved. */
const ADDRESSES = Array.from({ length: 12 }, (_, index) =>
  toAddress(`user.${index}@${['mail.io', 'Example.ORG', 'contest.io'][index % 3]}`),
)
/** Few hashes, so that different addresses have equal ones. */
const hashOf = (address: string) => address.length % 2

const anAddress = fc
  .tuple(fc.constantFrom(...ADDRESSES), fc.boolean())
  .map(([address, isUpper]) => (isUpper ? toAddress(address.toUpperCase()) : address))
const someAddresses = fc.array(anAddress, { maxLength: 6 })
const aDate = fc.constantFrom('2020-01-01', '2024-01-01', '2100-01-01').map((text) => new Date(text))
const aRow = fc.record({ seq: fc.constant(1), email: anAddress, subscribedAt: aDate })
const anOptOut = fc.record({ email: anAddress, optedOutAt: fc.option(aDate, { nil: undefined }) })

type Change = (store: SqliteStore, other: SqliteStore) => Promise<unknown>

const aChange = fc.oneof(
  someAddresses.map(
    (addresses): Change =>
      (store) =>
        store.add(addresses),
  ),
  fc.constant<Change>(async (store) => store.compactFor(0)),
  fc.array(aRow, { maxLength: 6 }).map(
    (rows): Change =>
      (store) =>
        store.import(rows),
  ),
  fc.array(aRow, { maxLength: 6 }).map(
    (rows): Change =>
      (store) =>
        store.mergeSubscribers(rows),
  ),
  fc.tuple(someAddresses, fc.boolean()).map(
    ([addresses, suppress]): Change =>
      (store) =>
        store.remove(addresses, { suppress }),
  ),
  fc.tuple(fc.array(anOptOut, { maxLength: 6 }), fc.boolean()).map(
    ([rows, removeUndated]): Change =>
      (store) =>
        store.suppress(rows, { removeUndated }),
  ),
  someAddresses.map(
    (addresses): Change =>
      async (store, other) => {
        await other.remove(addresses, { suppress: true })
        await store.mergeSuppressions(await listSuppressions(other))
      },
  ),
)

test('after any changes by two connections, the counts are those of the rows', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(aChange, fc.nat(1)), { minLength: 1, maxLength: 12 }), async (changes) => {
      const [file, other] = [createPath(), openSqliteStore(createPath())]
      const stores = [openSqliteStore(file, { hashOf }), openSqliteStore(file, { hashOf })]
      using db = new Database(file)
      const counts = createCounts(db)
      for (const [change, index] of changes) {
        await change(stores[index]!, other)
        expect(counts.read()).toEqual(countRows(db))
      }
      const { subscribers, reserved, suppressed } = await stores[0]!.count()
      const all = await listAll(stores[0]!)
      expect({ subscribers, reserved }).toEqual({
        subscribers: all.length,
        reserved: all.filter(({ email }) => isReserved(email)).length,
      })
      expect(suppressed).toBe((await listSuppressions(stores[0]!)).length)
      for (const store of [...stores, other]) await store.close()
    }),
    { numRuns: 60 },
  )
}, 60_000)

test('after any slice of a compaction with repeats, the counts are those of the rows', async () => {
  const file = createPath()
  const store = openSqliteStore(file)
  using db = new Database(file)
  const counts = createCounts(db)
  const addresses = [...createAddresses(4000), ...toAddresses('a@example.com', 'b@example.com')]
  await store.add(addresses.slice(0, 1000))
  for (let start = 0; start < addresses.length; start += 200) await store.add(addresses.slice(start, start + 200))
  const seen = new Set<number>()
  for (let isLeft = true; isLeft; seen.add(counts.read().subscribers)) {
    isLeft = store.compactFor(0)
    expect(counts.read()).toEqual(countRows(db))
  }
  expect(seen.size).toBeGreaterThan(3)
  expect(counts.read()).toEqual({ subscribers: addresses.length, reserved: 2, suppressed: 0 })
  await store.close()
})

test('the counts stay as they were when a removal is rolled back', async () => {
  const file = createPath()
  const store = openSqliteStore(file)
  await store.add(toAddresses('a@example.com', 'b@site.io'))
  const before = await store.count()
  using db = new Database(file)
  db.run(`CREATE TRIGGER full BEFORE INSERT ON suppressions WHEN (SELECT subscribers FROM counts) = 0
          BEGIN SELECT raise(FAIL, 'full'); END`)
  const removing = store.remove(toAddresses('a@example.com', 'b@site.io'), { suppress: true })
  expect(await removing.catch((error: Error) => error.name)).toBe('StoreError')
  expect(await store.count()).toEqual(before)
  expect(countRows(db)).toEqual(before)
  await store.close()
})

test('resetting the counts counts every row', async () => {
  const file = createPath()
  const store = openSqliteStore(file)
  await store.add(toAddresses('a@example.com', 'b@site.io', 'c@site.io'))
  await store.remove(toAddresses('c@site.io', 'd@site.io'), { suppress: true })
  using db = new Database(file)
  db.run('UPDATE counts SET subscribers = 7, reserved = 7, suppressed = 7')
  db.transaction(() => resetCounts(db))()
  expect(await store.count()).toEqual({ subscribers: 2, reserved: 1, suppressed: 2 })
  await store.close()
})

test('a process of the version before can accept addresses, and cannot change the list without its counts', async () => {
  const file = createPath()
  const store = openSqliteStore(file)
  using old = new Database(file)
  // Its removals, imports and compaction begin with this statement, in their transaction.
  const begin = () => old.query('SELECT end_seq, cursor FROM compaction_run')
  expect(begin).toThrow('no such table: compaction_run')
  await store.close()
})
