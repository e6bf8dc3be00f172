/** Compaction and the lock of a PostgreSQL list: rows that commit late, processes that stand still, and deadlines. */

import { expect, onTestFinished, test } from 'bun:test'
import type { Address } from '../../../src/email.ts'
import { createLog } from '../../../src/log.ts'
import { createClient } from '../../../src/store/postgres/client.ts'
import { compactSlice } from '../../../src/store/postgres/inbox.ts'
import { openPostgresServiceStore } from '../../../src/store/postgres/store.ts'
import { ROOT } from '../../support/paths.ts'
import { getServer, holdTransaction, toDatabase, toServer, withStore } from '../../support/postgres.ts'
import { startService } from '../../support/service.ts'
import { until } from '../../support/wait.ts'
import { createAddresses, emailsOf, listAll, toAddresses } from '../suite.ts'

const server = await getServer()
const ANN = toAddresses('ann@mail.io')

const LOCK = 'SELECT FROM rollcall.list FOR UPDATE'

async function countRows(url: string, table: 'inbox' | 'subscribers'): Promise<number> {
  const [row] = await server.run<{ count: number }>(`SELECT count(*)::integer FROM rollcall.${table}`, url)
  return row?.count ?? 0
}

const isWaitingForLock = async (url: string) => {
  const query = `SELECT FROM pg_stat_activity WHERE datname = '${toDatabase(url)}' AND wait_event_type = 'Lock'`
  return (await server.run(query, server.admin)).length > 0
}

test('a probe leaves nothing in the inbox, also when nobody subscribes after it', async () => {
  const url = await server.createUrl()
  const store = openPostgresServiceStore(toServer(url), createLog('silent'))
  onTestFinished(() => store.close())
  // The schedule compacts once at its start.
  await store.probe()
  const isEmpty = async () => (await countRows(url, 'inbox')) === 0
  await until(isEmpty, 'the first probe is compacted')
  await store.probe()
  await until(isEmpty, 'the second probe is compacted')
})

test('more probes than a slice has rows do not end compaction before the addresses after them', async () => {
  const url = await server.createUrl()
  await withStore(url, async (store) => {
    await store.count()
    // Random ids: the rows of the probes are before this one, which has the last id.
    await server.run(
      `INSERT INTO rollcall.inbox SELECT gen_random_uuid(), now(), 0, '' FROM generate_series(1, 10001)`,
      url,
    )
    await server.run(
      `INSERT INTO rollcall.inbox VALUES ('ffffffff-ffff-7fff-bfff-ffffffffffff', now(), 1, 'ann@mail.io')`,
      url,
    )
    expect(emailsOf(await listAll(store))).toEqual(ANN)
    expect(await countRows(url, 'inbox')).toBe(0)
  })
})

test('an address that commits after one with a higher id gets a higher number', async () => {
  const url = await server.createUrl()
  await withStore(url, async (store) => {
    await store.probe()
    const commit = await holdTransaction(
      url,
      `INSERT INTO rollcall.inbox VALUES (gen_random_uuid(), now(), 1, 'slow@mail.io')`,
    )
    await server.run(
      `INSERT INTO rollcall.inbox VALUES ('ffffffff-ffff-7fff-bfff-ffffffffffff', now(), 1, 'fast@mail.io')`,
      url,
    )
    const [fast, ...rest] = await listAll(store)
    expect([fast?.email, rest]).toEqual(['fast@mail.io' as Address, []])
    await commit()
    expect(emailsOf(await listAll(store, fast?.seq ?? 0))).toEqual(toAddresses('slow@mail.io'))
  })
})

test('a removal also removes what is accepted while it waits for the lock', async () => {
  const url = await server.createUrl()
  await withStore(url, async (store) => {
    await store.count()
    const release = await holdTransaction(url, LOCK)
    const removing = store.remove(ANN, { suppress: true })
    await until(() => isWaitingForLock(url), 'the removal waits for the lock')
    await store.add(ANN)
    await release()
    expect(await removing).toEqual(['subscribed'])
    expect(await store.count()).toMatchObject({ subscribers: 0, suppressed: 1 })
  })
})

