/**
 * `npm run test:poolers`: runs Rollcall behind PgBouncer, in each of its modes.
 *
 * Not part of `npm test`: PgBouncer must be installed. Exit code 1 when it is missing, or when a test fails.
 */

import { afterAll, describe, expect, onTestFinished, test } from 'bun:test'
import { SQL } from 'bun'
import { parseListUrl } from '../../src/config/list-url.ts'
import { openStore } from '../../src/store/open.ts'
import { getServer, toDatabase, withStore } from '../support/postgres.ts'
import { requirePrograms } from '../support/programs.ts'
import { type RunningService, runCommand, startService } from '../support/service.ts'
import { testProcesses } from '../support/store-processes.ts'
import { describeStore, emailsOf, expectAscending, listAll } from '../support/store-suite.ts'
import { until } from '../support/wait.ts'
import { type Pooler, startPooler } from './pgbouncer.ts'

requirePrograms({ pgbouncer: 'pgbouncer' })

const server = await getServer()
const upstream = new URL(server.admin).port

for (const mode of ['session', 'transaction'] as const) {
  for (const ignoresSettings of [false, true]) {
    const name = `${mode} mode, settings of the session are ${ignoresSettings ? 'ignored' : 'refused'}`
    const pooler = await startPooler({ mode, ignoresSettings, upstream })
    afterAll(pooler.stop)
    describe(name, () => describePooler(name, pooler))
  }
}

function describePooler(name: string, pooler: Pooler): void {
  const createUrl = async () => pooler.toUrl(await server.createUrl())

  describeStore(name, async () => ({
    async create() {
      const url = await createUrl()
      return { open: () => openStore(parseListUrl('URL', url)) }
    },
    async remove() {},
  }))

  testProcesses(name, createUrl)

  test('no confirmed address is lost when the server is killed, with synchronous_commit = off', async () => {
    const url = await createUrl()
    await server.run(`ALTER ROLE owner IN DATABASE ${toDatabase(url)} SET synchronous_commit = off`, url)
    const service = await serve(url)
    const confirmed: string[] = []
    let isOver = false
    const callers = Array.from({ length: 32 }, async (_, caller) => {
      for (let step = 0; !isOver; step++) {
        const email = `user${caller}.${step}@mail.io`
        if ((await service.subscribe(email)).status === 200) confirmed.push(email)
      }
    })
    for (let kills = 0; kills < 2; kills++) {
      const before = confirmed.length
      await until(() => confirmed.length >= before + 500, '500 addresses are confirmed')
      await server.kill()
      await server.start()
      const atStart = confirmed.length
      await until(() => confirmed.length > atStart, 'the service confirms addresses again')
    }
    isOver = true
    await Promise.all(callers)
    await service.stop()
    const all = await withStore(url, listAll)
    expectAscending(all)
    const listed = new Set<string>(emailsOf(all))
    expect(confirmed.filter((email) => !listed.has(email))).toEqual([])
  }, 180_000)

  test('while the inbox is locked, the service answers 500 in time, and leaves no session behind', async () => {
    const url = await createUrl()
    const service = await serve(url)
    await until(async () => (await service.subscribe('ann@mail.io')).status === 200, 'the service accepts an address')
    const release = await hold(url, 'LOCK TABLE rollcall.inbox IN ACCESS EXCLUSIVE MODE')
    for (let tries = 0; tries < 2; tries++) expect((await service.subscribe('bob@mail.io')).status).toBe(500)
    await service.logged('another process holds its lock (55P03)')
    expect(await countWaiting(url)).toBeLessThan(3)
    await release()
    await until(async () => (await service.subscribe('bob@mail.io')).status === 200, 'the service accepts an address')
    await service.stop()
  })

  test('doctor mentions the pooler', async () => {
    const DATABASE_URL = await createUrl()
    await withStore(DATABASE_URL, (store) => store.count())
    const { code, stdout } = await runCommand(['doctor'], { env: { DATABASE_URL } })
    expect([code, stdout]).toEqual([0, expect.stringMatching(/server.*PostgreSQL .*, behind a pooler/)])
  })
}

test('statement mode is refused', async () => {
  const pooler = await startPooler({ mode: 'statement', ignoresSettings: true, upstream })
  onTestFinished(pooler.stop)
  const { code, stderr } = await runCommand(['count'], {
    env: { DATABASE_URL: pooler.toUrl(await server.createUrl()) },
  })
  expect(code).toBe(1)
  expect(stderr).toMatch(/^rollcall: the list [^\n]+ is not in session or transaction mode \(08P01\)\n$/)
})

async function serve(url: string): Promise<RunningService> {
  const service = await startService({ env: { DATABASE_URL: url } })
  onTestFinished(async () => void (await service.stop()))
  return service
}

/** Runs a statement in a transaction of the server itself, which stays open until the returned function is called. */
async function hold(url: string, statement: string): Promise<() => Promise<void>> {
  const direct = new URL(url)
  direct.port = upstream
  const other = new SQL({ url: direct.href, max: 1 })
  const connection = await other.reserve()
  await connection.unsafe('BEGIN')
  await connection.unsafe(statement)
  return async () => {
    await connection.unsafe('COMMIT')
    connection.release()
    await other.close()
  }
}

async function countWaiting(url: string): Promise<number> {
  const [row] = await server.run<{ count: number }>(
    `SELECT count(*)::integer FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = '${toDatabase(url)}'`,
    url,
  )
  return row?.count ?? 0
}
