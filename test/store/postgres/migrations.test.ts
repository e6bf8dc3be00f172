/** Migration of a list with schema 1, which `fixtures/README.md` describes, and of the same list with schemas 3 and 4. */

import { expect, test } from 'bun:test'
import { SQL } from 'bun'
import { isReserved } from '../../../src/email.ts'
import { CLI } from '../../support/paths.ts'
import { getServer, withStore } from '../../support/postgres.ts'
import {
  countLockWaits,
  createSchema,
  createSchema1,
  describeSchema,
  isPaused,
  pauseMigration,
  readActivity,
  readDigest,
  readSchema1,
  SCHEMA_1,
} from '../../support/postgres-schemas.ts'
import { runCommand } from '../../support/service.ts'
import { emailsOf, listAll, listSuppressions, toAddress, toAddresses } from '../../support/store-suite.ts'
import { until } from '../../support/wait.ts'

const server = await getServer()

test('a list with schema 1 keeps every subscriber and every suppression', async () => {
  const url = await createSchema1()
  const before = await readSchema1(url)
  expect(before.list).toEqual({ version: 1, keys: 3 })
  expect([before.subscribers.length, before.suppressions.length]).toEqual([11_347, 941])
  await withStore(url, async (store) => {
    expect(await listAll(store)).toEqual(before.subscribers)
    expect(await listSuppressions(store)).toEqual(before.suppressions)
    expect(await store.count()).toMatchObject({ subscribers: 11_347, suppressed: 941 })
  })
  expect(await readDigest(url, ['subscribers', 'suppression_keys', 'suppressions'])).toEqual(before.digest)
})

test('after the migration, a new address gets a seq above all that were used', async () => {
  const url = await createSchema1()
  await withStore(url, async (store) => {
    await store.add(toAddresses('new@one.example', 'USER.0@mail-0.io'))
    const [last, ...more] = await listAll(store, { after: 12_013 })
    expect([last?.email, more]).toEqual([toAddress('new@one.example'), []])
    // The sequence of the fixture is ahead of its last subscriber.
    expect(last?.seq).toBeGreaterThan(12_096)
  })
})

test('after the migration, an import leaves out what was suppressed under any key', async () => {
  const url = await createSchema1()
  const own = toAddresses('user.3@mail-3.io', 'Never@one.example')
  const others = toAddresses('other0@one.example', 'user.5@mail-5.io', 'THIRD0@one.example', 'user.15@mail-1.io')
  const rest = toAddresses('user.7@mail-0.io', 'user.0@mail-0.io')
  await withStore(url, async (store) => {
    const rows = [...own, ...others, ...rest].map((email) => ({ email }))
    expect(await store.import(rows)).toEqual({ added: 1, known: 1, suppressed: 6 })
    await store.add([...own, ...others])
    expect((await store.count()).suppressed).toBe(941 - 6)
    expect(await store.remove(own, { suppress: true })).toEqual(['subscribed', 'subscribed'])
  })
})

test('a migrated schema is the same as a new one', async () => {
  const [migrated, created] = [await createSchema1(), await server.createUrl()]
  for (const url of [migrated, created]) await withStore(url, (store) => store.check())
  expect(await describeSchema(migrated)).toEqual(await describeSchema(created))
  expect(JSON.stringify(await describeSchema(migrated))).not.toContain('remov')
})

test('ten connections migrate a list once', async () => {
  const url = await createSchema1()
  await server.run(
    `CREATE TABLE versions (version integer);
     GRANT INSERT ON versions TO PUBLIC;
     CREATE FUNCTION record() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       INSERT INTO public.versions VALUES (NEW.version);
       RETURN NULL;
     END $$;
     CREATE TRIGGER record AFTER UPDATE OF version ON rollcall.list FOR EACH ROW EXECUTE FUNCTION record();`,
    url,
  )
  await Promise.all(Array.from({ length: 10 }, () => withStore(url, (store) => store.check())))
  expect([...(await server.run('SELECT version FROM versions', url))]).toEqual([
    { version: 2 },
    { version: 3 },
    { version: 4 },
    { version: 5 },
  ])
})

