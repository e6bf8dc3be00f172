/** The store on PostgreSQL: the shared suite, and several processes on one database. */

import { expect, test } from 'bun:test'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { parseListUrl } from '../../../src/config/list-url.ts'
import { openStore } from '../../../src/store/open.ts'
import { createPostgresStore } from '../../../src/store/postgres/store.ts'
import type { Subscriber, SubscriberStore } from '../../../src/subscriber.ts'
import { getServer, toDatabase, withStore } from '../../support/postgres.ts'
import { createFolder, runCommand, startService } from '../../support/service.ts'
import { testProcesses } from '../../support/store-processes.ts'
import {
  createAddresses,
  describeStore,
  emailsOf,
  expectAscending,
  listAll,
  listSuppressions,
} from '../../support/store-suite.ts'

const server = await getServer()

describeStore('postgres', async () => ({
  async create() {
    const url = await server.createUrl()
    return { open: () => openStore(parseListUrl('URL', url)) }
  },
  async remove() {},
}))

testProcesses('postgres', () => server.createUrl())

test('an export with a cursor misses nothing and repeats nothing during imports and new subscriptions', async () => {
  const url = await server.createUrl()
  const addresses = createAddresses(20_000)
  const seen: Subscriber[] = []
  let isWritten = false
  await withStore(url, async (reader) => {
    const reading = (async () => {
      for (let isLast = false; !isLast; ) {
        isLast = isWritten
        for await (const page of reader.list({ after: seen.at(-1)?.seq ?? 0 })) seen.push(...page)
      }
    })()
    const importing = [0, 1].map((half) =>
      withStore(url, async (store) => {
        for (let start = half * 7000; start < half * 7000 + 7000; start += 1000) {
          await store.import(addresses.slice(start, start + 1000).map((email) => ({ email })))
        }
      }),
    )
    const adding = withStore(url, async (store) => {
      for (let start = 14_000; start < 20_000; start += 20) await store.add(addresses.slice(start, start + 20))
    })
    await Promise.all([...importing, adding])
    isWritten = true
    await reading
  })
  expectAscending(seen)
  expect(emailsOf(seen).toSorted()).toEqual(addresses.toSorted())
})

test('two services on one database put each address on the list once', async () => {
  const url = await server.createUrl()
  const services = await Promise.all([1, 2].map(() => startService({ env: { DATABASE_URL: url } })))
  const addresses = createAddresses(100)
  const replies = await Promise.all(
    addresses.flatMap((address) => services.map((service) => service.subscribe(address))),
  )
  for (const service of services) await service.stop()
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]))
  const all = await withStore(url, listAll)
  expectAscending(all)
  expect(emailsOf(all).toSorted()).toEqual(addresses.toSorted())
})

test('a new subscription clears a suppression of another process, also under a key that it did not know', async () => {
  const url = await server.createUrl()
  const [ann = expect.unreachable(), bob = expect.unreachable()] = createAddresses(2)
  await withStore(url, async (service) => {
    await service.add([ann, bob])
    const [suppressions, count] = await withStore(url, async (owner) => {
      await owner.remove([ann], { suppress: true })
      return [await listSuppressions(owner), await owner.count()]
    })
    expect([suppressions.length, count.suppressed]).toEqual([1, 1])
    await service.add([ann])
    expect(await service.count()).toEqual({ subscribers: 2, reserved: 0, suppressed: 0 })
  })
})

test.each([
  ['the database is read-only', (name: string) => `ALTER DATABASE ${name} SET default_transaction_read_only = on`],
  ['the user lacks a permission: grant INSERT on rollcall.inbox', () => 'REVOKE INSERT ON rollcall.inbox FROM owner'],
])('check reports that %s', async (reason, toStatement) => {
  const url = await server.createUrl()
  await withStore(url, (store) => store.check())
  await server.run(toStatement(toDatabase(url)), url)
  await withStore(url, async (store) => {
    await expect(store.check()).rejects.toThrow(reason)
    expect(await store.count()).toMatchObject({ subscribers: 0 })
  })
})

test('a copy from SQLite and back has the same order, dates and suppressions', async () => {
  const folder = await createFolder()
  const [from, back] = [`sqlite:${join(folder, 'from')}.db`, `sqlite:${join(folder, 'back')}.db`]
  const url = await server.createUrl()
  const addresses = createAddresses(3000)
  await withStore(from, async (store) => {
    await store.import(addresses.map((email, index) => ({ email, subscribedAt: new Date(index * 1e9 + index) })))
    await store.remove(addresses.slice(0, 10), { suppress: true })
  })
  expect((await runCommand(['copy', '--from', from, '--to', url])).code).toBe(0)
  expect((await runCommand(['copy', '--from', url, '--to', back])).code).toBe(0)
  const [original, copy] = [await withStore(from, readAll), await withStore(back, readAll)]
  await rm(folder, { recursive: true })
  expect(copy).toEqual(original)
  expect([copy.subscribers.length, copy.suppressions.length]).toEqual([2990, 10])
})

async function readAll(store: SubscriberStore) {
  const subscribers = (await listAll(store)).map(({ email, subscribedAt }) => [email, subscribedAt])
  const suppressions = (await listSuppressions(store)).map(({ key, hash, suppressedAt }) => [
    Buffer.from(key),
    Buffer.from(hash),
    suppressedAt,
  ])
  return { subscribers, suppressions }
}

test('the inbox says when its oldest address was accepted, and nothing after compaction', async () => {
  const { kind, ...list } = parseListUrl('URL', await server.createUrl())
  if (!('parameters' in list)) throw new Error(`a list of the kind ${kind}`)
  const store = createPostgresStore({ ...list, name: 'list', hasDeadline: false })
  expect((await store.measure()).inboxSince).toBeUndefined()
  await store.add(createAddresses(10))
  const { inboxSince } = await store.measure()
  // The clock of the server.
  expect(Math.abs(Date.now() - Number(inboxSince))).toBeLessThan(60_000)
  await store.count()
  expect((await store.measure()).inboxSince).toBeUndefined()
  await store.close()
})
