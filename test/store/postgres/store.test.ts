/** The store on PostgreSQL: the shared suite, several processes on one database, and its schema. */

import { expect, onTestFinished, setSystemTime, test } from 'bun:test'
import { SQL } from 'bun'
import type { Address } from '../../../src/email.ts'
import { toClockSeq } from '../../../src/store/numbers.ts'
import { migrate } from '../../../src/store/postgres/schema.ts'
import { applyChanges } from '../../../src/store/postgres/write.ts'
import type { SubscriberStore } from '../../../src/subscriber.ts'
import { checkCursor } from '../../../src/transfer/cursor-file.ts'
import { getServer, toDatabase, withStore } from '../../support/postgres.ts'
import { runCommand } from '../../support/service.ts'
import { testProcesses } from '../processes.ts'
import {
  createAddresses,
  describeStore,
  emailsOf,
  expectAscending,
  listAll,
  listSuppressions,
  toAddress,
  toAddresses,
} from '../suite.ts'

const server = await getServer()

describeStore('postgres', server.createUrl)
testProcesses('postgres', server.createUrl)

test('ten connections can create the schema at once', async () => {
  const url = await server.createUrl()
  await Promise.all(Array.from({ length: 10 }, () => withStore(url, (store) => store.add(toAddresses('ann@mail.io')))))
  expect(await withStore(url, listAll)).toHaveLength(1)
})

test('a command that only reads does not create a list', async () => {
  const url = await server.createUrl()
  const { code, stderr } = await runCommand(['count'], { env: { DATABASE_URL: url } })
  expect([code, stderr]).toEqual([1, expect.stringContaining('there is no list in this database yet')])
  expect([...(await server.run("SELECT to_regnamespace('rollcall') AS name", url))]).toEqual([{ name: null }])
})

test('a user who may not create a schema can use one that an administrator created', async () => {
  const url = await server.createUrl()
  await server.run(`ALTER DATABASE ${toDatabase(url)} OWNER TO postgres`, url)
  const add = () => withStore(url, (store) => store.probe())
  await expect(add()).rejects.toThrow(`permission denied for database ${toDatabase(url)} (42501)`)
  await server.run('CREATE SCHEMA rollcall AUTHORIZATION owner', url)
  await add()
})

test('a schema is migrated once, also by several connections; a newer one is refused', async () => {
  const url = await server.createUrl()
  await withStore(url, (store) => store.add(toAddresses('ann@mail.io')))
  const sql = new SQL({ url, max: 5 })
  const migrations = ['SELECT 1 / 0', 'ALTER TABLE rollcall.inbox ADD COLUMN source text']
  await Promise.all([1, 2, 3].map(() => migrate(sql, { create: false, migrations })))
  await sql.close()
  await expect(withStore(url, (store) => store.count())).rejects.toThrow(
    'the schema of the list is version 2, and this Rollcall uses version 1: use a newer Rollcall',
  )
  await server.run('UPDATE rollcall.list SET version = 1', url)
  expect(emailsOf(await withStore(url, listAll))).toEqual(toAddresses('ann@mail.io'))
})

test('numbers go on from the last one when the clock of the server is behind it', async () => {
  const url = await server.createUrl()
  const far = 2 ** 52 + 5
  await withStore(url, async (store) => {
    await store.add(toAddresses('ann@mail.io'))
    await store.count()
    await server.run(`UPDATE rollcall.list SET last_seq = ${far}`, url)
    await store.add(toAddresses('bob@mail.io', 'cyd@mail.io'))
    await store.import([{ email: toAddress('dan@mail.io') }])
    expect((await listAll(store)).slice(1).map(({ seq }) => seq)).toEqual([far + 1, far + 2, far + 3])
  })
})

test('a database that was restored or promoted gives a cursor from later everybody who subscribes from then on', async () => {
  const url = await server.createUrl()
  const copy = `${url}_copy`
  await withStore(url, async (store) => {
    await store.add(createAddresses(10))
    await store.count()
  })
  await server.disconnect(url)
  await server.run(`CREATE DATABASE ${toDatabase(copy)} TEMPLATE ${toDatabase(url)} OWNER owner`, server.admin)
  const cursor = await withStore(url, async (store) => {
    await store.add(createAddresses(20))
    return (await listAll(store)).at(-1)!.seq
  })
  await withStore(copy, async (store) => {
    await store.add(toAddresses('ann@mail.io'))
    await store.import([{ email: toAddress('bob@mail.io') }])
    expect(emailsOf(await listAll(store, cursor))).toEqual(toAddresses('ann@mail.io', 'bob@mail.io'))
  })
})

