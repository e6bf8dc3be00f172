/** Compaction may stop after any slice, and several processes may compact the same list. */

import type { Database } from 'bun:sqlite'
import { afterAll, expect, test } from 'bun:test'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Address } from '../../../src/email.ts'
import { createCompactor } from '../../../src/store/sqlite/compaction.ts'
import { countRows, createCounts } from '../../../src/store/sqlite/counts.ts'
import { openSqliteFile } from '../../../src/store/sqlite/file.ts'
import { createIdentityHash, type IdentityHash } from '../../../src/store/sqlite/identity-hash.ts'
import { createSuppressions } from '../../../src/store/sqlite/suppressions.ts'
import { prepareAppend } from '../../../src/store/sqlite/write.ts'
import { createFolder } from '../../support/service.ts'
import { createAddresses } from '../../support/store-suite.ts'

const folder = await createFolder()
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Addresses that are new in a row of the inbox. */
const NEW = 200
const ADDRESSES = createAddresses(12 * NEW)
/** Rows of the inbox, more than a short run has. The second half of a row repeats the row before. */
const ROWS = Array.from({ length: 12 }, (_, row) => [
  ...ADDRESSES.slice(row * NEW, (row + 1) * NEW),
  ...ADDRESSES.slice(Math.max(row - 1, 0) * NEW, row * NEW).map((address) => address.toUpperCase()),
])
const SEQ_OF = new Map(ROWS.flat().map((email, index) => [email, index + 1]))
const EXPECTED = ADDRESSES.map((email) => ({ seq: SEQ_OF.get(email)!, email }))

/** The hash of a list, and one with which the identities of all addresses collide. */
const HASHES: readonly (readonly [name: string, hashOf: (db: Database) => IdentityHash])[] = [
  ['the hash of the list', createIdentityHash],
  ['equal hashes', () => () => 2 ** 32 - 1],
]

type CreateHash = (typeof HASHES)[number][1]

/** Opens a list on which each step does one slice. */
function openList(file: string, createHash: CreateHash) {
  const db = openSqliteFile(file)
  const hashOf = createHash(db)
  const compactor = createCompactor(db, { counts: createCounts(db), suppressions: createSuppressions(db), hashOf })
  const append = prepareAppend(db)
  return {
    db,
    hashOf,
    next: compactor.next,
    append: (addresses: readonly string[]) => void append.run(Date.now(), JSON.stringify(addresses)),
    step: (until = compactor.next()) => compactor.step({ until, milliseconds: 0 }),
    /** How far compaction is. It changes with each slice. */
    progress: () => JSON.stringify(db.query('SELECT min(first_seq), compaction.* FROM inbox, compaction').get()),
  }
}

type List = ReturnType<typeof openList>

let lists = 0

/** Fills an inbox. Returns two connections to it. */
function openTwice(createHash: CreateHash): [List, List] {
  const file = join(folder, `${++lists}.db`)
  const list = openList(file, createHash)
  list.db.transaction(() => ROWS.forEach(list.append))()
  return [list, openList(file, createHash)]
}

/** Does some steps. Returns whether more are left. */
function runSteps({ step }: List, steps: number): boolean {
  for (let done = 0; done < steps; done++) if (!step()) return false
  return true
}

/** Expects that the index has each subscriber once, with its hash. */
function expectIndex({ db, hashOf }: List): void {
  const subscribers = db.query<{ seq: number; email: Address }, []>('SELECT seq, email FROM subscribers').all()
  const index = db.query('SELECT seq, hash FROM identity_hashes UNION ALL SELECT seq, hash FROM collisions ORDER BY 1')
  expect(index.all()).toEqual(subscribers.map(({ seq, email }) => ({ seq, hash: hashOf(email) })))
}

function expectList(list: List): void {
  const { db } = list
  expect(db.query('SELECT seq, email FROM subscribers').all()).toEqual(EXPECTED)
  expectIndex(list)
  expect(db.query('SELECT first_seq, addresses FROM inbox').all()).toEqual([
    { first_seq: ROWS.flat().length + 1, addresses: '[]' },
  ])
  expect(db.query('SELECT count(*) AS matches FROM hash_matches').get()).toEqual({ matches: 0 })
  expect(createCounts(db).read()).toEqual(countRows(db))
}

