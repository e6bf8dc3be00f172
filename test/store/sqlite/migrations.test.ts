/** The store migrates an older list when it opens it, and loses nothing. It refuses a newer list. */

import { Database } from 'bun:sqlite'
import { afterAll, expect, test } from 'bun:test'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Address } from '../../../src/email.ts'
import { rebuildIndex } from '../../../src/store/sqlite/index-rebuild.ts'
import { openSqliteStore } from '../../../src/store/sqlite/store.ts'
import type { Count, SubscriberStore } from '../../../src/subscriber.ts'
import { toSupportFile } from '../../support/paths.ts'
import { createFolder, runCommand, startService } from '../../support/service.ts'
import {
  createAddresses,
  emailsOf,
  listAll,
  listSuppressions,
  toAddress,
  toAddresses,
} from '../../support/store-suite.ts'

/** The number of the last migration. */
const LATEST = 4

interface Contents {
  readonly subscribers: readonly (readonly [seq: number, email: string, subscribedAt: number])[]
  readonly suppressions: readonly (readonly [key: string, hash: string, suppressedAt: number])[]
}

/** A list of an older schema, and what the code of its time read from it. fixtures/README.md says how each was made. */
interface Fixture {
  readonly version: number
  readonly list: Buffer
  readonly expected: Contents
  readonly count: Count
  /** What waits in the inbox. */
  readonly inbox: { readonly rows: number; readonly addresses: number }
  /** Spellings of addresses that are on the list. */
  readonly repeats: readonly string[]
  /** Two addresses with the same hash under the old schema. */
  readonly twins: readonly [string, string]
  readonly suppressed: readonly string[]
  /** An address that was removed without a suppression. */
  readonly forgotten: string
}

const FIXTURES: readonly Fixture[] = [
  {
    version: 1,
    list: readFixture('schema-1.db.zst'),
    expected: JSON.parse(readFixture('schema-1.json.zst').toString()),
    count: { subscribers: 22_043, reserved: 22_043, suppressed: 270 },
    inbox: { rows: 55, addresses: 2462 },
    repeats: ['IMPORTED.8999@LIST-3.EXAMPLE', 'visitor.10999@mail-2.example', 'waiting.1499@mail-1.example'],
    twins: ['collision.40257@mail.example', 'collision.113917@mail.example'],
    suppressed: [
      'visitor.2001@mail-6.example',
      'never.29@mail.example',
      'elsewhere.59@one.example',
      'elsewhere.39@two.example',
    ],
    forgotten: 'visitor.42@mail-0.example',
  },
  {
    version: 2,
    list: readFixture('schema-2.db.zst'),
    expected: JSON.parse(readFixture('schema-2.json.zst').toString()),
    count: { subscribers: 8442, reserved: 8442, suppressed: 110 },
    inbox: { rows: 44, addresses: 1692 },
    repeats: ['IMPORTED.2999@LIST-3.EXAMPLE', 'visitor.3999@mail-6.example', 'waiting.1199@mail-0.example'],
    twins: ['collision.209@mail.example', 'collision.99100@mail.example'],
    suppressed: ['visitor.1601@mail-6.example', 'never.19@mail.example', 'elsewhere.39@one.example'],
    forgotten: 'visitor.42@mail-9.example',
  },
  {
    version: 3,
    list: readFixture('schema-3.db.zst'),
    expected: JSON.parse(readFixture('schema-3.json.zst').toString()),
    count: { subscribers: 5852, reserved: 5852, suppressed: 100 },
    inbox: { rows: 32, addresses: 1032 },
    repeats: ['IMPORTED.1999@LIST-3.EXAMPLE', 'visitor.2999@mail-9.example', 'waiting.899@mail-9.example'],
    twins: ['collision.96947@mail.example', 'collision.165628@mail.example'],
    suppressed: ['visitor.2371@mail-1.example', 'never.19@mail.example', 'elsewhere.39@one.example'],
    forgotten: 'visitor.42@mail-2.example',
  },
]

const [, SCHEMA_2, PREVIOUS] = FIXTURES as readonly [Fixture, Fixture, Fixture]

