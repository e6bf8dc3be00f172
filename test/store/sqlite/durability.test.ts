/** What a commit of a SQLite list puts on stable storage, and when. */

import { Database } from 'bun:sqlite'
import { afterAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createCompactor } from '../../../src/store/sqlite/compaction.ts'
import { createCounts } from '../../../src/store/sqlite/counts.ts'
import { openSqliteFile } from '../../../src/store/sqlite/file.ts'
import { createIdentityHash } from '../../../src/store/sqlite/identity-hash.ts'
import { openSqliteStore } from '../../../src/store/sqlite/store.ts'
import { createSuppressions } from '../../../src/store/sqlite/suppressions.ts'
import { prepareAppend } from '../../../src/store/sqlite/write.ts'
import { createFolder } from '../../support/service.ts'
import { createAddresses } from '../../support/store-suite.ts'

const folder = await createFolder()
afterAll(() => rm(folder, { recursive: true }))

/** PRAGMA synchronous of a connection: 1 is NORMAL, 2 is FULL (https://sqlite.org/pragma.html#pragma_synchronous). */
const readSynchronous = (db: Database) => db.query<{ synchronous: number }, []>('PRAGMA synchronous').get()?.synchronous

/** Returns a function that does one slice of compaction, and returns false when all is moved. */
function prepareStep(db: Database): () => boolean {
  const parts = { counts: createCounts(db), suppressions: createSuppressions(db), hashOf: createIdentityHash(db) }
  const compactor = createCompactor(db, parts)
  return () => compactor.step({ until: compactor.next(), milliseconds: 0 })
}

test('a connection waits for the disk after it opens a list, and after each slice of compaction', () => {
  using db = openSqliteFile(join(folder, 'synchronous.db'))
  expect(readSynchronous(db)).toBe(2)
  prepareAppend(db).run(Date.now(), JSON.stringify(createAddresses(2000)))
  const step = prepareStep(db)
  let steps = 0
  for (; step(); steps++) expect(readSynchronous(db)).toBe(2)
  expect(steps).toBeGreaterThan(2)
  expect(readSynchronous(db)).toBe(2)
})

test('a connection waits for the disk after a slice of compaction that failed', () => {
  const file = join(folder, 'failed.db')
  using db = openSqliteFile(file)
  prepareAppend(db).run(Date.now(), JSON.stringify(createAddresses(10)))
  using other = new Database(file)
  other.run('BEGIN IMMEDIATE')
  db.run('PRAGMA busy_timeout = 0')
  expect(prepareStep(db)).toThrow('database is locked')
  expect(readSynchronous(db)).toBe(2)
})

/** Counts the commits in a write-ahead log that has not been reset (https://sqlite.org/fileformat2.html#walformat). */
function countCommits(wal: Buffer): number {
  const [header, frameHeader, pageSize] = [32, 24, wal.readUInt32BE(8)]
  let commits = 0
  for (let frame = header; frame < wal.length; frame += frameHeader + pageSize) {
    // The last frame of a commit has the size of the database here, the others have 0.
    if (wal.readUInt32BE(frame + 4) > 0) commits++
  }
  return commits
}

test('an import of a whole batch is one commit, and so one lock and one sync', async () => {
  const file = join(folder, 'import.db')
  const store = openSqliteStore(file)
  const addresses = createAddresses(store.importSize * 2)
  // SQLite writes the log from its start again after this.
  const resetLog = () => {
    using db = new Database(file)
    db.run('PRAGMA wal_checkpoint(TRUNCATE)')
  }
  resetLog()
  await store.add(addresses.slice(0, 1))
  await store.add(addresses.slice(1, 2))
  expect(countCommits(readFileSync(`${file}-wal`))).toBe(2)
  await store.count()

  for (const start of [0, store.importSize]) {
    resetLog()
    const rows = addresses.slice(start, start + store.importSize).map((email) => ({ email }))
    expect(await store.import(rows)).toMatchObject({ suppressed: 0 })
    expect(countCommits(readFileSync(`${file}-wal`))).toBe(1)
  }
  expect((await store.count()).subscribers).toBe(addresses.length)
  await store.close()
})
