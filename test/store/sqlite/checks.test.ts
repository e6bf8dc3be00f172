import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import {
  chmodSync,
  cpSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Address } from '../../../src/email.ts'
import { type CheckResult, checkLatest, checkWaiting } from '../../../src/store/check.ts'
import { toClockSeq } from '../../../src/store/numbers.ts'
import { checkSqliteList } from '../../../src/store/sqlite/checks.ts'
import { openSqliteStore } from '../../../src/store/sqlite/store.ts'
import { addAndEnd } from '../../support/list-file.ts'
import { createFolder } from '../../support/workspace.ts'

async function check(file: string): Promise<readonly CheckResult[]> {
  return await Array.fromAsync(checkSqliteList(file))
}

/** The messages of what is wrong, by the check. */
async function findWrong(file: string): Promise<Readonly<Record<string, string>>> {
  const wrong = (await check(file)).filter(({ ok }) => ok === false)
  return Object.fromEntries(wrong.map(({ check, message }) => [check, message]))
}

/** Creates a list with three addresses, in a folder of its own. */
async function createList(): Promise<string> {
  const folder = await createFolder()
  const file = join(folder, 'list.db')
  const store = openSqliteStore(file, { access: 'create' })
  await store.add(['ada@site.io', 'bob@site.io', 'cyd@site.io'] as Address[])
  await store.count()
  await store.close()
  return file
}

/** The files of a list and of its folder: names, content and times. */
function look(file: string): unknown {
  const folder = dirname(file)
  const names = readdirSync(folder).toSorted()
  return [folder, ...names.map((name) => join(folder, name))].map((path) => {
    // When the superuser opens a log, SQLite gives it the owner that it has, so its ctime changes.
    const { mtimeMs, mode, uid } = statSync(path)
    return { path, mtimeMs, mode, uid, content: path === folder ? '' : Bun.hash(readFileSync(path)) }
  })
}

function runSql(file: string, statement: string): void {
  using db = new Database(file)
  db.run(statement)
}

test('a sound list: every check is ok, also after a kill and without the index of its log, and nothing changes', async () => {
  const file = await createList()
  for (const prepare of [() => {}, () => addAndEnd('kill', file, 'eve@site.io'), () => rmSync(`${file}-shm`)]) {
    await prepare()
    const before = look(file)
    const results = await check(file)
    expect(results.filter(({ ok }) => ok === false)).toEqual([])
    expect(results.map(({ check }) => check)).toEqual([
      'list',
      'file modes',
      'disk',
      'content',
      'integrity',
      'dates',
      'backup',
      'inbox',
    ])
    expect(look(file)).toEqual(before)
  }
  const inbox = (await check(file)).find(({ check }) => check === 'inbox')
  expect(inbox?.message).toMatch(/^waiting for compaction: 1, the oldest since 20/)
})

test('an empty list next to a backup or a kept list is wrong; an empty one alone is not', async () => {
  const full = await createList()
  const places = ['before.db', 'backups/rollcall-2026-01-01.db', 'list.before-restore-1.db']
  for (const [index, place] of places.entries()) {
    const folder = join(await createFolder(), 'data')
    mkdirSync(join(folder, 'backups'), { recursive: true })
    const file = join(folder, 'list.db')
    await openSqliteStore(file, { access: 'create' }).close()
    writeFileSync(join(folder, 'notes.db'), 'not a list')
    chmodSync(folder, 0o700)
    expect(await findWrong(file)).toEqual({})
    cpSync(full, join(folder, place))
    expect(await findWrong(file)).toEqual({
      content: `the list is empty, and ${resolve(folder, place)} may have its addresses: stop the service, and run: rollcall restore FILE`,
    })
    // One address in the inbox is enough.
    await addAndEnd('kill', file, `user.${index}@site.io`)
    expect(await findWrong(file)).toEqual({})
  }
})

type Change = (file: string, folder: string) => void

const WRONG: readonly (readonly [string, Change, Readonly<Record<string, string>>])[] = [
  ['a newer schema', (file) => runSql(file, 'PRAGMA user_version = 99'), { list: 'use a newer Rollcall' }],
  ['no list', (file) => rmSync(file), { list: 'there is no list at' }],
  ['an empty file', (file) => truncateSync(file), { list: 'the file is empty' }],
  ['another file', (file) => writeFileSync(file, 'email\n'), { list: 'it is not a database' }],
  ['a second name', (file, folder) => linkSync(file, join(folder, 'second.db')), { list: 'has 2 names' }],
  ['a mode', (file) => chmodSync(file, 0o640), { 'file modes': 'has mode 0640; run: chmod 600' }],
  ['the mode of the folder', (_, folder) => chmodSync(folder, 0o770), { 'file modes': 'run: chmod go-w' }],
]

test('each thing that is wrong is found, with what to do, and no file is created', async () => {
  const sound = dirname(await createList())
  for (const [what, change, expected] of WRONG) {
    const folder = await createFolder()
    cpSync(sound, folder, { recursive: true })
    const file = join(folder, 'list.db')
    change(file, folder)
    const before = look(file)
    const wanted = Object.entries(expected).map(([check, message]) => [check, expect.stringContaining(message)])
    expect(await findWrong(file), what).toEqual(Object.fromEntries(wanted))
    expect(look(file), what).toEqual(before)
  }
})

test('a subscription is in the future when its date is more than a minute ahead: two clocks rarely agree', () => {
  const ahead = (seconds: number) => new Date(Date.now() + seconds * 1_000)
  expect(checkLatest(ahead(30))).toContain('the latest subscription is of')
  expect(() => checkLatest(ahead(120))).toThrow('in the future')
})

test('people who wait to be handed over are a fault after a day', () => {
  const seqOf = (hours: number) => toClockSeq(Date.now() - hours * 3_600_000)
  expect(checkWaiting('the cursor is 1', { count: 2, first: seqOf(23) })).toContain('2 subscribers waiting')
  expect(() => checkWaiting('the cursor is 1', { count: 2, first: seqOf(25) })).toThrow('2 subscribers waiting')
})

test('an inbox whose oldest address waits for minutes is wrong, and a command says why nobody compacts', async () => {
  const file = await createList()
  await addAndEnd('kill', file, 'dan@site.io', 'eve@site.io')
  const age = (ms: number) => {
    using db = new Database(file)
    db.run('UPDATE inbox SET accepted_at = ?', [Date.now() - ms])
  }
  age(4 * 60_000)
  expect(await findWrong(file)).toEqual({})
  age(6 * 60_000)
  const waiting = 'waiting for compaction: 2, the oldest since [^,]*'
  const wrong = new RegExp(
    `^${waiting}: start the service, or run "rollcall count": it compacts, or says why it cannot$`,
  )
  expect(await findWrong(file)).toEqual({ inbox: expect.stringMatching(wrong) })

  using db = new Database(file)
  db.run(`CREATE TRIGGER broken BEFORE INSERT ON subscribers BEGIN SELECT raise(ABORT, 'broken'); END`)
  expect(await findWrong(file)).toEqual({ inbox: expect.stringMatching(wrong) })
  // The check has changed nothing.
  expect(db.query('SELECT count(*) AS rows FROM inbox').get()).toEqual({ rows: 1 })
  expect(db.query('SELECT count(*) AS rows FROM identities').get()).toEqual({ rows: 3 })
  const store = openSqliteStore(file, { access: 'change' })
  await expect(store.count()).rejects.toThrow('broken')
  await store.close()
})
