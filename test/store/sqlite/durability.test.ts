/** What a commit of a SQLite list puts on stable storage, and when. */

import { Database } from 'bun:sqlite'
import { afterAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { CHANGE_BATCH } from '../../../src/limits.ts'
import { append, createCompaction } from '../../../src/store/sqlite/compaction.ts'
import { openListFile } from '../../../src/store/sqlite/file.ts'
import { openSqliteStore } from '../../../src/store/sqlite/store.ts'
import { createFolder } from '../../support/service.ts'
import { createAddresses } from '../../support/store-suite.ts'

const folder = await createFolder()
afterAll(() => rm(folder, { recursive: true }))

/** PRAGMA synchronous of a connection: 1 is NORMAL, 2 is FULL (https://sqlite.org/pragma.html#pragma_synchronous). */
const readSynchronous = (db: Database) => db.query<{ synchronous: number }, []>('PRAGMA synchronous').get()?.synchronous

test('a connection waits for the disk after it opens a list, and after each slice of compaction', () => {
  const { db, close } = openListFile(join(folder, 'synchronous.db'))
  expect(readSynchronous(db)).toBe(2)
  for (let row = 0; row < 6; row++) append(db, JSON.stringify(createAddresses(20_000)))
  const compact = createCompaction(db)
  let slices = 0
  for (; compact().left; slices++) expect(readSynchronous(db)).toBe(2)
  expect(slices).toBeGreaterThan(1)
  expect(readSynchronous(db)).toBe(2)
  close()
})

test('a connection waits for the disk after a slice of compaction that failed', () => {
  const file = join(folder, 'failed.db')
  const { db, close } = openListFile(file)
  append(db, JSON.stringify(createAddresses(10)))
  using other = new Database(file)
  other.run('BEGIN IMMEDIATE')
  db.run('PRAGMA busy_timeout = 0')
  expect(() => createCompaction(db)()).toThrow('database is locked')
  expect(readSynchronous(db)).toBe(2)
  close()
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
  const addresses = createAddresses(CHANGE_BATCH * 2)
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

  for (const start of [0, CHANGE_BATCH]) {
    resetLog()
    const rows = addresses.slice(start, start + CHANGE_BATCH).map((email) => ({ email }))
    expect(await store.import(rows)).toMatchObject({ suppressed: 0 })
    expect(countCommits(readFileSync(`${file}-wal`))).toBe(1)
  }
  expect((await store.count()).subscribers).toBe(addresses.length)
  await store.close()
})
