/** The connection that commits waits for the disk. Read back from SQLite, so that this check runs on every machine. */

import { Database } from 'bun:sqlite'
import { expect, onTestFinished, test } from 'bun:test'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createCompactor } from '../../src/store/sqlite/compaction.ts'
import { openSqliteFile } from '../../src/store/sqlite/file.ts'
import { createSuppressions } from '../../src/store/sqlite/suppressions.ts'
import { APPEND } from '../../src/store/sqlite/write.ts'
import { createFolder } from '../support/service.ts'

/** https://sqlite.org/pragma.html#pragma_synchronous */
const FULL = 2

async function openList(): Promise<Database> {
  const folder = await createFolder()
  const db = openSqliteFile(join(folder, 'list.db'))
  onTestFinished(async () => {
    db.close()
    await rm(folder, { recursive: true })
  })
  return db
}

const readSynchronous = (db: Database) => db.query('PRAGMA synchronous').values()

function append(db: Database): void {
  db.query(APPEND).run(Date.now(), JSON.stringify(['ada@example.org', 'bob@example.org']))
}

test('a list is opened with synchronous = FULL', async () => {
  const db = await openList()
  expect(readSynchronous(db)).toEqual([[FULL]])
})

test('compaction sets it back', async () => {
  const db = await openList()
  append(db)
  const steps = [...createCompactor(db, createSuppressions(db)).run()]
  expect(steps.length).toBeGreaterThan(1)
  expect(db.query('SELECT count(*) FROM subscribers').values()).toEqual([[2]])
  expect(readSynchronous(db)).toEqual([[FULL]])
})

test('compaction that fails sets it back', async () => {
  const db = await openList()
  append(db)
  // Another connection holds the lock, so no transaction can begin.
  using other = new Database(db.filename)
  other.run('BEGIN IMMEDIATE')
  db.run('PRAGMA busy_timeout = 0')
  expect(() => [...createCompactor(db, createSuppressions(db)).run()]).toThrow('database is locked')
  expect(readSynchronous(db)).toEqual([[FULL]])
})
