/** The store migrates an older list when it opens it, and loses nothing. It refuses a newer list. */

import { Database } from 'bun:sqlite'
import { afterAll, expect, test } from 'bun:test'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { openSqliteStore } from '../../../src/store/sqlite/store.ts'
import type { SubscriberStore } from '../../../src/subscriber.ts'
import { toSupportFile } from '../../support/paths.ts'
import { createFolder } from '../../support/service.ts'
import { emailsOf, listAll, listSuppressions, toAddress, toAddresses } from '../../support/store-suite.ts'

/** The number of the last migration. */
const LATEST = 2

const LIST = readFixture('schema-1.db.zst')
const EXPECTED: {
  readonly subscribers: readonly (readonly [seq: number, email: string, subscribedAt: number])[]
  readonly suppressions: readonly (readonly [key: string, hash: string, suppressedAt: number])[]
} = JSON.parse(readFixture('schema-1.json.zst').toString())
const LAST_SEQ = EXPECTED.subscribers.at(-1)![0]

const root = await createFolder()
afterAll(() => rm(root, { recursive: true }))

function readFixture(name: string): Buffer {
  return Bun.zstdDecompressSync(readFileSync(resolve(import.meta.dir, 'fixtures', name)))
}

/** Returns the path of a list in a folder of its own. */
async function createPath(content?: Uint8Array): Promise<string> {
  const file = join(await mkdtemp(join(root, 'list-')), 'list.db')
  if (content) await writeFile(file, content)
  return file
}

function query<Row>(file: string, sql: string): Row[] {
  using db = new Database(file)
  return db.query<Row, []>(sql).all()
}

const readVersion = (file: string) => query<{ user_version: number }>(file, 'PRAGMA user_version')[0]?.user_version

/** The tables and columns of a list. */
const readSchema = (file: string) =>
  query(
    file,
    `SELECT t.name AS "table", t.wr, c.name, c.type, c."notnull", c.pk
     FROM pragma_table_list t, pragma_table_info(t.name) c WHERE t.name NOT LIKE 'sqlite_%' ORDER BY 1, c.cid`,
  )

async function readAll(store: SubscriberStore): Promise<typeof EXPECTED> {
  const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
  return {
    subscribers: (await listAll(store)).map(({ seq, email, subscribedAt }) => [seq, email, subscribedAt.getTime()]),
    suppressions: (await listSuppressions(store)).map(({ key, hash, suppressedAt }) => [
      hex(key),
      hex(hash),
      suppressedAt.getTime(),
    ]),
  }
}

test('a list of schema 1 is migrated: every address, spelling, date, seq and suppression stays', async () => {
  const file = await createPath(LIST)
  expect(readVersion(file)).toBe(1)
  const [inbox] = query(file, 'SELECT count(*) AS rows, sum(json_array_length(addresses)) AS addresses FROM arrivals')
  expect(inbox).toEqual({ rows: 55, addresses: 2462 })

  const store = openSqliteStore(file)
  expect(await readAll(store)).toEqual(EXPECTED)
  expect(await store.count()).toEqual({ subscribers: 22_043, reserved: 22_043, suppressed: 270 })
  await store.close()
  expect(readVersion(file)).toBe(LATEST)
  expect(query(file, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }])
  expect(query(file, 'PRAGMA foreign_key_check')).toEqual([])
})

test('a migrated list has the schema of a new one', async () => {
  const [migrated, created] = [await createPath(LIST), await createPath()]
  for (const file of [migrated, created]) await openSqliteStore(file).close()
  expect(readSchema(migrated)).toEqual(readSchema(created))
  expect(readSchema(created)).not.toEqual([])
  const foreignKeys = 'SELECT "table", "from" FROM pragma_foreign_key_list(\'suppressions\')'
  for (const file of [migrated, created]) {
    expect(query(file, foreignKeys)).toEqual([{ table: 'suppression_keys', from: 'key_id' }])
  }
})

test('a migrated list goes on: repeats are found, suppressions hold, and new seqs are higher', async () => {
  const store = openSqliteStore(await createPath(LIST))
  const repeats = toAddresses(
    'IMPORTED.8999@LIST-3.EXAMPLE',
    'visitor.10999@mail-2.example',
    'waiting.1499@mail-1.example',
    'collision.40257@mail.example',
    'collision.113917@mail.example',
  )
  await store.add([...repeats, toAddress('new@mail.example')])
  const added = await listAll(store, { after: LAST_SEQ })
  expect(emailsOf(added)).toEqual(toAddresses('new@mail.example'))
  // These two have the same hash.
  const twins = toAddresses('collision.40257@mail.example', 'collision.113917@mail.example')
  await store.remove(twins.slice(0, 1), { suppress: false })
  expect(await store.lookUp(twins)).toEqual(['absent', 'subscribed'])

  const suppressed = toAddresses(
    'visitor.2001@mail-6.example',
    'never.29@mail.example',
    'elsewhere.59@one.example',
    'elsewhere.39@two.example',
  )
  const forgotten = toAddress('visitor.42@mail-0.example')
  expect(await store.lookUp(suppressed)).toEqual(['suppressed', 'suppressed', 'suppressed', 'suppressed'])
  expect(await store.lookUp([forgotten])).toEqual(['absent'])
  const tally = await store.import([...suppressed, forgotten].map((email) => ({ email })))
  expect(tally).toEqual({ added: 1, known: 0, suppressed: 4 })
  await store.close()
})