test('a database that is read-only, such as a standby, is refused also for reading', async () => {
  const url = await server.createUrl()
  await withStore(url, (store) => store.count())
  await server.run(`ALTER DATABASE ${toDatabase(url)} SET default_transaction_read_only = on`, server.admin)
  await withStore(url, async (store) => {
    for (const call of [() => store.count(), () => listAll(store), () => store.probe(), () => store.check()]) {
      await expect(call()).rejects.toThrow('the database is read-only, such as a standby: use the primary')
    }
  })
})

test('a damaged index or table does not pass for a short list', async () => {
  const url = await server.createUrl()
  await withStore(url, async (store) => {
    await store.add(createAddresses(100))
    await store.remove(createAddresses(3), { suppress: true })
    // The indexes do not have what is written while they do not count as ready.
    const setReady = (isReady: boolean) =>
      server.run(
        `UPDATE pg_index SET indisready = ${isReady} WHERE indrelid IN ('rollcall.subscribers'::regclass, 'rollcall.suppressions'::regclass)`,
        url,
      )
    await setReady(false)
    await server.run(
      `INSERT INTO rollcall.subscribers VALUES (1, 'lost@mail.io', now()); INSERT INTO rollcall.suppressions VALUES ('x', now())`,
      url,
    )
    await setReady(true)
    const { code, stderr } = await runCommand(['export'], { env: { DATABASE_URL: url } })
    expect([code, stderr]).toEqual([1, expect.stringContaining('rollcall.subscribers has 98 rows, and its index 97')])
    await expect(listSuppressions(store)).rejects.toThrow('rollcall.suppressions has 4 rows, and its index 3')
  })
})

const HIDE = (table: string) =>
  `ALTER TABLE rollcall.${table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
   CREATE POLICY write_only ON rollcall.${table} FOR INSERT WITH CHECK (true)`

/** For DELETE, this is what a trigger does that returns NEW. */
const SKIP = (event: 'INSERT' | 'DELETE', table: string) =>
  `CREATE FUNCTION skip() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
   CREATE TRIGGER skip BEFORE ${event} ON rollcall.${table} FOR EACH ROW EXECUTE FUNCTION skip()`

test.each<readonly [string, string, (store: SubscriberStore) => Promise<unknown>, string]>([
  [
    'a trigger drops what is accepted',
    SKIP('INSERT', 'inbox'),
    (store) => store.add(toAddresses('bob@mail.io')),
    'the table rollcall.inbox does not take what is written',
  ],
  [
    'a trigger keeps the inbox from an export',
    SKIP('DELETE', 'inbox'),
    (store) => store.add(toAddresses('bob@mail.io')).then(() => listAll(store)),
    'the table rollcall.inbox does not take what is written',
  ],
  [
    'a trigger keeps the inbox from a removal',
    SKIP('DELETE', 'inbox'),
    (store) =>
      store.add(toAddresses('bob@mail.io')).then(() => store.remove(toAddresses('bob@mail.io'), { suppress: true })),
    'the table rollcall.inbox does not take what is written',
  ],
  [
    'a trigger drops what is imported',
    SKIP('INSERT', 'subscribers'),
    (store) => store.import([{ email: toAddress('bob@mail.io') }]),
    'the table rollcall.subscribers does not take what is written',
  ],
  [
    'a trigger keeps who is removed',
    SKIP('DELETE', 'subscribers'),
    (store) => store.remove(toAddresses('cyd@mail.io'), { suppress: true }),
    'the table rollcall.subscribers does not take what is written',
  ],
  [
    'a trigger drops a suppression',
    SKIP('INSERT', 'suppressions'),
    (store) => store.remove(toAddresses('cyd@mail.io'), { suppress: true }),
    'the table rollcall.suppressions does not take what is written',
  ],
  [
    'a trigger keeps a suppression',
    SKIP('DELETE', 'suppressions'),
    (store) => store.remove(toAddresses('ann@mail.io'), { suppress: false }),
    'the table rollcall.suppressions does not take what is written',
  ],
  ['a policy hides the inbox', HIDE('inbox'), (store) => store.add(toAddresses('bob@mail.io')), '(42501)'],
  ['a policy hides the suppressions', HIDE('suppressions'), (store) => importAnn(store), '(42501)'],
  ['a policy hides the subscribers from an export', HIDE('subscribers'), listAll, '(42501)'],
  [
    'the row of the list is gone',
    'DELETE FROM rollcall.list',
    (store) => importAnn(store),
    'the table rollcall.list has 0 rows instead of 1',
  ],
  [
    'a dump was restored into the schema of a new list',
    `INSERT INTO rollcall.list SELECT version, 'another', inner_key, outer_key, 0 FROM rollcall.list`,
    (store) => importAnn(store),
    'the table rollcall.list has 2 rows instead of 1',
  ],
])('an error instead of a loss: %s', async (_, statements, work, message) => {
  const url = await server.createUrl()
  await withStore(url, async (store) => {
    await store.add(toAddresses('cyd@mail.io'))
    await store.remove(toAddresses('ann@mail.io'), { suppress: true })
    await server.run(statements, url)
    await expect(work(store)).rejects.toThrow(message)
  })
})

