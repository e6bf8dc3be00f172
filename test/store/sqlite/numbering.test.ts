/** A list that continues from an older state gives out no number again, however that state came to its path. */

import { Database } from 'bun:sqlite'
import { expect, onTestFinished, test } from 'bun:test'
import { copyFileSync, cpSync, existsSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { copySqlite } from '../../../src/store/sqlite/backup.ts'
import { checkSqliteList } from '../../../src/store/sqlite/checks.ts'
import { createCounts } from '../../../src/store/sqlite/counts.ts'
import { openSqliteFile } from '../../../src/store/sqlite/file.ts'
import { createIdentityHash } from '../../../src/store/sqlite/identity-hash.ts'
import { createIdentityIndex } from '../../../src/store/sqlite/identity-index.ts'
import { createInboxReader } from '../../../src/store/sqlite/inbox-reader.ts'
import { toSafeNumber } from '../../../src/store/sqlite/numbering.ts'
import { createReader } from '../../../src/store/sqlite/read.ts'
import { openSqliteStore } from '../../../src/store/sqlite/store.ts'
import { createSuppressions } from '../../../src/store/sqlite/suppressions.ts'
import { toSupportFile } from '../../support/paths.ts'
import { createFolder, runCommand, startService } from '../../support/service.ts'
import { createAddresses, emailsOf, expectAscending, listAll } from '../../support/store-suite.ts'
import { until } from '../../support/wait.ts'

const ADDRESSES = createAddresses(65)
const [OLD, LOST, NEW] = [ADDRESSES.slice(0, 50), ADDRESSES.slice(50, 60), ADDRESSES.slice(60)] as const

/** Where numbering continues after an older state: far above all numbers of these tests. */
const FAR = 2 ** 40

interface Place {
  readonly file: string
  /** A folder for copies. */
  readonly copies: string
}

async function createPlace(): Promise<Place> {
  const folder = await createFolder()
  onTestFinished(() => rm(folder, { recursive: true }))
  const copies = join(folder, 'copies')
  await mkdir(copies)
  await mkdir(join(folder, 'data'))
  return { file: join(folder, 'data/list.db'), copies }
}

/** Adds addresses, and returns the messages for the owner. */
async function add(file: string, addresses: typeof ADDRESSES): Promise<readonly string[]> {
  const messages: string[] = []
  const store = openSqliteStore(file, { notify: (text) => messages.push(text) })
  await store.add(addresses)
  await store.close()
  return messages
}

/** The same in a process that kills itself, so that the list has a log. */
async function addKilled(file: string, addresses: typeof ADDRESSES): Promise<readonly string[]> {
  const writer = Bun.spawn([process.execPath, toSupportFile('killed-writer.ts'), file, ...addresses])
  await writer.exited
  expect(writer.signalCode).toBe('SIGKILL')
  return []
}

/** Reads what an export after a cursor would write. */
async function readAfter(file: string, after: number) {
  const store = openSqliteStore(file, { create: false })
  const rows = await listAll(store, { after })
  const { last } = await store.numbering()
  await store.close()
  return { rows, last }
}

const SUFFIXES = ['', '-wal', '-state'] as const

/** Copies the files with the suffixes, each over the file that is there. Its inode stays. */
function copyOver(from: string, to: string, suffixes: readonly string[]): void {
  for (const suffix of SUFFIXES) {
    if (suffixes.includes(suffix) && existsSync(from + suffix)) writeFileSync(to + suffix, readFileSync(from + suffix))
    else if (suffix !== '-state') rmSync(to + suffix, { force: true })
  }
}

const NEVER = new AbortController().signal

test.each<readonly [string, typeof addKilled, (place: Place) => unknown, (place: Place) => unknown]>([
  [
    'a backup, copied over the list',
    add,
    ({ file, copies }) => copySqlite(file, join(copies, 'list.db'), NEVER),
    ({ file, copies }) => copyOver(join(copies, 'list.db'), file, ['']),
  ],
  [
    'a backup, moved to the path',
    add,
    ({ file, copies }) => copySqlite(file, join(copies, 'list.db'), NEVER),
    ({ file, copies }) => renameSync(join(copies, 'list.db'), file),
  ],
  [
    'a plain copy, copied over the list',
    add,
    ({ file, copies }) => copyOver(file, join(copies, 'list.db'), ['']),
    ({ file, copies }) => copyOver(join(copies, 'list.db'), file, ['']),
  ],
  [
    'a plain copy with its dates and the state file, copied over both',
    add,
    ({ file, copies }) => cpSync(join(file, '..'), copies, { recursive: true, preserveTimestamps: true }),
    ({ file, copies }) => {
      cpSync(copies, join(file, '..'), { recursive: true, preserveTimestamps: true })
      utimesSync(file, new Date(), new Date(0))
    },
  ],
  [
    'a plain copy, renamed to the path',
    add,
    ({ file, copies }) => copyOver(file, join(copies, 'list.db'), ['']),
    ({ file, copies }) => renameSync(join(copies, 'list.db'), file),
  ],
  [
    'the list, moved away and back',
    add,
    ({ file, copies }) => {
      renameSync(file, join(copies, 'list.db'))
      copyFileSync(join(copies, 'list.db'), file)
    },
    ({ file, copies }) => renameSync(join(copies, 'list.db'), file),
  ],
  [
    'the files of a killed process, copied over its files',
    addKilled,
    ({ file, copies }) => copyOver(file, join(copies, 'list.db'), SUFFIXES),
    ({ file, copies }) => copyOver(join(copies, 'list.db'), file, SUFFIXES),
  ],
  [
    'the files of a killed process, over a list that was closed',
    add,
    async ({ file, copies }) => {
      await addKilled(file, [])
      copyOver(file, join(copies, 'list.db'), SUFFIXES)
    },
    ({ file, copies }) => copyOver(join(copies, 'list.db'), file, ['', '-wal']),
  ],
])('%s: everybody who subscribes afterwards is behind the cursor', async (_, write, save, restore) => {
  const place = await createPlace()
  const { file } = place
  await write(file, OLD)
  await save(place)
  await write(file, LOST)
  const { rows } = await readAfter(file, 0)
  expect(rows).toHaveLength(60)
  const cursor = rows.at(-1)?.seq ?? 0

  await restore(place)
  const messages = await add(file, NEW)
  const after = await readAfter(file, cursor)
  expect(emailsOf(after.rows)).toEqual(NEW)
  expect(after.rows[0]?.seq).toBeGreaterThan(FAR)
  expect(messages).toEqual([
    expect.stringMatching(RegExp(`numbering continues at ${after.rows[0]?.seq}, above all earlier numbers$`)),
  ])
  const all = await readAfter(file, 0)
  expect(emailsOf(all.rows)).toEqual([...OLD, ...NEW])
  expectAscending(all.rows)
  // Once is enough.
  expect(await add(file, LOST)).toEqual([])
  expect((await readAfter(file, after.last)).rows.map(({ seq }) => seq - after.last)).toEqual(LOST.map((_, i) => i + 1))
})

test('a backup that is restored twice continues above the numbers of the first time', async () => {
  const { file, copies } = await createPlace()
  await add(file, OLD)
  await copySqlite(file, join(copies, 'list.db'), NEVER)
  for (const email of NEW) {
    const { last } = await readAfter(file, 0)
    copyOver(join(copies, 'list.db'), file, [''])
    await add(file, [email])
    expect(emailsOf((await readAfter(file, last)).rows)).toEqual([email])
  }
})

test('a list that is opened and closed again and again skips no number', async () => {
  const { file } = await createPlace()
  for (const email of OLD.slice(0, 3)) {
    expect(await add(file, [email])).toEqual([])
    const reader = openSqliteStore(file)
    expect(await add(file, [email])).toEqual([])
    expect((await reader.count()).subscribers).toBeGreaterThan(0)
    await reader.close()
  }
  expect((await readAfter(file, 0)).rows.map(({ seq }) => seq)).toEqual([1, 3, 5])
})

test('reading a restored list writes no number, and does not hide that it was restored', async () => {
  const { file, copies } = await createPlace()
  await add(file, OLD)
  copyOver(file, join(copies, 'list.db'), [''])
  copyOver(join(copies, 'list.db'), file, [''])
  for (let reading = 0; reading < 2; reading++) expect((await readAfter(file, 0)).last).toBe(50)
  expect(await add(file, NEW)).toHaveLength(1)
})

test('several services that open a restored list at once skip numbers once', async () => {
  const { file, copies } = await createPlace()
  await add(file, OLD)
  await copySqlite(file, join(copies, 'list.db'), NEVER)
  renameSync(join(copies, 'list.db'), file)
  const env = { DATABASE_URL: `sqlite:${file}` }
  const services = await Promise.all(NEW.slice(0, 3).map(() => startService({ folder: copies, env })))
  for (const [index, service] of services.entries()) {
    expect((await service.subscribe(NEW[index])).status).toBe(200)
  }
  const { code, stderr } = await runCommand(['import', '-'], { env, stdin: NEW.slice(3).join('\n') })
  expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.not.stringContaining('numbering') })
  const { rows } = await readAfter(file, 50)
  const logs = services.map(({ log }) => log()).join('')
  for (const service of services) await service.stop()
  expect(logs.split(`numbering continues at ${rows[0]?.seq}, `)).toHaveLength(2)
  expect(emailsOf(rows)).toEqual(NEW)
  expect(rows.map(({ seq }) => seq - (rows[0]?.seq ?? 0))).toEqual(NEW.map((_, index) => index))
})

