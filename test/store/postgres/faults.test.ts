/** The service while PostgreSQL fails: it answers 500, serves documents, and recovers by itself. The deadline: test/intake. */

import { afterEach, expect, test } from 'bun:test'
import { getServer, holdTransaction, PASSWORD, toDatabase, withStore } from '../../support/postgres.ts'
import { type RunningService, startService } from '../../support/service.ts'
import { until } from '../../support/wait.ts'
import { emailsOf, expectAscending, listAll, toAddress } from '../suite.ts'

const server = await getServer()
const cleanups: (() => unknown)[] = []

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
})

async function serve(url: string): Promise<RunningService> {
  const service = await startService({ env: { DATABASE_URL: url, OPS_PORT: '0' } })
  cleanups.push(async () => {
    await service.stop()
    expect(service.log()).not.toContain(PASSWORD)
  })
  return service
}

/** Posts an address while the list fails: the service answers 500, and serves documents meanwhile. */
async function expectFailure(service: RunningService): Promise<void> {
  const start = performance.now()
  let isOver = false
  const posting = service.subscribe('lost@mail.io').finally(() => {
    isOver = true
  })
  while (!isOver) {
    expect((await service.request('/openapi.json')).status).toBe(200)
    await Promise.race([posting, Bun.sleep(100)])
  }
  const { status, body } = await posting
  expect([status, JSON.parse(body).message]).toEqual([500, 'storage_failure'])
  // 5 s are promised. The rest is for a busy machine.
  expect(performance.now() - start).toBeLessThan(8_000)
}

async function expectRecovery(service: RunningService): Promise<void> {
  await until(async () => (await service.subscribe('found@mail.io')).status === 200, 'the service accepts an address')
  await until(async () => (await readiness(service)) === 200, 'the service is ready')
}

async function readiness(service: RunningService): Promise<number> {
  return (await service.ops('/readyz')).status
}

test('the server is down when the service starts', async () => {
  const url = await server.createUrl()
  await server.kill()
  const service = await serve(url)
  await expectFailure(service)
  expect(await readiness(service)).toBe(503)
  await server.start()
  await expectRecovery(service)
  expect(emailsOf(await withStore(url, listAll))).toContain(toAddress('found@mail.io'))
})

test('the server is killed under load: no confirmed address is lost or listed twice', async () => {
  const url = await server.createUrl()
  const service = await serve(url)
  const confirmed: string[] = []
  let failures = 0
  let isOver = false
  const callers = Array.from({ length: 16 }, async (_, caller) => {
    for (let step = 0; !isOver; step++) {
      // Every second address is posted by all callers.
      const email = step % 2 ? `user${caller}.${step}@mail.io` : `all${step}@mail.io`
      const { status } = await service.subscribe(email)
      if (status === 200) confirmed.push(email)
      else failures++
    }
  })
  for (let kills = 0; kills < 2; kills++) {
    const [confirmedBefore, failuresBefore] = [confirmed.length, failures]
    await until(() => confirmed.length >= confirmedBefore + 300, '300 addresses are confirmed')
    await server.kill()
    await until(() => failures > failuresBefore, 'a caller gets an error')
    await server.start()
    await expectRecovery(service)
  }
  isOver = true
  await Promise.all(callers)
  const all = await withStore(url, listAll)
  expectAscending(all)
  const listed = new Set<string>(emailsOf(all))
  expect(confirmed.filter((email) => !listed.has(email))).toEqual([])
})

interface Fault {
  /** Begins it, and returns what ends it. */
  begin(url: string): Promise<() => unknown>
  /** Why the service fails, as its log says. */
  readonly reason: string
}

const FAULTS: Readonly<Record<string, Fault>> = {
  'another process locks the inbox': {
    begin: (url) => holdTransaction(url, 'LOCK TABLE rollcall.inbox IN ACCESS EXCLUSIVE MODE'),
    reason: 'the server does not answer',
  },
  'the server does not answer': { begin: () => server.freeze(), reason: 'the server does not answer' },
  'the database takes no connections': {
    begin: (url) => change(url, 'CONNECTION LIMIT 0', 'CONNECTION LIMIT -1'),
    reason: 'the server has no connection left',
  },
  'the server is read-only, as after a failover': {
    begin: (url) => change(url, 'SET default_transaction_read_only = on', 'SET default_transaction_read_only = off'),
    reason: 'the database is read-only',
  },
  'the user may no longer add': {
    async begin(url) {
      await server.run('REVOKE INSERT ON rollcall.inbox FROM owner', url)
      return () => server.run('GRANT INSERT ON rollcall.inbox TO owner', url)
    },
    reason: 'permission denied for table inbox (42501)',
  },
  // The error of a full disk, where the row is written.
  'the disk of the server is full': {
    async begin(url) {
      await server.run(
        `CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
           RAISE EXCEPTION 'could not extend file for %', NEW.addresses USING ERRCODE = '53100';
         END $$;
         CREATE TRIGGER full_disk BEFORE INSERT ON rollcall.inbox FOR EACH ROW EXECUTE FUNCTION fill();`,
        url,
      )
      return () => server.run('DROP TRIGGER IF EXISTS full_disk ON rollcall.inbox', url)
    },
    reason: 'the disk is full (53100)',
  },
}

/** Changes a database, and again at the end. Its connections are closed each time, as by a failover. */
async function change(url: string, first: string, last: string): Promise<() => unknown> {
  const alter = async (setting: string) => {
    await server.run(`ALTER DATABASE ${toDatabase(url)} ${setting}`, server.admin)
    await server.disconnect(url)
  }
  await alter(first)
  return () => alter(last)
}

test.each(Object.entries(FAULTS))('%s', async (_, { begin, reason }) => {
  const url = await server.createUrl()
  const service = await serve(url)
  await expectRecovery(service)
  const end = await begin(url)
  cleanups.push(end)
  await expectFailure(service)
  // On a new connection, if the first one was lost.
  await expectFailure(service)
  expect(await readiness(service)).toBe(503)
  await service.logged(reason)
  await end()
  await expectRecovery(service)
})
