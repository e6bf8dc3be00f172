/** Commands on a hot standby: they read what is compacted, and say how much is missing. */

import { afterAll, expect, test } from 'bun:test'
import { withStore } from '../../support/postgres.ts'
import { createPair, runOn } from '../../support/postgres-pair.ts'
import { runCommand } from '../../support/service.ts'
import { toAddresses } from '../../support/store-suite.ts'
import { until } from '../../support/wait.ts'

const pair = await createPair()
afterAll(pair.end)
const { ports, toUrl } = pair
pair.copyToStandby()
await pair.start(pair.data, ports.primary)
await pair.start(pair.copy, ports.standby)

const NOTE = 'the database is read-only, such as a standby: up to 3 addresses are missing, because'

function run(...args: string[]) {
  return runCommand(args, { env: { DATABASE_URL: toUrl(ports.standby) } })
}

async function hasRows(count: number, table: string): Promise<boolean> {
  const statement = `SELECT count(*)::integer = ${count} AS value FROM rollcall.${table}`
  return (await runOn<boolean>(toUrl(ports.standby), statement).catch(() => false)) === true
}

test('export, count and status read what is compacted, and say how many addresses are missing', async () => {
  await withStore(toUrl(ports.primary), async (store) => {
    await store.add(toAddresses('ada@mail.io', 'bob@mail.io'))
    await store.count()
    await until(() => hasRows(2, 'subscribers'), 'the standby has the list')
    await until(() => hasRows(0, 'inbox'), 'the inbox of the standby is empty')
  })
  expect(await run('count')).toEqual({ code: 0, stdout: '2\n', stderr: '' })

  await withStore(toUrl(ports.primary), async (store) => {
    await store.add(toAddresses('cyd@mail.io'))
    await store.add(toAddresses('ADA@mail.io', 'dora@mail.io'))
  })
  await until(() => hasRows(2, 'inbox'), 'the standby has the inbox')
  const exported = await run('export', '--format', 'txt')
  expect([exported.code, exported.stdout]).toEqual([0, 'ada@mail.io\nbob@mail.io\n'])
  expect(exported.stderr.split(NOTE)).toHaveLength(2)
  expect(await run('count')).toEqual({ code: 0, stdout: '2\n', stderr: expect.stringContaining(NOTE) })
  const status = await run('status')
  expect([status.code, status.stderr]).toEqual([1, expect.stringContaining(NOTE)])
  expect(status.stdout).toMatch(/^writable +no: .*the database is read-only$/m)

  await withStore(toUrl(ports.primary), (store) => store.count())
  await until(() => hasRows(4, 'subscribers'), 'the standby has the whole list')
  await until(() => hasRows(0, 'inbox'), 'the inbox of the standby is empty')
  expect(await run('count')).toEqual({ code: 0, stdout: '4\n', stderr: '' })
})

test('rows that are not visible yet count as missing', async () => {
  await runOn(toUrl(ports.primary), 'UPDATE rollcall.list SET visible_seq = visible_seq - 1')
  const invisible = `SELECT visible_seq < next_seq - 1 AS value FROM rollcall.list`
  await until(
    async () => (await runOn<boolean>(toUrl(ports.standby), invisible)) === true,
    'the standby has the change',
  )
  const { code, stdout, stderr } = await run('export', '--format', 'txt')
  expect([code, stdout.split('\n').length - 1]).toEqual([0, 3])
  expect(stderr).toContain('1 address is missing')
})
