/** Where the addresses of a URL go, and how: no variable of the machine changes it, and no message has a password. */

import { afterEach, expect, onTestFinished, test } from 'bun:test'
import { chmodSync, chownSync, copyFileSync, statSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { dirname, join } from 'node:path'
import { createLog } from '../../../src/log.ts'
import { toServerError } from '../../../src/store/postgres/error.ts'
import { openPostgresServiceStore } from '../../../src/store/postgres/store.ts'
import type { ServiceStore } from '../../../src/subscriber.ts'
import { toSupportFile } from '../../support/paths.ts'
import { getServer, PASSWORD, toDatabase, toServer, withStore } from '../../support/postgres.ts'
import { runCommand } from '../../support/service.ts'
import { until } from '../../support/wait.ts'
import { createAddresses } from '../suite.ts'

const server = await getServer()
const before = { ...process.env }

afterEach(() => {
  for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name]
  Object.assign(process.env, before)
})

async function createList(addresses: number): Promise<string> {
  const url = await server.createUrl()
  await withStore(url, (store) => store.add(createAddresses(addresses)))
  return url
}

/** Every variable that Bun's client or libpq reads, with a value that leads elsewhere or to an error. */
function toVariables(other: string): readonly (readonly [name: string, value: string])[] {
  const parts = { HOST: '192.0.2.1', PORT: '1', USER: 'nobody', PASSWORD: 'wrong', SSLMODE: 'verify-full' }
  const bun = Object.entries({ ...parts, DATABASE: toDatabase(other) })
  const plain = ['DATABASE_URL', 'DATABASEURL', 'POSTGRES_URL', 'PGURL', 'PG_URL', 'MYSQL_URL', 'SQLITE_URL']
  const urls = [...plain, 'TLS_DATABASE_URL', 'TLS_POSTGRES_DATABASE_URL', 'TLS_MYSQL_DATABASE_URL']
  const names = ['PGHOSTADDR', 'PGUSERNAME', 'USER', 'USERNAME', 'PGSSLROOTCERT', 'PGSSLCERT', 'PGSSLKEY', 'PGPASSFILE']
  const libpq = [...names, 'PGCHANNELBINDING', 'PGAPPNAME', 'PGCONNECT_TIMEOUT', 'PGTARGETSESSIONATTRS', 'PGSERVICE']
  return [
    ...bun.map(([name, value]) => [`PG${name}`, value] as const),
    ...bun.map(([name, value]) => [`PG_${name}`, value] as const),
    ...urls.map((name) => [name, `${other}?options=-c%20no.such=1&no_such=1`] as const),
    ...libpq.map((name) => [name, '/missing'] as const),
  ]
}

test('each variable alone, and all of them: the list is that of the URL', async () => {
  const [url, other] = [await createList(2), await createList(1)]
  const variables = toVariables(other)
  for (const given of [...variables.map((variable) => [variable]), variables]) {
    Object.assign(process.env, Object.fromEntries(given))
    const names = given.map(([name]) => name).join()
    const found = await withStore(url, (store) => store.count()).catch(String)
    expect([names, found]).toEqual([names, { subscribers: 2, reserved: 0, suppressed: 0 }])
    for (const name of given.map(([name]) => name)) delete process.env[name]
  }
})

test.each([
  ['PGOPTIONS', 'PGOPTIONS is set, and the server would get it: unset it'],
  ['PGSSLMODE', 'PGSSLMODE is not one of disable'],
  ['PG_SSLMODE', 'PG_SSLMODE is not one of disable'],
])('%s, which the client reads although the URL decides, is refused', async (name, message) => {
  const { code, stderr } = await runCommand(['count'], { env: { DATABASE_URL: server.admin, [name]: 'hunter2' } })
  expect([code, stderr]).toEqual([2, expect.stringContaining(message)])
  expect(stderr).not.toContain('hunter2')
})

test('an error says in one line what is wrong, and does not show the password', async () => {
  const url = await server.createUrl()
  const silent = createServer(() => {})
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  const { port } = silent.address() as AddressInfo
  const cases = [
    [url.replace(/[0-9]+\/list/, `${port}/list`), 'the server does not answer'],
    [url.replace('127.0.0.1', 'nobody.invalid'), 'the server cannot be reached'],
    [url.replace('127.0.0.1', '%2Fmissing'), 'the server cannot be reached'],
    [url.replace(/[0-9]+\/list/, '1/list'), 'the server cannot be reached'],
    [url.replace(PASSWORD, `${PASSWORD}no`), 'the server refuses the user or the password'],
    [`${url}_missing`, 'the server has no such database'],
    [`${url}?sslmode=require`, 'the server does not support TLS'],
  ] as const
  const results = await Promise.all(cases.map(([DATABASE_URL]) => runCommand(['count'], { env: { DATABASE_URL } })))
  for (const [index, { code, stdout, stderr }] of results.entries()) {
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(/^rollcall: the list postgres:\/\/[^\n]+\n$/)
    expect(stderr).toContain(cases[index]![1])
    expect(stderr).not.toContain(PASSWORD)
  }
  silent.close()
})

test('the folder of a Unix socket takes the place of the host', async () => {
  const url = await createList(2)
  const folder = encodeURIComponent(dirname(server.data))
  expect(await withStore(url.replace('127.0.0.1', folder), (store) => store.count())).toMatchObject({ subscribers: 2 })
})

