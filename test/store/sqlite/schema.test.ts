/** How the schema of a SQLite list is migrated. */

import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { checkVersion, migrate } from '../../../src/store/sqlite/schema.ts'
import { openSqliteStore } from '../../../src/store/sqlite/store.ts'
import { createFolder } from '../../support/workspace.ts'
import { listAll, toAddresses } from '../suite.ts'

const folder = await createFolder()

/** A second version, which no list has yet. Each list here has the first one. */
const SECOND = ['-', `ALTER TABLE subscribers ADD COLUMN note TEXT; UPDATE subscribers SET note = 'migrated'`]

test('an older list gets the migrations that it lacks, once, and keeps what it has', async () => {
  const file = join(folder, 'older.db')
  const store = openSqliteStore(file, { access: 'create' })
  await store.add(toAddresses('ann@one.example'))
  const all = await listAll(store)
  await store.close()
  for (let round = 0; round < 2; round++) {
    using db = new Database(file)
    migrate(db, file, SECOND)
    expect(checkVersion(db, file, SECOND)).toBe(2)
    expect(db.query('SELECT seq, email, note FROM subscribers').all()).toEqual([
      { seq: all[0]?.seq, email: 'ann@one.example', note: 'migrated' },
    ])
  }
})

test('a migration that fails leaves the list as it was', async () => {
  const file = join(folder, 'failed.db')
  await openSqliteStore(file, { access: 'create' }).close()
  using db = new Database(file)
  expect(() => migrate(db, file, [...SECOND, 'DROP TABLE missing'])).toThrow('no such table')
  expect(checkVersion(db, file)).toBe(1)
})

test('every table has a primary key', async () => {
  const file = join(folder, 'keys.db')
  await openSqliteStore(file, { access: 'create' }).close()
  using db = new Database(file)
  const without = `SELECT name FROM sqlite_schema WHERE type = 'table'
    AND NOT EXISTS (SELECT 1 FROM pragma_table_info(sqlite_schema.name) WHERE pk > 0)`
  expect(db.query(without).all()).toEqual([])
})