const killProcess = (_: string, child: Bun.Subprocess) => child.kill('SIGKILL')

test.each([
  ['the process is killed', 'between two statements', killProcess],
  ['the process is killed', 'before the version is raised', killProcess],
  ['the connection is terminated', 'between two statements', (url: string) => server.disconnect(url)],
  ['the server is killed', 'between two statements', () => server.kill().then(server.start)],
] as const)(
  'a migration during which %s %s leaves schema 1 as it was, and the next command migrates',
  async (_, point, crash) => {
    const url = await createSchema1()
    const before = await readSchema1(url)
    const resume = await pauseMigration(url, point)
    const child = Bun.spawn([process.execPath, CLI, 'count'], {
      env: { DATABASE_URL: url },
      stdout: 'ignore',
      stderr: 'ignore',
    })
    await until(() => isPaused(url), `the migration is paused ${point}`)
    await crash(url, child)
    expect(await child.exited).not.toBe(0)
    await resume()
    await until(async () => (await readActivity(url)).length === 0, 'no connection of the command is left')
    expect(await readSchema1(url)).toEqual(before)
    await withStore(url, async (store) => {
      expect(await listAll(store)).toEqual(before.subscribers)
      expect(await listSuppressions(store)).toEqual(before.suppressions)
    })
  },
)

test('a process of an older Rollcall fails, whether it waits for the migration or comes later', async () => {
  const url = await createSchema1()
  const [adding, importing] = [new SQL({ url, max: 1 }), new SQL({ url, max: 1 })]
  const add = (email: string) => adding`SELECT rollcall.add(ARRAY[${email}], '{}'::bytea[], 3) AS added`
  const runImport = () =>
    importing.begin(async (transaction) => {
      await transaction`SELECT FROM rollcall.list FOR UPDATE`
      await transaction`SELECT id, key FROM rollcall.removal_keys ORDER BY id`
    })
  expect([...(await add('before@one.example'))]).toEqual([{ added: true }])
  await runImport()

  const resume = await pauseMigration(url)
  const migrating = withStore(url, listAll)
  await until(() => isPaused(url), 'the migration is in the middle')
  const waiting = Promise.allSettled([add('waiting@one.example'), runImport()])
  await until(async () => (await countLockWaits(url)) === 2, 'both wait for the lock')
  await resume()
  expect(emailsOf(await migrating).at(-1)).toBe(toAddress('before@one.example'))
  // 42703: undefined column. 42P01: undefined table. 42883: undefined function.
  expect((await waiting).map(toSqlState)).toEqual(['42703', '42P01'])
  const late = Promise.allSettled([add('late@one.example'), runImport()])
  expect((await late).map(toSqlState)).toEqual(['42883', '42P01'])
  expect(emailsOf(await withStore(url, listAll)).at(-1)).toBe(toAddress('before@one.example'))
  await Promise.all([adding.close(), importing.close()])
})

test('a migration waits for an import of an older Rollcall that is in progress', async () => {
  const url = await createSchema1()
  const older = new SQL({ url, max: 1 })
  const migrating = await older.begin(async (transaction) => {
    await transaction`SELECT FROM rollcall.list FOR UPDATE`
    // In an object, because `begin` would wait for a promise.
    const running = { result: withStore(url, listAll) }
    await until(async () => (await countLockWaits(url)) === 1, 'the migration waits for the lock')
    await transaction`SELECT hash FROM rollcall.removed JOIN rollcall.removal_keys ON id = key_id`
    await transaction`INSERT INTO rollcall.subscribers (email, subscribed_at) VALUES ('imported@one.example', now())`
    return running
  })
  expect(emailsOf(await migrating.result).at(-1)).toBe(toAddress('imported@one.example'))
  await older.close()
})

