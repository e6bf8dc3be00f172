/** The example of compaction in ARCHITECTURE.md, run on a real list. */

import { Database } from 'bun:sqlite'
import { afterEach, expect, onTestFinished, setSystemTime, test } from 'bun:test'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { parseAddress } from '../../src/email.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { findBlock } from '../support/markdown.ts'
import { createFolder } from '../support/service.ts'

const COMMITS = [
  { at: '2026-11-21T12:00:00.000Z', emails: ['Ada@example.org', 'bob@example.org'] },
  { at: '2026-11-21T12:00:00.250Z', emails: ['ADA@example.org', 'cyd@example.org'] },
]

afterEach(() => {
  setSystemTime()
})

test('the rows before and after compaction are those of the example', async () => {
  const folder = await createFolder()
  onTestFinished(() => rm(folder, { recursive: true }))
  const file = join(folder, 'list.db')
  // It stays open: after a change by another program, a closed list would skip numbers.
  const first = openSqliteStore(file)
  using db = new Database(file)
  db.run('UPDATE identity_key SET key = zeroblob(8)')

  const store = openSqliteStore(file)
  const [, cyd] = COMMITS[1]!.emails.map(toAddress)
  await store.remove([cyd!], { suppress: true })
  for (const { at, emails } of COMMITS) {
    setSystemTime(new Date(at))
    await store.add(emails.map(toAddress))
  }
  expectRows(db, 'before')
  // Reading compacts.
  expect(await store.count()).toMatchObject({ subscribers: 3 })
  expectRows(db, 'after')
  await store.close()
  await first.close()
})

function toAddress(text: string) {
  const parsed = parseAddress(text)
  if (!parsed.ok) throw new Error(`${text} is no address`)
  return parsed.value
}

/** Runs the statements of a block; the comments behind a statement are its rows. */
function expectRows(db: Database, name: string): void {
  const statements = findBlock('ARCHITECTURE.md', 'sql', name).text.matchAll(/^(SELECT .*);\n((?:-- .*\n)*)/gm)
  const documented = [...statements].map(([, sql = '', rows = '']) => ({ sql, rows }))
  expect(documented.length).toBeGreaterThan(2)
  const found = documented.map(({ sql }) => ({
    sql,
    rows: db
      .query(sql)
      .values()
      .map((row) => `-- ${row.join(' | ')}\n`)
      .join(''),
  }))
  expect(found).toEqual(documented)
}