test('the URL decides about TLS', async () => {
  const url = await createList(1)
  await enableTls()
  const named = url.replace('127.0.0.1', 'localhost')
  const trusting = `sslmode=verify-full&sslrootcert=${toSupportFile('certificate/localhost.crt')}`
  await until(() => isEncrypted(`${named}?sslmode=prefer`), 'the server offers TLS')
  expect(await isEncrypted(url)).toBe(false)
  expect(await isEncrypted(`${named}?sslmode=disable`)).toBe(false)
  expect(await isEncrypted(`${named}?sslmode=require&channel_binding=require`)).toBe(true)
  expect(await isEncrypted(`${named}?${trusting}`)).toBe(true)
  // The name in the certificate does not count.
  expect(await isEncrypted(`${url}?${trusting.replace('verify-full', 'verify-ca')}`)).toBe(true)
  for (const untrusted of [`${named}?sslmode=verify-full`, `${url}?${trusting}`]) {
    const checked = withStore(untrusted, (store) => store.ready())
    await expect(checked).rejects.toThrow('the certificate of the server is not trusted')
  }
})

async function enableTls(): Promise<void> {
  const { uid, gid } = statSync(server.data)
  for (const extension of ['crt', 'key']) {
    const copy = join(server.data, `server.${extension}`)
    copyFileSync(toSupportFile(`certificate/localhost.${extension}`), copy)
    chownSync(copy, uid, gid)
    // The server refuses a key that other users can read.
    chmodSync(copy, 0o600)
  }
  await server.run('ALTER SYSTEM SET ssl = on', server.admin)
  await server.run('SELECT pg_reload_conf()', server.admin)
}

async function isEncrypted(url: string): Promise<boolean> {
  // A connection that the last call closed may not have ended yet.
  await server.disconnect(url)
  return withStore(url, async (store) => {
    await store.ready()
    const rows = await server.run(
      `SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
       WHERE application_name = 'rollcall' AND datname = '${toDatabase(url)}'`,
      url,
    )
    return rows.every(({ ssl }) => ssl === true)
  })
}

/** A proxy before the server of a URL, as a firewall or a load balancer is. */
interface Proxy {
  /** The URL that leads through it. */
  readonly url: string
  /** The connections of clients that are open. */
  readonly open: Set<Socket>
  /** From now on, its present connections pass nothing on. */
  silence(): void
  /** It has forgotten its present connections: each is reset when something arrives on it. */
  forget(): void
}

async function startProxy(url: string): Promise<Proxy> {
  const open = new Set<Socket>()
  const upstreams: Socket[] = []
  const proxy = createServer((client) => {
    const upstream = connect(Number(new URL(url).port), '127.0.0.1')
    client.pipe(upstream).pipe(client)
    for (const socket of [client, upstream]) socket.on('error', () => {})
    open.add(client)
    upstreams.push(upstream)
    client.on('close', () => open.delete(client))
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of [...open, ...upstreams]) socket.destroy()
    proxy.close()
  })
  const proxied = new URL(url)
  proxied.port = String((proxy.address() as AddressInfo).port)
  return {
    url: proxied.href,
    open,
    silence() {
      for (const socket of [...open, ...upstreams]) socket.unpipe().pause()
    },
    forget() {
      for (const socket of open)
        socket
          .unpipe()
          .resume()
          .once('data', () => socket.resetAndDestroy())
    },
  }
}

function openService(proxy: Proxy): ServiceStore {
  const store = openPostgresServiceStore(toServer(proxy.url), createLog('silent'))
  onTestFinished(() => store.close())
  return store
}

test('connections on which nothing arrives any more are given up and replaced', async () => {
  const proxy = await startProxy(await createList(1))
  const store = openService(proxy)
  await store.ready()
  proxy.silence()
  const start = performance.now()
  await expect(store.probe()).rejects.toThrow('the server does not answer')
  // It ends before the intake gives up. The rest is for a busy machine.
  expect(performance.now() - start).toBeWithin(3_000, 9_000)
  await store.probe()
})

test('idle connections are closed before a firewall forgets them', async () => {
  const proxy = await startProxy(await createList(1))
  const store = openService(proxy)
  await store.add(createAddresses(1))
  expect(proxy.open.size).toBeGreaterThan(0)
  await until(() => proxy.open.size === 0, 'every idle connection is closed')
  await store.add(createAddresses(1))
})

test('a transaction that stands still keeps its connection', async () => {
  const proxy = await startProxy(await createList(2))
  await withStore(proxy.url, async (store) => {
    await using snapshot = await store.snapshot()
    const open = () => proxy.open.size
    // What else was open is closed, and the connection of the transaction is not.
    await until(() => open() === 1, 'the idle connections are closed')
    // The time is the subject: an idle connection is closed after 2 s.
    await Bun.sleep(2_500)
    expect(open()).toBe(1)
    expect((await Array.fromAsync(snapshot.subscribers)).flat().length).toBe(2)
  })
})

test('an address whose connection was forgotten is sent once more', async () => {
  const proxy = await startProxy(await createList(1))
  const store = openService(proxy)
  await store.ready()
  proxy.forget()
  await store.add(createAddresses(2))
  proxy.forget()
  await store.ready()
  await store.close()
  expect(await withStore(proxy.url, (list) => list.count())).toMatchObject({ subscribers: 2 })
})

test('a defect of our own is not told as an error of the server alone: the log gets its cause', () => {
  const defect = new TypeError('rows is not iterable')
  const { message, cause } = toServerError('postgres://db/news', defect)
  expect(message).toBe('the list postgres://db/news cannot be used: an error of Rollcall itself (TypeError)')
  expect(cause).toBe(defect)
  // The message of the server may have an address in it.
  const ofServer = Object.assign(new Error('row ada@site.io'), { code: 'ERR_POSTGRES_CONNECTION_CLOSED' })
  expect(toServerError('postgres://db/news', ofServer).cause).toBeUndefined()
})
