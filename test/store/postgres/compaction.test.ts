/** Compaction of a PostgreSQL list: groups that commit late, processes that stop in the middle, and dates. */

import { expect, onTestFinished, test } from 'bun:test'
import { SQL } from 'bun'
import { createPostgresStore } from '../../../src/store/postgres/store.ts'
import { CLI } from '../../support/paths.ts'
import { getServer, toDatabase, toParameters, withStore } from '../../support/postgres.ts'
import { countLockWaits, isPaused } from '../../support/postgres-schemas.ts'
import {
  createAddresses,
  emailsOf,
  listAll,
  listSuppressions,
  toAddress,
  toAddresses,
} from '../../support/store-suite.ts'
import { until } from '../../support/wait.ts'

const server = await getServer()

/** Appends an address to the inbox in a transaction that stays open until the returned function is called. */
async function appendSlowly(url: string, email: string): Promise<() => Promise<void>> {
  const sql = new SQL({ url, max: 1 })
  const appended = Promise.withResolvers<void>()
  const release = Promise.withResolvers<void>()
  const appending = sql.begin(async (transaction) => {
    await transaction`INSERT INTO rollcall.inbox (shard, size, addresses) VALUES (0, 1, ${JSON.stringify([email])})`
    appended.resolve()
    await release.promise
  })
  await appended.promise
  return async () => {
    release.resolve()
    await appending
    await sql.close()
  }
}

test('a group that commits after one with a higher id gets higher seqs', async () => {
  const url = await server.createUrl()
  await withStore(url, async (store) => {
    await store.add([])
    const commit = await appendSlowly(url, 'slow@mail.io')
    await store.add(toAddresses('fast@mail.io'))
    const [fast, ...rest] = await listAll(store)
    expect([fast?.email, rest]).toEqual([toAddress('fast@mail.io'), []])
    await commit()
    expect(emailsOf(await listAll(store, { after: fast?.seq ?? 0 }))).toEqual(toAddresses('slow@mail.io'))
  })
})

test('an address that is accepted during its removal is on the list with a later date', async () => {
  const url = await server.createUrl()
  const ann = toAddresses('ann@mail.io')
  await withStore(url, async (store) => {
    await store.add(ann)
    const commit = await appendSlowly(url, 'Ann@mail.io')
    expect(await store.remove(ann, { suppress: true })).toEqual(['subscribed'])
    const [suppression] = await listSuppressions(store)
    await commit()
    const [subscriber, ...rest] = await listAll(store)
    expect([subscriber?.email, rest]).toEqual([toAddress('Ann@mail.io'), []])
    expect(subscriber?.subscribedAt.getTime()).toBe((suppression?.suppressedAt.getTime() ?? 0) + 1)
    expect(await store.count()).toMatchObject({ subscribers: 1, suppressed: 0 })
  })
})

test('a removal also removes what is accepted while it waits for the lock', async () => {
  const url = await server.createUrl()
  const ann = toAddresses('ann@mail.io')
  await withStore(url, async (store) => {
    await store.check()
    const sql = new SQL({ url, max: 1 })
    const removing = await sql.begin(async (transaction) => {
      await transaction`SELECT FROM rollcall.list FOR UPDATE`
      // In an object, because `begin` would wait for a promise.
      const running = { states: store.remove(ann, { suppress: true }) }
      await until(async () => (await countLockWaits(url)) === 1, 'the removal waits for the lock')
      await store.add(ann)
      return running
    })
    await sql.close()
    expect(await removing.states).toEqual(['subscribed'])
    expect(await store.count()).toMatchObject({ subscribers: 0, suppressed: 1 })
  })
})

test('a reader makes visible what a process moved before it died', async () => {
  const url = await server.createUrl()
  await withStore(url, async (store) => {
    await store.add(toAddresses('ann@mail.io'))
    const before = await listAll(store)
    await server.run('UPDATE rollcall.list SET visible_seq = 0', url)
    expect(await listAll(store)).toEqual(before)
  })
})

test('a reader does not follow a list that grows', async () => {
  const url = await server.createUrl()
  await withStore(url, async (store) => {
    await store.import(createAddresses(5000).map((email) => ({ email })))
    const pages: number[] = []
    for await (const page of store.list()) {
      pages.push(page.length)
      await store.import(toAddresses('late@mail.io').map((email) => ({ email })))
    }
    expect(pages).toEqual([5000])
  })
})

test('an inbox of many groups and an inbox of large ones are moved in their order', async () => {
  const url = await server.createUrl()
  const addresses = createAddresses(21_200)
  await withStore(url, async (store) => {
    for (let start = 0; start < 1200; start += 2) await store.add(addresses.slice(start, start + 2))
    for (let start = 1200; start < addresses.length; start += 4000)
      await store.add(addresses.slice(start, start + 4000))
    expect(emailsOf(await listAll(store))).toEqual(addresses)
    expect(await server.run('SELECT FROM rollcall.inbox', url)).toHaveLength(0)
  })
})

test('a database that cannot be written shows what is compacted', async () => {
  const url = await server.createUrl()
  await withStore(url, async (store) => {
    await store.add(toAddresses('ann@mail.io'))
    await store.count()
    await store.add(toAddresses('bob@mail.io'))
  })
  await server.run(`ALTER DATABASE ${toDatabase(url)} SET default_transaction_read_only = on`, server.admin)
  expect(emailsOf(await withStore(url, listAll))).toEqual(toAddresses('ann@mail.io'))
})

/** Makes each slice wait until the returned function is called. */
async function pauseSlices(url: string): Promise<() => Promise<unknown>> {
  await server.run(
    `CREATE TABLE pause AS SELECT true;
     GRANT SELECT ON pause TO PUBLIC;
     CREATE FUNCTION pause() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       WHILE EXISTS (SELECT FROM public.pause) LOOP PERFORM pg_sleep(0.02); END LOOP;
       RETURN NULL;
     END $$;
     CREATE TRIGGER pause AFTER DELETE ON rollcall.inbox FOR EACH STATEMENT EXECUTE FUNCTION pause();`,
    url,
  )
  return () => server.run('DELETE FROM pause', url)
}

test.each([
  ['killed', 'SIGKILL'],
  ['stopped', 'SIGSTOP'],
] as const)('a process that is %s in the middle of a slice is replaced by the service', async (_, signal) => {
  const url = await server.createUrl()
  const store = createPostgresStore({ parameters: toParameters(url), name: 'list', hasDeadline: true })
  onTestFinished(() => store.close())
  const addresses = createAddresses(3000)
  await withStore(url, (other) => other.add(addresses))
  const resume = await pauseSlices(url)
  const child = Bun.spawn([process.execPath, CLI, 'count'], {
    env: { DATABASE_URL: url },
    stdout: 'ignore',
    stderr: 'ignore',
  })
  onTestFinished(() => child.kill('SIGKILL'))
  await until(() => isPaused(url), 'a slice is paused')
  child.kill(signal)
  await resume()
  await store.add(toAddresses('late@mail.io'))
  const countMoved = async () => (await server.run('SELECT FROM rollcall.subscribers', url)).length
  await until(async () => (await countMoved()) === 3001, 'the service has moved all addresses')
  expect(emailsOf(await withStore(url, listAll))).toEqual([...addresses, toAddress('late@mail.io')])
})