test.each([
  [3, 'between two statements'],
  [4, 'before the version is raised'],
] as const)(
  'a migration of schema %d that is killed leaves it as it was, and the next command migrates',
  async (version, point) => {
    const url = await createSchema(version)
    const tables = ['subscribers', 'suppression_keys', 'suppressions']
    const before = await readDigest(url, tables)
    const resume = await pauseMigration(url, point)
    const child = Bun.spawn([process.execPath, CLI, 'count'], { env: { DATABASE_URL: url }, stdout: 'ignore' })
    await until(() => isPaused(url), 'the migration is paused')
    child.kill('SIGKILL')
    await child.exited
    await resume()
    await until(async () => (await readActivity(url)).length === 0, 'no connection of the command is left')
    expect([...(await server.run('SELECT version FROM rollcall.list', url))]).toEqual([{ version }])
    expect((await withStore(url, listAll)).length).toBe(11_347)
    expect(await readDigest(url, tables)).toEqual(before)
  },
)

test('every change by a process that knows schema 3 fails after the migration', async () => {
  const url = await createSchema(3)
  const older = new SQL({ url, max: 1 })
  await withStore(url, (store) => store.check())
  const adding = older`SELECT rollcall.add_subscribers(ARRAY['late@one.example'], '{}'::bytea[], 3) AS added`
  // Every other change begins like this.
  const removing = older.begin(async (transaction) => {
    await transaction`SELECT FROM rollcall.list FOR UPDATE`
    await transaction`SELECT id, key FROM rollcall.suppression_keys ORDER BY id`
  })
  expect((await Promise.allSettled([adding, removing])).map(toSqlState)).toEqual(['42883', '42703'])
  await older.close()
})

test('a process that knows schema 4 changes nothing after the migration, and what it accepts is moved', async () => {
  const url = await createSchema(4)
  const older = new SQL({ url, max: 1 })
  await withStore(url, async (store) => {
    const reserved = emailsOf(await listAll(store)).filter(isReserved).length
    expect(reserved).toBeGreaterThan(0)
    expect(await store.count()).toEqual({ subscribers: 11_347, reserved, suppressed: 941 })
    // Every change begins like this.
    const changing = older.begin(async (transaction) => {
      await transaction`SELECT FROM rollcall.list FOR UPDATE`
      await transaction`SELECT key_id AS id, key FROM rollcall.suppression_keys ORDER BY key_id`
    })
    expect((await Promise.allSettled([changing])).map(toSqlState)).toEqual(['42703'])
    await older`INSERT INTO rollcall.inbox (shard, size, addresses) VALUES (0, 1, '["late@one.example"]')`
    expect(await store.count()).toEqual({ subscribers: 11_348, reserved: reserved + 1, suppressed: 941 })
  })
  await older.close()
})

test('a user who may not migrate gets a message that names the owner', async () => {
  const url = await server.createUrl()
  await server.run(SCHEMA_1, url)
  await server.run('GRANT USAGE ON SCHEMA rollcall TO owner; GRANT ALL ON ALL TABLES IN SCHEMA rollcall TO owner', url)
  const count = (DATABASE_URL: string) => runCommand(['count'], { env: { DATABASE_URL } })
  const refused = await count(url)
  expect([refused.code, refused.stderr]).toEqual([
    1,
    expect.stringMatching(
      /: this user may not migrate its schema from version 1 to 5: run "rollcall count" as its owner\n$/,
    ),
  ])
  expect((await count(url.replace('owner:', 'postgres:'))).code).toBe(0)
  await withStore(url, (store) => store.add(toAddresses('new@one.example')))
})

function toSqlState(result: PromiseSettledResult<unknown>): string | undefined {
  return result.status === 'rejected' && result.reason instanceof SQL.PostgresError
    ? String(result.reason.errno)
    : undefined
}