test('an import next to a service skips no number, also when a process that had the list open before has ended', async () => {
  const { file, copies } = await createPlace()
  const env = { DATABASE_URL: `sqlite:${file}` }
  const service = await startService({ folder: copies, env })
  const state = `${file}-state`
  const line = readFileSync(state, 'utf8')
  writeFileSync(state, line.replace(/\d+ \d+\n/, '1 0\n'))
  await until(() => readFileSync(state, 'utf8') === line, 'the service has saved the latest state')
  const { code, stderr } = await runCommand(['import', '-'], { env, stdin: NEW.join('\n') })
  expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.not.stringContaining('numbering') })
  await service.stop()
  expect((await readAfter(file, 0)).last).toBe(NEW.length)
})

test('numbers are skipped on stable storage before the next one is given out', async () => {
  const { file, copies } = await createPlace()
  await add(file, OLD)
  copyOver(file, join(copies, 'list.db'), [''])
  copyOver(join(copies, 'list.db'), file, [''])
  const store = openSqliteStore(file)
  store.settleNumbers()
  {
    using db = new Database(file, { readonly: true })
    expect(db.query('SELECT first_seq > ?1 AS isFar, addresses FROM inbox ORDER BY first_seq DESC').get(FAR)).toEqual({
      isFar: 1,
      addresses: '[]',
    })
  }
  await store.close()
})

