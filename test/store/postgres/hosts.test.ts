/** A URL with several hosts: the list is found on the server that fits, also after a failover. */

import { afterAll, expect, test } from 'bun:test'
import type { Address } from '../../../src/email.ts'
import { STORE_DEADLINE_MS } from '../../../src/limits.ts'
import { createPostgresStore } from '../../../src/store/postgres/store.ts'
import type { SubscriberStore } from '../../../src/subscriber.ts'
import { PASSWORD, toParameters, withStore } from '../../support/postgres.ts'
import { createPair, runOn, tryPromote } from '../../support/postgres-pair.ts'
import { findPort } from '../../support/postgres-process.ts'
import { runCommand, startService } from '../../support/service.ts'
import { toAddress } from '../../support/store-suite.ts'
import { until } from '../../support/wait.ts'

const cleanups: (() => unknown)[] = []
afterAll(async () => {
  for (const cleanup of cleanups.toReversed()) await cleanup()
})

const pair = await createPair()
cleanups.push(pair.end)
const { ports } = pair
const nobody = await findPort()
pair.copyToStandby()
const primary = await pair.start(pair.data, ports.primary)
const standby = await pair.start(pair.copy, ports.standby)

/** The URL of the list with some hosts, by their ports. */
function toUrl(hosts: readonly number[], target?: string): string {
  const parameters = target ? `?target_session_attrs=${target}` : ''
  return `postgres://postgres:${PASSWORD}@${hosts.map((port) => `127.0.0.1:${port}`).join(',')}/postgres${parameters}`
}

function openServiceStore(url: string): SubscriberStore {
  const store = createPostgresStore({ parameters: toParameters(url), name: 'list', hasDeadline: true })
  cleanups.push(() => store.close())
  return store
}

const [ADA, BOB, CYD] = [toAddress('ada@mail.io'), toAddress('bob@mail.io'), toAddress('cyd@mail.io')] as const

test('the name of a list has all hosts', async () => {
  const { code, stderr } = await runCommand(['count'], { env: { DATABASE_URL: toUrl([nobody, nobody]) } })
  expect(code).toBe(1)
  const list = `postgres://127.0.0.1:${nobody},127.0.0.1:${nobody}/postgres`
  const reason = `127.0.0.1:${nobody}: the server cannot be reached (ERR_POSTGRES_CONNECTION_REFUSED)`
  expect(stderr).toBe(`rollcall: the list ${list} cannot be used: no host can be used (${reason}; ${reason})\n`)
})

test('the first host that fits is used', async () => {
  await withStore(toUrl([nobody, ports.standby, ports.primary], 'read-write'), (store) => store.add([ADA]))
  await withStore(toUrl([ports.primary]), (store) => store.count())
  const count = 'SELECT count(*)::integer AS value FROM rollcall.subscribers'
  const pairUrl = pair.toUrl(ports.standby)
  await until(async () => (await runOn<number>(pairUrl, count).catch(() => 0)) === 1, 'the standby has the address')
  const ids = {
    primary: await withStore(toUrl([ports.primary]), (store) => store.id()),
    standby: await withStore(toUrl([ports.standby]), (store) => store.id()),
  }
  const both = [ports.standby, ports.primary]
  for (const [hosts, target, expected] of [
    [both, undefined, 'standby'],
    [both, 'any', 'standby'],
    [both, 'read-write', 'primary'],
    [both, 'primary', 'primary'],
    [both.toReversed(), 'any', 'primary'],
    [both.toReversed(), 'read-only', 'standby'],
    [both.toReversed(), 'standby', 'standby'],
    [both.toReversed(), 'prefer-standby', 'standby'],
    [[nobody, ports.primary], 'prefer-standby', 'primary'],
  ] as const) {
    expect(await withStore(toUrl(hosts, target), (store) => store.id())).toBe(ids[expected])
  }
})

test('no host fits', async () => {
  const opened = withStore(toUrl([ports.standby], 'read-write'), (store) => store.check())
  await expect(opened).rejects.toThrow('cannot be used: it is a standby, and target_session_attrs is read-write')
})

test('hosts that hang do not use up the deadline', async () => {
  // The system still accepts connections, and no process answers on them.
  standby.kill('SIGSTOP')
  try {
    const start = performance.now()
    const url = toUrl([ports.standby, ports.standby, ports.primary], 'read-write')
    await openServiceStore(url).check()
    expect(performance.now() - start).toBeLessThan(STORE_DEADLINE_MS)
  } finally {
    standby.kill('SIGCONT')
  }
})

test('a living connection whose server becomes read-only is replaced, and so is one to a server that is killed', async () => {
  const url = toUrl([ports.primary, ports.standby], 'read-write')
  const store = openServiceStore(url)
  await store.add([BOB])
  const service = await startService({ env: { DATABASE_URL: url } })
  cleanups.push(() => service.stop())
  expect((await service.subscribe('dora@mail.io')).status).toBe(200)
  await until(hasReplayed, 'the standby has everything')

  await runOn(pair.toUrl(ports.primary), 'ALTER SYSTEM SET default_transaction_read_only = on')
  await runOn(pair.toUrl(ports.primary), 'SELECT pg_reload_conf() AS value')
  await until(() => tryAdd(store, BOB).then((isAdded) => !isAdded), 'the primary is read-only')
  await until(() => tryPromote(pair.toUrl(ports.standby)), 'the standby is promoted')
  await until(() => tryAdd(store, CYD), 'the store uses the new primary')

  await pair.stop(primary, 'SIGKILL')
  await until(async () => (await service.subscribe('emil@mail.io')).status === 200, 'the service uses the new primary')
  const { stdout } = await runCommand(['export', '--format', 'txt'], { env: { DATABASE_URL: url } })
  const emails = stdout.split('\n')
  for (const email of [BOB, CYD, 'dora@mail.io', 'emil@mail.io']) expect(emails).toContain(email)
})

async function hasReplayed(): Promise<boolean> {
  const [sent, replayed] = await Promise.all([
    runOn<string>(pair.toUrl(ports.primary), 'SELECT pg_current_wal_lsn()::text AS value'),
    runOn<string>(pair.toUrl(ports.standby), 'SELECT pg_last_wal_replay_lsn()::text AS value'),
  ])
  return sent === replayed
}

async function tryAdd(store: SubscriberStore, address: Address): Promise<boolean> {
  return await store.add([address]).then(
    () => true,
    () => false,
  )
}