test('a backlog of several slices is on the list in its order, also when rows are large', async () => {
  const url = await server.createUrl()
  const addresses = createAddresses(45_000)
  await withStore(url, async (store) => {
    for (let start = 0; start < 45_000; start += 15_000) await store.add(addresses.slice(start, start + 15_000))
    for (let row = 0; row < 20; row++) await store.probe()
  })
  const client = createClient({ server: toServer(url), create: false })
  const sizes: number[] = []
  for (let hasMore = true; hasMore; ) {
    hasMore = await compactSlice(client)
    sizes.push(await countRows(url, 'subscribers'))
  }
  await client.close()
  // A slice ends with the row that exceeds its size.
  expect(sizes.slice(0, 3)).toEqual([15_000, 30_000, 45_000])
  expect(await countRows(url, 'inbox')).toBe(0)
  await withStore(url, async (store) => expect(emailsOf(await listAll(store))).toEqual(addresses))
})

test('a process that stands still in a transaction loses the lock', async () => {
  const url = await server.createUrl()
  await withStore(url, async (store) => {
    await store.count()
    const script = `
      import { createClient } from '${ROOT}/src/store/postgres/client.ts'
      import { runCompacted } from '${ROOT}/src/store/postgres/inbox.ts'
      import { parseListUrl } from '${ROOT}/src/config/list-url.ts'
      const client = createClient({ server: parseListUrl('URL', process.argv[1]).server, create: true })
      await runCompacted(client, async () => {
        console.log('locked')
        await new Promise(() => {})
      })`
    const child = Bun.spawn([process.execPath, '-e', script, url], { stdout: 'pipe', stdin: 'pipe' })
    onTestFinished(() => child.kill('SIGKILL'))
    await child.stdout.getReader().read()
    child.kill('SIGSTOP')
    await store.add(ANN)
    expect(await store.count()).toMatchObject({ subscribers: 1 })
  })
})

test('the service accepts while the list is locked, gives up compaction in time, and compacts later', async () => {
  const url = await server.createUrl()
  await withStore(url, (store) => store.count())
  const release = await holdTransaction(
    url,
    `LOCK TABLE rollcall.list, rollcall.subscribers IN EXCLUSIVE MODE; ${LOCK}`,
  )
  const service = await startService({ env: { DATABASE_URL: url, OPS_PORT: '0' } })
  for (const name of ['ann', 'bob']) expect((await service.subscribe(`${name}@mail.io`)).status).toBe(200)
  expect((await service.ops('/readyz')).status).toBe(200)
  await service.logged('compaction fails: addresses stay in the inbox until it works')
  await service.logged('another process holds its lock (55P03)')
  expect(await countRows(url, 'inbox')).toBeGreaterThan(0)
  await release()
  await service.logged('compaction works again')
  await until(async () => (await countRows(url, 'subscribers')) === 2, 'the service compacts the inbox')
  await service.stop()
})

test('work that outlives its deadline is not done again', async () => {
  const url = await server.createUrl()
  await withStore(url, (store) => store.count())
  const client = createClient({ server: toServer(url), create: false, deadlineMs: 300 })
  onTestFinished(() => client.close())
  const closed = Promise.withResolvers<never>()
  let attempts = 0
  const work = client.repeat(async () => {
    attempts++
    await closed.promise
  })
  await expect(work).rejects.toThrow()
  // The client has replaced its connections, so the one of the work is closed.
  closed.reject(Object.assign(new Error('closed'), { code: 'ERR_POSTGRES_CONNECTION_CLOSED' }))
  // A second attempt would come before another call, which looks at the same list.
  await new Promise((resolve) => setImmediate(resolve))
  await client.run(async () => {})
  expect(attempts).toBe(1)
})