const lastSeqOf = ({ expected }: Fixture) => expected.subscribers.at(-1)![0]

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

async function readAll(store: SubscriberStore): Promise<Contents> {
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

test.each(FIXTURES)(
  'a list of schema $version is migrated: every address, spelling, date, seq and suppression stays',
  async (fixture) => {
    const file = await createPath(fixture.list)
    expect(readVersion(file)).toBe(fixture.version)
    const table = fixture.version === 1 ? 'arrivals' : 'inbox'
    const [inbox] = query(file, `SELECT count(*) AS rows, sum(json_array_length(addresses)) AS addresses FROM ${table}`)
    expect<unknown>(inbox).toEqual(fixture.inbox)

    const store = openSqliteStore(file)
    expect(await readAll(store)).toEqual(fixture.expected)
    expect(await store.count()).toEqual(fixture.count)
    await store.close()
    expect(readVersion(file)).toBe(LATEST)
    expect(query(file, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }])
    expect(query(file, 'PRAGMA foreign_key_check')).toEqual([])
  },
)

test.each(FIXTURES)('a migrated list of schema $version has the schema of a new one', async ({ list }) => {
  const [migrated, created] = [await createPath(list), await createPath()]
  for (const file of [migrated, created]) await openSqliteStore(file).close()
  expect(readSchema(migrated)).toEqual(readSchema(created))
  expect(readSchema(created)).not.toEqual([])
  const foreignKeys = 'SELECT "table", "from" FROM pragma_foreign_key_list(\'suppressions\')'
  for (const file of [migrated, created]) {
    expect(query(file, foreignKeys)).toEqual([{ table: 'suppression_keys', from: 'key_id' }])
  }
})

test.each(FIXTURES)(
  'a migrated list of schema $version goes on: repeats are found, suppressions hold, and new seqs are higher',
  async (fixture) => {
    const store = openSqliteStore(await createPath(fixture.list))
    const twins = toAddresses(...fixture.twins)
    await store.add([...toAddresses(...fixture.repeats), ...twins, toAddress('new@mail.example')])
    const added = await listAll(store, { after: lastSeqOf(fixture) })
    expect(emailsOf(added)).toEqual(toAddresses('new@mail.example'))
    await store.remove(twins.slice(0, 1), { suppress: false })
    expect(await store.lookUp(twins)).toEqual(['absent', 'subscribed'])

    const suppressed = toAddresses(...fixture.suppressed)
    const forgotten = toAddress(fixture.forgotten)
    expect(await store.lookUp(suppressed)).toEqual(suppressed.map(() => 'suppressed'))
    expect(await store.lookUp([forgotten])).toEqual(['absent'])
    const tally = await store.import([...suppressed, forgotten].map((email) => ({ email })))
    expect(tally).toEqual({ added: 1, known: 0, suppressed: suppressed.length })
    await store.close()
  },
)

test('the index finds every subscriber after it is rebuilt, also those with the same hash', async () => {
  const addresses = createAddresses(3000)
  for (const hashOf of [() => 7, (address: Address) => address.length % 3, undefined]) {
    const file = await createPath()
    const options = hashOf ? { hashOf } : {}
    const filling = openSqliteStore(file, options)
    await filling.add(addresses)
    await filling.count()
    await filling.close()
    {
      using db = new Database(file)
      for (const table of ['identity_hashes', 'collisions']) db.run(`DELETE FROM ${table}`)
      db.transaction(() => rebuildIndex(db, hashOf))()
    }
    const store = openSqliteStore(file, options)
    expect(new Set(await store.lookUp(addresses))).toEqual(new Set(['subscribed']))
    await store.add(addresses)
    expect((await store.count()).subscribers).toBe(addresses.length)
    await store.close()
  }
})