test.each(HASHES)('%s: another connection completes a run that stopped after any step', (_, createHash) => {
  for (let steps = 0, goesOn = true; goesOn; steps++) {
    const [stopped, other] = openTwice(createHash)
    goesOn = runSteps(stopped, steps)
    runSteps(other, Number.POSITIVE_INFINITY)
    expectList(other)
    for (const { db } of [stopped, other]) db.close()
  }
})

test.each(HASHES)(
  '%s: a run goes on without harm when another connection compacts after any of its steps',
  (_, createHash) => {
    for (let steps = 0, goesOn = true; goesOn; steps++) {
      const [slow, fast] = openTwice(createHash)
      goesOn = runSteps(slow, steps)
      runSteps(fast, Number.POSITIVE_INFINITY)
      runSteps(slow, Number.POSITIVE_INFINITY)
      expectList(slow)
      for (const { db } of [slow, fast]) db.close()
    }
  },
)

/** Does steps until all before a seq is moved. Returns the number of steps, and of those that were slices. */
function runAll(list: List, { until = list.next(), before = () => {} } = {}): { steps: number; slices: number } {
  let [steps, slices] = [0, 0]
  for (let goesOn = true; goesOn; steps++) {
    before()
    const progress = list.progress()
    goesOn = list.step(until)
    if (list.progress() !== progress) slices++
  }
  return { steps, slices }
}

test('two connections that compact in turns do each slice once', () => {
  const [alone] = openTwice(createIdentityHash)
  const wanted = runAll(alone)
  const [one, other] = openTwice(createIdentityHash)
  let slices = 0
  const step = () => {
    const progress = other.progress()
    other.step()
    if (other.progress() !== progress) slices++
  }
  const found = runAll(one, { before: step })
  expectList(one)
  expect(found.slices).toBeGreaterThan(1)
  expect(slices).toBeGreaterThan(1)
  expect(found.slices + slices).toBe(wanted.slices)
  for (const { db } of [alone, one, other]) db.close()
})

test('a reader needs a bounded number of steps while another connection accepts and compacts all the time', () => {
  const [alone] = openTwice(createIdentityHash)
  const { steps: most } = runAll(alone)
  for (let ahead = 0; ahead <= most; ahead++) {
    const [service, reader] = openTwice(createIdentityHash)
    let accepted = 0
    const accept = () => {
      service.append(Array.from({ length: 50 }, () => `new${accepted++}@mail.io`))
      service.step()
    }
    // The service may have begun with its run.
    for (let step = 0; step < ahead; step++) service.step()
    const { steps } = runAll(reader, { until: reader.next(), before: accept })
    expect(steps).toBeLessThanOrEqual(2 * most)
    const { seq } = EXPECTED.at(-1)!
    expect(reader.db.query('SELECT count(*) AS size FROM subscribers WHERE seq <= ?').get(seq)).toEqual({
      size: EXPECTED.length,
    })
    for (const { db } of [service, reader]) db.close()
  }
})

test('what a connection has read for a run is not used for the next one', () => {
  for (let ahead = 1; ahead < 20; ahead++) {
    const [slow, fast] = openTwice(createIdentityHash)
    runSteps(slow, ahead)
    runAll(fast)
    for (const row of ROWS) fast.append(row.map((email) => `again.${email}`))
    fast.step()
    runAll(slow)
    const { size } = slow.db.query<{ size: number }, []>('SELECT count(*) AS size FROM subscribers').get()!
    expect(size).toBe(2 * ADDRESSES.length)
    expectIndex(slow)
    for (const { db } of [slow, fast]) db.close()
  }
})

test('a transaction of the caller that is rolled back leaves nothing behind', () => {
  const db = openSqliteFile(join(folder, 'rollback.db'))
  const compactor = createCompactor(db, {
    counts: createCounts(db),
    suppressions: createSuppressions(db),
    hashOf: createIdentityHash(db),
  })
  const append = prepareAppend(db)
  const compact = (email: string, work = () => {}) => {
    append.run(1, JSON.stringify([email]))
    compactor.compactAll()
    work()
  }
  const fail = () => {
    throw new Error('no disk')
  }
  db.transaction(() => compact('one@mail.io'))()
  expect(() => db.transaction(() => compact('two@mail.io', fail))()).toThrow('no disk')
  db.transaction(() => compact('ONE@mail.io'))()
  expect(db.query('SELECT seq, email FROM subscribers').all()).toEqual([{ seq: 1, email: 'one@mail.io' }])
  db.close()
})
