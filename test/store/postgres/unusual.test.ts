/** A list with unusual settings, without a permission or without its row: one clear message, and no endless loop. */

import { afterEach, expect, test } from 'bun:test'
import type { Address } from '../../../src/email.ts'
import { getServer, PASSWORD, toDatabase, withStore } from '../../support/postgres.ts'
import { type RunningService, runCommand, startService } from '../../support/service.ts'
import { createAddresses, emailsOf, listAll, toAddresses } from '../../support/store-suite.ts'
import { until } from '../../support/wait.ts'

const server = await getServer()
const services: RunningService[] = []

afterEach(async () => {
  for (const service of services.splice(0)) await service.stop()
})

async function createList(): Promise<string> {
  const url = await server.createUrl()
  await withStore(url, async (store) => {
    await store.add(createAddresses(3))
    await store.remove(createAddresses(1), { suppress: true })
  })
  return url
}

async function serve(url: string): Promise<RunningService> {
  const service = await startService({ env: { DATABASE_URL: url, OPS_PORT: '0' } })
  services.push(service)
  return service
}

const readiness = async ({ opsPort }: RunningService) => (await fetch(`http://127.0.0.1:${opsPort}/readyz`)).status

/** Runs every kind of command, and returns their messages. */
async function runCommands(url: string): Promise<readonly string[]> {
  const commands = [['count'], ['export'], ['import', '-'], ['remove', 'ann@site.io']]
  const results = await Promise.all(
    commands.map((args) => runCommand(args, { env: { DATABASE_URL: url }, stdin: 'ann@site.io\n' })),
  )
  expect(results.map(({ code, stderr }) => [code, stderr.split('\n').length])).toEqual(commands.map(() => [1, 2]))
  return results.map(({ stderr }) => stderr)
}

test('a user with other formats of bytes, dates and times', async () => {
  const url = await createList()
  const settings = ['bytea_output = escape', "DateStyle = 'SQL, DMY'", "TimeZone = 'Asia/Kolkata'"]
  for (const setting of settings) {
    await server.run(`ALTER ROLE owner IN DATABASE ${toDatabase(url)} SET ${setting}`, url)
  }
  await withStore(url, async (store) => {
    const ann = toAddresses('ann@site.io')
    await store.import([{ email: ann[0] as Address, subscribedAt: new Date('2026-02-01T20:00:00.123Z') }])
    expect((await store.find(ann[0] as Address))?.subscribedAt).toEqual(new Date('2026-02-01T20:00:00.123Z'))
    const start = Date.now()
    expect(await store.remove(ann, { suppress: true })).toEqual(['subscribed'])
    expect(await store.lookUp([...ann, ...createAddresses(1)])).toEqual(['suppressed', 'suppressed'])
    const dates = (await Array.fromAsync(store.listSuppressions())).flat().map(({ suppressedAt }) => suppressedAt)
    expect(Math.max(...dates.map(Number))).toBeWithin(start - 1000, Date.now() + 1000)
  })
})

const NO_ROW = 'its table rollcall.list has no row: restore the row, or the list, from a backup'

test('the row of the list is gone: commands and the service say so, and what was accepted stays', async () => {
  const url = await createList()
  const service = await serve(url)
  expect((await service.subscribe('ann@site.io')).status).toBe(200)
  await withStore(url, (store) => store.count())
  await server.run('CREATE TABLE saved AS SELECT * FROM rollcall.list; DELETE FROM rollcall.list', url)
  for (const message of await runCommands(url)) expect(message).toContain(NO_ROW)
  // The inbox needs no row.
  expect((await service.subscribe('bob@site.io')).status).toBe(200)
  await service.logged('compaction fails')
  expect(service.log()).toContain(NO_ROW)
  const before = await countTransactions(url)
  await Bun.sleep(1000)
  expect((await countTransactions(url)) - before).toBeLessThan(50)
  await server.run('INSERT INTO rollcall.list SELECT * FROM saved', url)
  await service.logged('compaction works again')
  expect(service.log().match(/compaction fails/g)).toHaveLength(1)
  expect(emailsOf(await withStore(url, listAll)).slice(-2)).toEqual(toAddresses('ann@site.io', 'bob@site.io'))
})

async function countTransactions(url: string): Promise<number> {
  const [row] = await server.run<{ count: number }>(
    `SELECT (xact_commit + xact_rollback)::float8 AS count FROM pg_stat_database WHERE datname = '${toDatabase(url)}'`,
    server.admin,
  )
  return row?.count ?? 0
}

test('a next number that is behind the list is not given out', async () => {
  const url = await createList()
  await server.run('UPDATE rollcall.list SET next_seq = 1', url)
  await withStore(url, async (store) => {
    await store.add(toAddresses('ann@site.io'))
    const list = await listAll(store, { after: 3 })
    expect(emailsOf(list)).toEqual(toAddresses('ann@site.io'))
  })
})

test.each([
  ['UPDATE ON rollcall.list', 'UPDATE on rollcall.list'],
  ['SELECT, DELETE ON rollcall.inbox', 'SELECT on rollcall.inbox, DELETE on rollcall.inbox'],
  ['USAGE ON SCHEMA rollcall', 'USAGE on the schema rollcall'],
])('a user without %s: the service is not ready, and the message names it', async (permissions, missing) => {
  const url = await createList()
  await server.run(
    `REASSIGN OWNED BY owner TO postgres;
     GRANT USAGE ON SCHEMA rollcall TO owner; GRANT ALL ON ALL TABLES IN SCHEMA rollcall TO owner;
     REVOKE ${permissions} FROM owner`,
    url,
  )
  const service = await serve(url)
  await service.logged(`the user lacks a permission: grant ${missing}`)
  await until(async () => (await readiness(service)) === 503, 'the service is not ready')
  const { code, stderr } = await runCommand(['import', '-'], { env: { DATABASE_URL: url }, stdin: 'ann@site.io\n' })
  expect([code, stderr]).toEqual([1, expect.stringContaining(`lacks a permission: grant ${missing}\n`)])
  const doctor = await runCommand(['doctor', '--json'], { env: { DATABASE_URL: url } })
  expect([doctor.code, doctor.stdout]).toEqual([1, expect.stringContaining(`grant ${missing}"`)])
  expect(stderr + service.log()).not.toContain(PASSWORD)
})