test('the service and a command say that they migrate a list', async () => {
  const message = `is migrated from schema ${PREVIOUS.version} to ${LATEST}`
  const files = [await createPath(PREVIOUS.list), await createPath(PREVIOUS.list)] as const
  const service = await startService({ env: { DATABASE_URL: `sqlite:${files[0]}` } })
  expect(service.log().split(message)).toHaveLength(2)
  expect(await service.stop()).toBe(0)
  const count = () => runCommand(['count'], { env: { DATABASE_URL: `sqlite:${files[1]}` } })
  expect(await count()).toMatchObject({ code: 0, stderr: expect.stringContaining(message) })
  expect(await count()).toMatchObject({ code: 0, stderr: '' })
})

test.each([
  ['a key', 'SELECT hex(key) AS value FROM identity_key'],
  ['an id', 'SELECT id AS value FROM list'],
])('each list has %s of its own', async (_, sql) => {
  const files = [
    await createPath(),
    await createPath(),
    await createPath(SCHEMA_2.list),
    await createPath(SCHEMA_2.list),
  ]
  for (const file of files) await openSqliteStore(file).close()
  const values = files.map((file) => query<{ value: string }>(file, sql)[0]?.value)
  expect(new Set(values).size).toBe(files.length)
  expect(values.every((value) => value?.length === 16)).toBe(true)
})

test('a process of schema 2 accepts addresses after the migration, and fails to compact them', async () => {
  const file = await createPath(SCHEMA_2.list)
  using old = new Database(file)
  const append = old.query(
    `INSERT OR REPLACE INTO inbox SELECT first_seq + json_array_length(addresses), 1, '["late@mail.example"]'
     FROM inbox ORDER BY first_seq DESC LIMIT 1`,
  )
  const index = old.query('INSERT OR IGNORE INTO identities VALUES (1, 1)')
  const readSeed = old.query('SELECT hash FROM seed')
  const store = openSqliteStore(file)
  append.run()
  expect(() => index.run()).toThrow('no such table: identities')
  expect(() => readSeed.get()).toThrow('no such table: seed')
  expect(await store.lookUp([toAddress('late@mail.example')])).toEqual(['subscribed'])
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
  ['a list of schema 1', FIXTURES[0], 'ALTER TABLE removed RENAME'],
  ['a list of schema 2', FIXTURES[1], 'DROP TABLE identities'],
  ['a list of schema 3', FIXTURES[2], 'CREATE TABLE list '],
  ['a new list', undefined, 'CREATE TABLE removed'],
])('%s is whole after a kill before any statement of its migrations', async (_, fixture, wanted) => {
  const killedAt: string[] = []
  for (;;) {
    const file = await createPath(fixture?.list)
    const statement = await openKilled(file, killedAt.length)
    if (typeof statement === 'number') {
      expect(statement).toBe(0)
      break
    }
    killedAt.push(statement)
    const store = openSqliteStore(file)
    if (fixture) expect(await readAll(store)).toEqual(fixture.expected)
    await store.add([toAddress('new@mail.example')])
    const after = fixture ? lastSeqOf(fixture) : 0
    expect(emailsOf(await listAll(store, { after }))).toEqual(toAddresses('new@mail.example'))
    expect((await store.count()).subscribers).toBe((await listAll(store)).length)
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
  const file = await createPath(PREVIOUS.list)
  using lock = new Database(file)
  lock.run('BEGIN IMMEDIATE')
  const writers = [1, 2, 3, 4].map((seed) =>
    Bun.spawn([process.execPath, toSupportFile('store-writer.ts'), `sqlite:${file}`, String(seed), '3'], {
      stdout: 'pipe',
      stderr: 'inherit',
    }),
  )
  for (const writer of writers) await waitForOpen(writer, file)
  expect(readVersion(file)).toBe(PREVIOUS.version)
  lock.run('ROLLBACK')
  const confirmed = (await Promise.all(writers.map(({ stdout }) => stdout.text()))).join('').trim().split(/\s/)
  expect(await Promise.all(writers.map(({ exited }) => exited))).toEqual([0, 0, 0, 0])

  const store = openSqliteStore(file)
  const { subscribers, suppressions } = await readAll(store)
  await store.close()
  const { expected } = PREVIOUS
  const size = expected.subscribers.length
  expect<Contents>({ subscribers: subscribers.slice(0, size), suppressions }).toEqual(expected)
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