const importAnn = (store: SubscriberStore) => store.import([{ email: toAddress('ann@mail.io') }])

test('a user with other formats of bytes, dates, times and texts', async () => {
  const url = await server.createUrl()
  const settings = [
    ...['bytea_output = escape', "DateStyle = 'SQL, DMY'", "TimeZone = 'Asia/Kolkata'"],
    ...['standard_conforming_strings = off', "default_transaction_isolation = 'serializable'"],
  ]
  for (const setting of settings) {
    await server.run(`ALTER ROLE owner IN DATABASE ${toDatabase(url)} SET ${setting}`, url)
  }
  await withStore(url, async (store) => {
    const [ann, bob] = toAddresses('ann@site.io', "bob'o{neil}@site.io") as [Address, Address]
    const subscribedAt = new Date('2026-02-01T20:00:00.123Z')
    await store.import([{ email: ann, subscribedAt }])
    await store.add([bob])
    expect(await store.lookUp([ann, bob])).toMatchObject([
      { subscriber: { subscribedAt } },
      { subscriber: { email: bob } },
    ])
    const start = Date.now()
    expect(await store.remove([ann], { suppress: true })).toEqual(['subscribed'])
    const [suppression] = await listSuppressions(store)
    expect(Number(suppression?.suppressedAt)).toBeWithin(start - 60_000, Date.now() + 60_000)
  })
})

test('a user whose numbers are rounded in texts: numbers, counts and removals are exact', async () => {
  const url = await server.createUrl()
  await withStore(url, async (store) => {
    await store.import(createAddresses(40).map((email) => ({ email })))
    await server.run(`ALTER ROLE owner IN DATABASE ${toDatabase(url)} SET extra_float_digits = -15`, url)
    await server.disconnect(url)
  })
  await withStore(url, async (store) => {
    const before = await listAll(store)
    expectAscending(before)
    expect(await listAll(store, before[19]!.seq)).toEqual(before.slice(20))
    expect(await store.remove([before[17]!.email], { suppress: true })).toEqual(['subscribed'])
    expect(await listAll(store)).toEqual(before.toSpliced(17, 1))
    expect((await store.head()).lastSeq).toBe(before[39]!.seq)
    expect(await store.count()).toEqual({ subscribers: 39, reserved: 0, suppressed: 1 })
    const { days, imported, bytes } = await store.status()
    expect([days.at(-1)?.total, imported, bytes % 8192]).toEqual([39, 0, 0])
  })
})

test('a removal with the number of somebody else removes nobody', async () => {
  const url = await server.createUrl()
  await withStore(url, async (store) => {
    await store.import(createAddresses(2).map((email) => ({ email })))
    const before = await listAll(store)
    const sql = new SQL({ url, max: 1 })
    onTestFinished(() => sql.close())
    const remove = [{ ...before[0]!, seq: before[1]!.seq }]
    const changes = { add: [], remove, suppress: [], forget: [] }
    const work = sql.begin((transaction) => applyChanges(transaction, changes, 0))
    await expect(work).rejects.toThrow('the table rollcall.subscribers does not take what is written')
    expect(await listAll(store)).toEqual(before)
  })
})

test('a cursor is compared with the clock of the server, not with that of the command', async () => {
  const url = await server.createUrl()
  onTestFinished(() => void setSystemTime())
  await withStore(url, async (store) => {
    await store.add(toAddresses('ann@mail.io'))
    await store.count()
    const [{ lastSeq }, tomorrow] = [await store.head(), toClockSeq(Date.now() + 86_400_000)]
    setSystemTime(new Date('2026-01-02'))
    expect(checkCursor(await store.head(), { seq: lastSeq + 1000, list: undefined }).seq).toBe(lastSeq + 1000)
    setSystemTime(new Date('2030-01-01'))
    const head = await store.head()
    expect(() => checkCursor(head, { seq: tomorrow, list: undefined })).toThrow('is higher than the last number')
  })
})