test('addresses that wait in the inbox of an older state keep their numbers', async () => {
  const { file, copies } = await createPlace()
  await addKilled(file, OLD)
  copyOver(file, join(copies, 'list.db'), SUFFIXES)
  copyOver(join(copies, 'list.db'), file, SUFFIXES)
  const store = openSqliteStore(file)
  store.settleNumbers()
  await store.add(NEW)
  const rows = await listAll(store)
  await store.close()
  expect(emailsOf(rows)).toEqual([...OLD, ...NEW])
  expect(rows.filter(({ seq }) => seq > FAR)).toHaveLength(NEW.length)
})

test('the clock decides the number, unless it is behind the list', () => {
  const now = Date.UTC(2026, 10, 21)
  // 324 days in microseconds.
  expect(toSafeNumber(61, now)).toBe(324 * 86_400 * 1e6)
  expect(toSafeNumber(61, 0)).toBe(61 + 2 ** 32)
  const next = toSafeNumber(61, now)
  expect(toSafeNumber(next, now)).toBe(next + 2 ** 32)
  // For 285 years after 2026.
  expect(toSafeNumber(1, Date.UTC(2311, 0, 1))).toBeLessThan(Number.MAX_SAFE_INTEGER)
})

test('numbers that were skipped while addresses waited are not addresses that wait', async () => {
  const { file } = await createPlace()
  await addKilled(file, OLD)
  await addKilled(file, LOST)
  const checks = await Array.fromAsync(checkSqliteList(file, []))
  expect(checks.find(({ check }) => check === 'inbox')?.message).toStartWith('waiting for compaction: 60, ')

  // As on a full disk.
  const db = openSqliteFile(file, { create: false })
  onTestFinished(() => db.close())
  const suppressions = createSuppressions(db)
  const index = createIdentityIndex(db, createIdentityHash(db))
  const reader = createReader(db, { counts: createCounts(db), suppressions, index })
  const readInbox = createInboxReader(db, { reader, suppressions, index })
  expect(db.transaction(() => readInbox().count())().subscribers).toBe(60)
})
