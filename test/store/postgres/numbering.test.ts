/** A PostgreSQL list that continues from an older state gives out no number again. */

import { afterAll, expect, test } from 'bun:test'
import { parseListUrl } from '../../../src/config/list-url.ts'
import { openStore } from '../../../src/store/open.ts'
import type { SubscriberStore } from '../../../src/subscriber.ts'
import { getServer, toDatabase, withStore } from '../../support/postgres.ts'
import { createPair, runOn, tryPromote } from '../../support/postgres-pair.ts'
import { createAddresses, emailsOf, expectAscending, listAll } from '../../support/store-suite.ts'
import { until } from '../../support/wait.ts'

const ADDRESSES = createAddresses(65)
const [OLD, LOST, NEW] = [ADDRESSES.slice(0, 50), ADDRESSES.slice(50, 60), ADDRESSES.slice(60)] as const

/** Where numbering continues after an older state: far above all numbers of these tests. */
const FAR = 2 ** 40

const server = await getServer()
const cleanups: (() => unknown)[] = []
afterAll(async () => {
  for (const cleanup of cleanups.toReversed()) await cleanup()
})

/** Adds addresses, and moves them from the inbox to the list. */
async function addToList(store: SubscriberStore, addresses: typeof ADDRESSES): Promise<void> {
  await store.add(addresses)
  await store.count()
}

/** Adds new addresses to a restored list by one of the writes, and expects them behind the cursor. */
async function expectBehind(store: SubscriberStore, cursor: number): Promise<void> {
  const before = await store.numbering()
  await store.add(NEW.slice(0, 2))
  await store.import(NEW.slice(2).map((email) => ({ email })))
  const rows = await listAll(store, { after: cursor })
  expect(emailsOf(rows)).toEqual(NEW)
  expect(rows[0]?.seq).toBeGreaterThan(FAR)
  expect(rows.map(({ seq }) => seq - (rows[0]?.seq ?? 0))).toEqual(NEW.map((_, index) => index))
  expectAscending(await listAll(store))
  expect(await store.numbering()).toEqual({ list: before.list, last: rows.at(-1)!.seq })
}

test('a new list begins with 1, and its last number stays when its subscriber is removed', async () => {
  await withStore(await server.createUrl(), async (store) => {
    expect(await store.numbering()).toEqual({ list: expect.stringMatching(/^[0-9a-f]{16}$/), last: 0 })
    await store.add(OLD)
    expect((await listAll(store)).map(({ seq }) => seq)).toEqual(OLD.map((_, index) => index + 1))
    await store.remove(OLD.slice(40), { suppress: false })
    expect((await store.numbering()).last).toBe(50)
  })
})

test('a copy of the database: everybody who subscribes afterwards is behind the cursor', async () => {
  const url = await server.createUrl()
  const copy = `${url}_copy`
  await withStore(url, (store) => addToList(store, OLD))
  await server.disconnect(url)
  await server.run(`CREATE DATABASE ${toDatabase(copy)} TEMPLATE ${toDatabase(url)} OWNER owner`, server.admin)
  await withStore(url, (store) => addToList(store, LOST))
  await withStore(copy, (store) => expectBehind(store, 60))
  // The list itself goes on.
  await withStore(url, async (store) => {
    await store.add(NEW)
    expect((await store.numbering()).last).toBe(65)
  })
})

test('older rows in the same database, as pg_restore --clean writes them', async () => {
  const url = await server.createUrl()
  await withStore(url, (store) => addToList(store, OLD))
  await server.run(
    'CREATE TABLE saved AS SELECT * FROM rollcall.subscribers; CREATE TABLE saved_list AS SELECT * FROM rollcall.list',
    url,
  )
  await withStore(url, (store) => addToList(store, LOST))
  await server.run(
    `TRUNCATE rollcall.subscribers, rollcall.list;
     INSERT INTO rollcall.list SELECT * FROM saved_list;
     INSERT INTO rollcall.subscribers SELECT * FROM saved`,
    url,
  )
  await withStore(url, (store) => expectBehind(store, 60))
})