const OPENER = resolve(import.meta.dir, 'killed-opener.ts')

/** Opens a list in a process that kills itself before statement number `killAt`. Returns that, or its exit code. */
async function openKilled(file: string, killAt: number): Promise<string | number> {
  const child = Bun.spawn([process.execPath, OPENER, file, String(killAt)], {
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const statement = await child.stdout.text()
  await child.exited
  return child.signalCode === 'SIGKILL' ? statement : (child.exitCode ?? -1)
}

test.each([
  ['an older list', LIST, 'ALTER TABLE removed RENAME'],
  ['a new list', undefined, 'CREATE TABLE removed'],
])('%s is whole after a kill before any statement of its migrations', async (_, content, wanted) => {
  const killedAt: string[] = []
  for (;;) {
    const file = await createPath(content)
    const statement = await openKilled(file, killedAt.length)
    if (typeof statement === 'number') {
      expect(statement).toBe(0)
      break
    }
    killedAt.push(statement)
    const store = openSqliteStore(file)
    if (content) expect(await readAll(store)).toEqual(EXPECTED)
    await store.add([toAddress('new@mail.example')])
    expect(emailsOf(await listAll(store, { after: content ? LAST_SEQ : 0 }))).toEqual(toAddresses('new@mail.example'))
    await store.close()
    expect(readVersion(file)).toBe(LATEST)
  }
  // Among them are kills in the middle of a migration, before its last statement, and after its commit.
  expect(killedAt.filter((statement) => statement.includes(wanted))).toHaveLength(1)
  expect(killedAt).toContain(`PRAGMA user_version = ${LATEST}`)
  expect(killedAt.slice(-2)).toEqual(['PRAGMA wal_checkpoint(PASSIVE)', 'PRAGMA journal_mode = DELETE'])
})

/** Resolves when a process has opened a file. */
async function waitForOpen(child: Bun.Subprocess, file: string): Promise<void> {
  const folder = `/proc/${child.pid}/fd`
  const isOpen = () =>
    readdirSync(folder).some((descriptor) => {
      try {
        return readlinkSync(join(folder, descriptor)) === file
      } catch {
        return false
      }
    })
  while (!isOpen()) {
    if (child.exitCode !== null) throw new Error(`it exited with ${child.exitCode} before it opened ${file}`)
    await Bun.sleep(2)
  }
}

test('four processes open an older list at once: one migrates it, the others wait', async () => {
  const file = await createPath(LIST)
  using lock = new Database(file)
  lock.run('BEGIN IMMEDIATE')
  const writers = [1, 2, 3, 4].map((seed) =>
    Bun.spawn([process.execPath, toSupportFile('store-writer.ts'), `sqlite:${file}`, String(seed), '3'], {
      stdout: 'pipe',
      stderr: 'inherit',
    }),
  )
  for (const writer of writers) await waitForOpen(writer, file)
  expect(readVersion(file)).toBe(1)
  lock.run('ROLLBACK')
  const confirmed = (await Promise.all(writers.map(({ stdout }) => stdout.text()))).join('').trim().split(/\s/)
  expect(await Promise.all(writers.map(({ exited }) => exited))).toEqual([0, 0, 0, 0])

  const store = openSqliteStore(file)
  const { subscribers, suppressions } = await readAll(store)
  await store.close()
  const size = EXPECTED.subscribers.length
  expect<typeof EXPECTED>({ subscribers: subscribers.slice(0, size), suppressions }).toEqual(EXPECTED)
  const added = subscribers.slice(size)
  expect(new Set(added.map(([, email]) => email.toLowerCase()))).toEqual(
    new Set(confirmed.map((email) => email.toLowerCase())),
  )
})

test('a newer list is refused, also when only its log says so, and stays as it is', async () => {
  const file = await createPath()
  await openSqliteStore(file).close()
  const sql =
    'PRAGMA journal_mode = WAL; CREATE TABLE future (x); INSERT INTO future VALUES (1); PRAGMA user_version = 99'
  const code = `new (require('bun:sqlite').Database)('${file}').run('${sql}'); process.kill(process.pid, 'SIGKILL')`
  await Bun.spawn([process.execPath, '-e', code]).exited
  // The version in the header of the file is at byte 60.
  expect(readFileSync(file).readUInt32BE(60)).toBe(LATEST)

  const message = `cannot open the list ${file}: its schema is version 99, and this Rollcall knows version ${LATEST}; use a newer Rollcall`
  expect(() => openSqliteStore(file)).toThrow(message)
  expect(readVersion(file)).toBe(99)
  expect(query(file, 'SELECT x FROM future')).toEqual([{ x: 1 }])
  // Now the header says it, too.
  const before = readFileSync(file)
  expect(() => openSqliteStore(file)).toThrow(message)
  expect(readFileSync(file)).toEqual(before)
})
