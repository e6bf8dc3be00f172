/** The store on PostgreSQL: the shared suite, several processes on one database, and errors instead of losses. */

import { expect, onTestFinished, setSystemTime, test } from 'bun:test'
import { SQL } from 'bun'
import { toClockSeq } from '../../../src/store/numbers.ts'
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
  type Lists,
  listAll,
  listSuppressions,
  toAddress,
  toAddresses,
} from '../suite.ts'

const server = await getServer()

describeStore({ name: 'postgres', createUrl: server.createUrl, additionalTests })
testProcesses('postgres', server.createUrl)

function additionalTests(lists: Lists): void {
  describeNumbers(lists)
  describeDamage(lists)
  describeSkips(lists)
  describeSettings(lists)
}

function describeNumbers({ createList }: Lists): void {
  test('numbers go on from the last one when the clock of the server is behind it', async () => {
    const { url, open } = await createList()
    const far = 2 ** 52 + 5
    const store = await open()
    await store.add(toAddresses('ann@mail.io'))
    await store.count()
    await server.run(`UPDATE rollcall.list SET last_seq = ${far}`, url)
    await store.add(toAddresses('bob@mail.io', 'cyd@mail.io'))
    await store.import([{ email: toAddress('dan@mail.io') }])
    expect((await listAll(store)).slice(1).map(({ seq }) => seq)).toEqual([far + 1, far + 2, far + 3])
  })

  test('a database that was restored or promoted gives a cursor from later everybody who subscribes from then on', async () => {
    const { url } = await createList()
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

  test('a removal with the number of somebody else removes nobody', async () => {
    const { url, open } = await createList()
    const store = await open()
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

  test('a cursor is compared with the clock of the server, not with that of the command', async () => {
    const { open } = await createList()
    onTestFinished(() => void setSystemTime())
    const store = await open()
    await store.add(toAddresses('ann@mail.io'))
    await store.count()
    const [{ lastSeq }, tomorrow] = [await store.head(), toClockSeq(Date.now() + 86_400_000)]
    setSystemTime(new Date('2026-01-02'))
    expect(checkCursor(await store.head(), { seq: lastSeq + 1000, list: undefined }).seq).toBe(lastSeq + 1000)
    setSystemTime(new Date('2030-01-01'))
    const head = await store.head()
    expect(() => checkCursor(head, { seq: tomorrow, list: undefined })).toThrow('is higher than the last number')
  })
}

function describeDamage({ createList }: Lists): void {
  test('a database that is read-only, such as a standby, is refused also for reading', async () => {
    const { url, open } = await createList()
    await withStore(url, (store) => store.count())
    await server.run(`ALTER DATABASE ${toDatabase(url)} SET default_transaction_read_only = on`, server.admin)
    const store = await open()
    for (const call of [() => store.count(), () => listAll(store), () => store.probe(), () => store.ready()]) {
      await expect(call()).rejects.toThrow('the database is read-only, such as a standby: use the primary')
    }
  })

  test('a snapshot whose head cannot be read leaves no transaction open', async () => {
    const { url, open } = await createList()
    const store = await open()
    await store.count()
    await server.run('DELETE FROM rollcall.list', url)
    await expect(store.snapshot()).rejects.toThrow('the table rollcall.list has 0 rows instead of 1')
    const query = `SELECT state FROM pg_stat_activity WHERE datname = '${toDatabase(url)}' AND state LIKE '%in transaction%'`
    expect(await server.run(query, server.admin)).toEqual([])
  })

  test('a damaged index or table does not pass for a short list', async () => {
    const { url, open } = await createList()
    const store = await open()
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
}

/** Returns statements that let the owner of a table add rows, and not see them. */
function hide(table: string): string {
  return `ALTER TABLE rollcall.${table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
    CREATE POLICY write_only ON rollcall.${table} FOR INSERT WITH CHECK (true)`
}

/** Returns statements that skip rows. For DELETE, this is what a trigger does that returns NEW. */
function skip(event: 'INSERT' | 'DELETE', table: string): string {
  return `CREATE FUNCTION skip() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
    CREATE TRIGGER skip BEFORE ${event} ON rollcall.${table} FOR EACH ROW EXECUTE FUNCTION skip()`
}

function importAnn(store: SubscriberStore): Promise<unknown> {
  return store.import([{ email: toAddress('ann@mail.io') }])
}

function describeSkips({ createList }: Lists): void {
  test.each<readonly [string, string, (store: SubscriberStore) => Promise<unknown>, string]>([
    [
      'a trigger drops what is accepted',
      skip('INSERT', 'inbox'),
      (store) => store.add(toAddresses('bob@mail.io')),
      'the table rollcall.inbox does not take what is written',
    ],
    [
      'a trigger keeps the inbox from an export',
      skip('DELETE', 'inbox'),
      (store) => store.add(toAddresses('bob@mail.io')).then(() => listAll(store)),
      'the table rollcall.inbox does not take what is written',
    ],
    [
      'a trigger keeps the inbox from a removal',
      skip('DELETE', 'inbox'),
      (store) =>
        store.add(toAddresses('bob@mail.io')).then(() => store.remove(toAddresses('bob@mail.io'), { suppress: true })),
      'the table rollcall.inbox does not take what is written',
    ],
    [
      'a trigger drops what is imported',
      skip('INSERT', 'subscribers'),
      (store) => store.import([{ email: toAddress('bob@mail.io') }]),
      'the table rollcall.subscribers does not take what is written',
    ],
    [
      'a trigger keeps who is removed',
      skip('DELETE', 'subscribers'),
      (store) => store.remove(toAddresses('cyd@mail.io'), { suppress: true }),
      'the table rollcall.subscribers does not take what is written',
    ],
    [
      'a trigger drops a suppression',
      skip('INSERT', 'suppressions'),
      (store) => store.remove(toAddresses('cyd@mail.io'), { suppress: true }),
      'the table rollcall.suppressions does not take what is written',
    ],
    [
      'a trigger keeps a suppression',
      skip('DELETE', 'suppressions'),
      (store) => store.remove(toAddresses('ann@mail.io'), { suppress: false }),
      'the table rollcall.suppressions does not take what is written',
    ],
    ['a policy hides the inbox', hide('inbox'), (store) => store.add(toAddresses('bob@mail.io')), '(42501)'],
    ['a policy hides the suppressions', hide('suppressions'), importAnn, '(42501)'],
    ['a policy hides the subscribers from an export', hide('subscribers'), listAll, '(42501)'],
    [
      'the row of the list is gone',
      'DELETE FROM rollcall.list',
      importAnn,
      'the table rollcall.list has 0 rows instead of 1',
    ],
    [
      'a dump was restored into the schema of a new list',
      `INSERT INTO rollcall.list SELECT version, 'another', suppression_key, 0, 0 FROM rollcall.list`,
      importAnn,
      'the table rollcall.list has 2 rows instead of 1',
    ],
  ])('an error instead of a loss: %s', async (_, statements, work, message) => {
    const { url, open } = await createList()
    const store = await open()
    await store.add(toAddresses('cyd@mail.io'))
    await store.remove(toAddresses('ann@mail.io'), { suppress: true })
    await server.run(statements, url)
    await expect(work(store)).rejects.toThrow(message)
  })
}

/** Formats of bytes, dates, numbers and texts that another program may need. */
const ODD_SETTINGS = Object.entries({
  ...{ bytea_output: 'escape', DateStyle: 'SQL, DMY', TimeZone: 'Asia/Kolkata', IntervalStyle: 'sql_standard' },
  ...{ extra_float_digits: '-15', standard_conforming_strings: 'off', array_nulls: 'off' },
  ...{ default_transaction_isolation: 'serializable', enable_indexscan: 'off' },
})

/** Returns statements that give new sessions the odd settings, or those that write subscribers, as another user of a pooler may. */
function toOdd(scope: 'role' | 'database' | 'session', database: string): readonly string[] {
  if (scope === 'session') {
    const settings = ODD_SETTINGS.map(([name, value]) => `PERFORM set_config('${name}', '${value}', false);`)
    const trigger = 'CREATE TRIGGER odd BEFORE INSERT ON rollcall.subscribers EXECUTE FUNCTION odd()'
    const body = `BEGIN ${settings.join(' ')} RETURN NULL; END`
    return [`CREATE FUNCTION odd() RETURNS trigger LANGUAGE plpgsql AS $$${body}$$`, trigger]
  }
  const alter = scope === 'role' ? `ALTER ROLE owner IN DATABASE ${database}` : `ALTER DATABASE ${database}`
  return ODD_SETTINGS.map(([name, value]) => `${alter} SET ${name} = '${value}'`)
}

function describeSettings({ createList }: Lists): void {
  test.each(['role', 'database', 'session'] as const)('odd settings of a %s change no value', async (scope) => {
    const { url, open } = await createList()
    await withStore(url, (store) => store.count())
    for (const statement of toOdd(scope, toDatabase(url))) await server.run(statement, url)
    await server.disconnect(url)
    const store = await open()
    const [start, subscribedAt] = [Date.now(), new Date('2026-02-01T20:00:00.123Z')]
    const addresses = createAddresses(40)
    await store.import(addresses.map((email) => ({ email, subscribedAt })))
    const bob = toAddress("bob'o{neil}@site.io")
    await store.add([bob])
    const all = await listAll(store)
    expectAscending(all)
    expect(emailsOf(all)).toEqual([...addresses, bob])
    expect(all.slice(0, 40).map((row) => row.subscribedAt)).toEqual(addresses.map(() => subscribedAt))
    expect(await listAll(store, all[19]!.seq)).toEqual(all.slice(20))
    expect(await store.lookUp([bob, addresses[7]!])).toEqual([{ subscriber: all[40]! }, { subscriber: all[7]! }])
    const { head, lastAcceptedAt, days, imported, bytes } = { head: await store.head(), ...(await store.status()) }
    expect([head.lastSeq, lastAcceptedAt]).toEqual([all[40]!.seq, all[40]!.subscribedAt])
    expect([days.at(-1)?.total, imported, bytes % 8192]).toEqual([41, 40, 0])

    expect(await store.remove([addresses[17]!], { suppress: true })).toEqual(['subscribed'])
    expect(await listAll(store)).toEqual(all.toSpliced(17, 1))
    expect(await store.count()).toEqual({ subscribers: 40, reserved: 0, suppressed: 1 })
    const [suppression] = await listSuppressions(store)
    const [found] = await store.lookUp([addresses[17]!])
    expect(found).toEqual({ suppressedAt: suppression!.suppressedAt })
    expect(Number(suppression!.suppressedAt)).toBeWithin(start - 60_000, Date.now() + 60_000)
    const { id, suppressionKey } = await withStore(url, (other) => other.head())
    expect(head).toMatchObject({ id, suppressionKey })
  })
}
