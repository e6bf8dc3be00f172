/** The service on a PostgreSQL that fails in every way: an answer in time, documents all the while, and well again by itself. */

import { afterEach, expect, test } from 'bun:test'
import { SQL } from 'bun'
import { parseListUrl } from '../../../src/config/list-url.ts'
import { STORE_DEADLINE_MS } from '../../../src/limits.ts'
import { openStore } from '../../../src/store/open.ts'
import { getServer, MAX_CONNECTIONS, PASSWORD } from '../../support/postgres.ts'
import { type Reply, type RunningService, startService } from '../../support/service.ts'
import { emailsOf, expectAscending, listAll, toAddress } from '../../support/store-suite.ts'

const server = await getServer()
const undo: (() => unknown)[] = []

afterEach(async () => {
  for (const step of undo.splice(0).toReversed()) await step()
})

async function serve(url: string): Promise<RunningService> {
  const service = await startService({ env: { DATABASE_URL: url, OPS_PORT: '0' } })
  undo.push(async () => {
    await service.stop()
    expect(service.log()).not.toContain(PASSWORD)
  })
  return service
}

async function readList(url: string) {
  const store = await openStore(parseListUrl('URL', url))
  const all = await listAll(store)
  await store.close()
  return all
}

/** Posts an address to a list that fails: the answer comes in time, and documents are served meanwhile. */
async function expectFailure(service: RunningService): Promise<void> {
  const start = performance.now()
  let answer: Reply | undefined
  const answered = service.subscribe('lost@mail.io').then((reply) => {
    answer = reply
  })
  while (!answer) {
    expect((await service.request('/openapi.json')).status).toBe(200)
    await Promise.race([answered, Bun.sleep(500)])
  }
  expect([answer.status, JSON.parse(answer.body).message]).toEqual([500, 'storage_failure'])
  // The clock of the deadline ticks, and a busy machine is late.
  expect(performance.now() - start).toBeLessThan(STORE_DEADLINE_MS + 1000)
}

/** Posts an address until it is accepted. */
async function expectRecovery(service: RunningService): Promise<void> {
  while ((await service.subscribe('found@mail.io')).status !== 200) await Bun.sleep(50)
  expect(await readiness(service)).toBe(200)
}

async function readiness(service: RunningService): Promise<number> {
  return (await fetch(`http://127.0.0.1:${service.opsPort}/readyz`)).status
}

test('down at the start, and up later', async () => {
  const url = await server.createUrl()
  await server.kill()
  const service = await serve(url)
  await expectFailure(service)
  expect(await readiness(service)).toBe(503)
  await server.start()
  await expectRecovery(service)
  expect(emailsOf(await readList(url))).toContain(toAddress('found@mail.io'))
})

test('killed under load: nothing that was confirmed is lost, nothing is there twice', async () => {
  const url = await server.createUrl()
  const service = await serve(url)
  const confirmed: string[] = []
  const failed = Promise.withResolvers<void>()
  let isOver = false
  const callers = Array.from({ length: 16 }, async (_, caller) => {
    for (let step = 0; !isOver; step++) {
      const email = `user${caller}.${step}@mail.io`
      // Half of them are posted by two callers.
      const { status } = await service.subscribe(step % 2 ? email : `both${step}@mail.io`)
      if (status === 200) confirmed.push(step % 2 ? email : `both${step}@mail.io`)
      else failed.resolve()
    }
  })
  for (let kills = 0; kills < 2; kills++) {
    const before = confirmed.length
    while (confirmed.length < before + 300) await Bun.sleep(10)
    await server.kill()
    await failed.promise
    await server.start()
    await expectRecovery(service)
  }
  isOver = true
  await Promise.all(callers)
  const all = await readList(url)
  expectAscending(all)
  const listed = new Set<string>(emailsOf(all))
  expect(confirmed.filter((email) => !listed.has(email))).toEqual([])
})

test('another process holds the lock', async () => {
  const url = await server.createUrl()
  const service = await serve(url)
  await expectRecovery(service)
  const other = new SQL({ url, max: 1 })
  undo.push(() => other.close({ timeout: 0 }))
  const release = Promise.withResolvers<void>()
  const locked = Promise.withResolvers<void>()
  const holding = other.begin(async (transaction) => {
    await transaction`SELECT FROM rollcall.list FOR UPDATE`
    locked.resolve()
    await release.promise
  })
  await locked.promise
  await expectFailure(service)
  release.resolve()
  await holding
  await expectRecovery(service)
  await service.logged('another process holds its lock')
})

test('the server stands still', async () => {
  const url = await server.createUrl()
  const service = await serve(url)
  await expectRecovery(service)
  const goOn = await server.freeze()
  undo.push(goOn)
  await expectFailure(service)
  goOn()
  await expectRecovery(service)
  await service.logged('the server does not answer')
})

test('no connection is left', async () => {
  const url = await server.createUrl()
  const service = await serve(url)
  await expectRecovery(service)
  await server.disconnect(url)
  const others = await Promise.all(
    Array.from({ length: MAX_CONNECTIONS }, () => new SQL({ url, max: 1 }).reserve()),
  )
  undo.push(() => Promise.all(others.map((other) => other.close())))
  await expectFailure(service)
  await expectFailure(service)
  await Promise.all(others.map((other) => other.close()))
  await expectRecovery(service)
})

test('read-only, as after a failover', async () => {
  const url = await server.createUrl()
  const service = await serve(url)
  await expectRecovery(service)
  await failOver('on')
  await expectFailure(service)
  await expectFailure(service)
  expect(await readiness(service)).toBe(503)
  await failOver('off')
  await expectRecovery(service)

  async function failOver(readOnly: 'on' | 'off'): Promise<void> {
    const database = new URL(url).pathname.slice(1)
    await server.run(
      `ALTER DATABASE ${database} SET default_transaction_read_only = ${readOnly}`,
      server.admin,
    )
    await server.disconnect(url)
  }
})