test('a user who may only add addresses skips numbers too', async () => {
  const url = await server.createUrl()
  const admin = url.replace('owner:', 'postgres:')
  await withStore(admin, (store) => addToList(store, OLD))
  await server.run('GRANT USAGE ON SCHEMA rollcall TO owner; GRANT ALL ON ALL TABLES IN SCHEMA rollcall TO owner', url)
  await server.run("UPDATE rollcall.list SET server_started = '2026-01-01'", url)
  await withStore(url, (store) => store.import(NEW.map((email) => ({ email }))))
  expect(emailsOf(await withStore(admin, (store) => listAll(store, { after: FAR })))).toEqual(NEW)
})

test('a clock that is behind the list', async () => {
  const url = await server.createUrl()
  await withStore(url, (store) => addToList(store, OLD))
  const ahead = 2 ** 52
  await server.run(`UPDATE rollcall.list SET next_seq = ${ahead + 1}, server_started = '2026-01-01'`, url)
  await withStore(url, async (store) => {
    await store.add(NEW)
    expect((await listAll(store, { after: ahead }))[0]?.seq).toBe(ahead + 2 ** 32)
  })
})

test('a failover that lost commits: everybody who subscribes afterwards is behind the cursor, without a restart', async () => {
  const { data, copy, ports, start, stop, copyToStandby, toUrl, end } = await createPair()
  cleanups.push(end)
  let primary = await start(data, ports.primary)
  const store = await openStore(parseListUrl('URL', toUrl(ports.primary)))
  cleanups.push(() => store.close())
  await store.add(OLD.slice(0, 25))
  await stop(primary, 'SIGINT')
  copyToStandby()
  primary = await start(data, ports.primary)
  const standby = await start(copy, ports.standby)
  await until(() => tryAdd(store, OLD.slice(25)), 'the primary takes addresses again')
  const [{ last: copied }, before] = [await store.numbering(), await listAll(store)]
  // The server was started again, so numbers were skipped.
  expect([emailsOf(before), before[25]!.seq > FAR]).toEqual([OLD, true])
  await until(async () => (await readLast(toUrl(ports.standby))) === copied, 'the standby has all')

  // A commit that waits for the standby is confirmed: its position in the log shows it.
  await setStandbys(toUrl(ports.primary), '*')
  await store.add([])
  await setStandbys(toUrl(ports.primary), '')

  // Commits do not wait for an asynchronous standby.
  await stop(standby, 'SIGINT')
  await store.add(LOST)
  const cursor = (await listAll(store)).at(-1)!.seq
  await stop(primary, 'SIGKILL')
  // The address moves to the standby.
  await start(copy, ports.primary)
  await until(() => tryPromote(toUrl(ports.primary)), 'the standby is promoted')
  await until(() => tryAdd(store, NEW), 'the new primary takes addresses')
  expect(emailsOf(await listAll(store))).toEqual([...OLD, ...NEW])
  expect(emailsOf(await listAll(store, { after: cursor }))).toEqual(NEW)
})

/** Sets the names of the synchronous standbys, and waits until the server uses them. */
async function setStandbys(url: string, names: string): Promise<void> {
  await runOn(url, `ALTER SYSTEM SET synchronous_standby_names = '${names}'`)
  await runOn(url, 'SELECT pg_reload_conf()')
  const state = names ? 'sync' : 'async'
  const isSet = () => runOn<string>(url, 'SELECT sync_state AS value FROM pg_stat_replication').catch(() => '')
  await until(async () => (await isSet()) === state, `the standby is ${state}`)
}

async function tryAdd(store: SubscriberStore, addresses: typeof ADDRESSES): Promise<boolean> {
  return await store.add(addresses).then(
    () => true,
    () => false,
  )
}

async function readLast(url: string): Promise<number | undefined> {
  return await runOn<number>(url, 'SELECT max(seq)::float8 AS value FROM rollcall.subscribers')
}
