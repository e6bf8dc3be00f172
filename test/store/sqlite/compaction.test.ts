/** Compaction may stop after any slice, and several processes may compact the same list. */

import type { Database } from 'bun:sqlite'
import { afterAll, expect, test } from 'bun:test'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createCompactor } from '../../../src/store/sqlite/compaction.ts'
import { openSqliteFile } from '../../../src/store/sqlite/file.ts'
import { createSuppressions } from '../../../src/store/sqlite/suppressions.ts'
import { prepareAppend } from '../../../src/store/sqlite/write.ts'
import { createFolder } from '../../support/service.ts'
import { createAddresses } from '../../support/store-suite.ts'

const folder = await createFolder()
afterAll(() => rm(folder, { recursive: true }))

const ADDRESSES = createAddresses(14)
/** Rows of the inbox, enough for two slices of the append pass: a new address in every third, and repeats in all. */
const ROWS = Array.from({ length: 40 }, (_, row) => {
  const seen = Math.floor(row / 3) + 1
  const repeats = ADDRESSES.slice(0, seen).map((address) => address.toUpperCase())
  return row % 3 === 0 ? [...ADDRESSES.slice(seen - 1, seen), ...repeats] : repeats
})
const EXPECTED = ADDRESSES.map((email) => ({ seq: ROWS.flat().indexOf(email) + 1, email }))

const createRun = (db: Database) => createCompactor(db, createSuppressions(db)).run()

/** Fills an inbox. Returns two connections to it. */
function createInbox(name: string): [Database, Database] {
  const file = join(folder, `${name}.db`)
  const db = openSqliteFile(file)
  db.transaction(() => {
    for (const row of ROWS) prepareAppend(db).run(Date.now(), JSON.stringify(row))
  })()
  return [db, openSqliteFile(file)]
}

/** Runs some slices. Returns whether the run goes on. */
function runSlices(run: Generator<void>, slices: number): boolean {
  for (let slice = 0; slice < slices; slice++) if (run.next().done) return false
  return true
}

function expectList(db: Database): void {
  expect(db.query('SELECT seq, email FROM subscribers').all()).toEqual(EXPECTED)
  expect(db.query('SELECT seq FROM identities ORDER BY seq').all()).toEqual(EXPECTED.map(({ seq }) => ({ seq })))
  expect(db.query('SELECT first_seq, addresses FROM inbox').all()).toEqual([
    { first_seq: ROWS.flat().length + 1, addresses: '[]' },
  ])
}

test('another run completes a run that stopped after any slice', () => {
  for (let slices = 0, goesOn = true; goesOn; slices++) {
    const [stopped, other] = createInbox(`stopped-${slices}`)
    goesOn = runSlices(createRun(stopped), slices)
    runSlices(createRun(other), Number.POSITIVE_INFINITY)
    expectList(other)
    for (const db of [stopped, other]) db.close()
  }
})

test('a run ends without harm when another connection compacts after any of its slices', () => {
  for (let slices = 0, goesOn = true; goesOn; slices++) {
    const [slow, fast] = createInbox(`slow-${slices}`)
    const run = createRun(slow)
    goesOn = runSlices(run, slices)
    runSlices(createRun(fast), Number.POSITIVE_INFINITY)
    runSlices(run, Number.POSITIVE_INFINITY)
    expectList(slow)
    for (const db of [slow, fast]) db.close()
  }
})

test('two runs in turn, slice by slice, give the same list', () => {
  const [one, other] = createInbox('turns')
  const runs = [createRun(one), createRun(other)]
  while (runs.some((run) => !run.next().done)) {
    // Each call of `some` runs a slice of the first run that has not ended.
    runs.reverse()
  }
  expectList(one)
  for (const db of [one, other]) db.close()
})
