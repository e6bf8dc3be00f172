/** The connections to a PostgreSQL list: settings of the session, TLS, and errors without a password. */

import { expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { chmodSync, chownSync, copyFileSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { parseListUrl } from '../../../src/config/list-url.ts'
import type { Address } from '../../../src/email.ts'
import { toListName } from '../../../src/store/list-name.ts'
import { createPostgresStore } from '../../../src/store/postgres/store.ts'
import { toSupportFile } from '../../support/paths.ts'
import { getServer, PASSWORD, toDatabase, toParameters, withStore } from '../../support/postgres.ts'
import { runCommand } from '../../support/service.ts'
import { createAddresses } from '../../support/store-suite.ts'
import { until } from '../../support/wait.ts'

const server = await getServer()

test.each([
  ['off', 'on'],
  ['remote_write', 'on'],
  ['remote_apply', 'remote_apply'],
])('where the default is synchronous_commit = %s, every change commits with %s', async (given, setting) => {
  const url = await server.createUrl()
  await withStore(url, (store) => store.check())
  await server.run(
    `ALTER ROLE owner IN DATABASE ${toDatabase(url)} SET synchronous_commit = ${given};
     CREATE TABLE seen (name text, setting text);
     GRANT ALL ON seen TO PUBLIC;
     CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       INSERT INTO public.seen VALUES (TG_OP || ' ' || TG_TABLE_NAME, current_setting('synchronous_commit'));
       RETURN NULL;
     END $$;
     CREATE TRIGGER see AFTER INSERT ON rollcall.inbox EXECUTE FUNCTION see();
     CREATE TRIGGER see AFTER INSERT OR DELETE ON rollcall.subscribers EXECUTE FUNCTION see();
     CREATE TRIGGER see AFTER INSERT OR UPDATE OR DELETE ON rollcall.suppressions EXECUTE FUNCTION see();`,
    url,
  )
  await withStore(url, async (store) => {
    const addresses = createAddresses(4)
    const [ann, bob, cyd, dan] = addresses as [Address, Address, Address, Address]
    await store.add([ann])
    await store.count()
    await store.import([{ email: bob }])
    await store.remove([ann], { suppress: true })
    await store.remove([ann], { suppress: true })
    await store.remove([ann], { suppress: false })
    await store.suppress([{ email: cyd }], { removeUndated: true })
    await store.mergeSubscribers([{ seq: 1, email: dan, subscribedAt: new Date() }])
    await store.mergeSuppressions([{ key: randomBytes(32), hash: randomBytes(32), suppressedAt: new Date() }])
  })
  const rows = await server.run('SELECT name, array_agg(DISTINCT setting) AS settings FROM seen GROUP BY 1', url)
  expect(Object.fromEntries(rows.map(({ name, settings }) => [name, settings]))).toEqual({
    'INSERT inbox': [setting],
    'INSERT subscribers': [setting],
    'DELETE subscribers': [setting],
    'INSERT suppressions': [setting],
    'UPDATE suppressions': [setting],
    'DELETE suppressions': [setting],
  })
})

test('an error says in one line what is wrong, and does not show the password', async () => {
  const url = await server.createUrl()
  const silent = createServer(() => {})
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  const { port } = silent.address() as AddressInfo
  const cases = [
    [url.replace(/[0-9]+\/list/, `${port}/list`), 'the server does not answer'],
    [`${url}?hostaddr=127.0.0.1&port=${port}&connect_timeout=1`, 'the server does not answer'],
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

test('the name of a list has no user, no password and no options', () => {
  const list = parseListUrl('URL', 'postgres://ann:secret@db.example.org:5433/letters?sslmode=require&password=secret')
  expect(toListName(list)).toBe('postgres://db.example.org:5433/letters')
})

test('connections on which nothing arrives any more are replaced', async () => {
  const proxy = await startProxy(await server.createUrl())
  const store = createPostgresStore({ parameters: toParameters(proxy.url), name: 'list', hasDeadline: true })
  await until(async () => {
    await Promise.all(Array.from({ length: 3 }, () => store.count()))
    return proxy.connections() === 2
  }, 'all connections are open')
  proxy.silence()
  const checks = await Promise.allSettled(Array.from({ length: 3 }, () => store.check()))
  expect(checks.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  await store.check()
  await store.close()
  proxy.close()
})

test('the URL decides about TLS', async () => {
  const url = await server.createUrl()
  await enableTls()
  const named = url.replace('127.0.0.1', 'localhost')
  const trusting = `sslmode=verify-full&sslrootcert=${toSupportFile('certificate/localhost.crt')}`
  await until(() => isEncrypted(`${named}?sslmode=prefer`), 'the server offers TLS')
  expect(await isEncrypted(url)).toBe(false)
  expect(await isEncrypted(`${named}?sslmode=disable`)).toBe(false)
  expect(await isEncrypted(`${named}?sslmode=require`)).toBe(true)
  expect(await isEncrypted(`${named}?${trusting}`)).toBe(true)
  // The name in the certificate does not count, or is not the one that is looked up.
  expect(await isEncrypted(`${url}?${trusting.replace('verify-full', 'verify-ca')}`)).toBe(true)
  expect(await isEncrypted(`${url.replace('127.0.0.1', 'localhost')}?hostaddr=127.0.0.1&${trusting}`)).toBe(true)
  for (const untrusted of [`${named}?sslmode=verify-full`, `${url}?${trusting}`]) {
    const checked = withStore(untrusted, (store) => store.check())
    await expect(checked).rejects.toThrow('the certificate of the server is not trusted')
  }
})

test('the URL has the certificate of the client', async () => {
  const url = await server.createUrl()
  await enableTls()
  const rules = join(server.data, 'pg_hba.conf')
  const rule = `hostssl ${toDatabase(url)} all 127.0.0.1/32 scram-sha-256 clientcert=verify-ca\n`
  writeFileSync(rules, rule + readFileSync(rules, 'utf8'))
  await server.run("ALTER SYSTEM SET ssl_ca_file = 'server.crt'", server.admin)
  await server.run('SELECT pg_reload_conf()', server.admin)
  const check = (query: string) => withStore(`${url}?sslmode=require${query}`, (store) => store.check())
  const [certificate, key] = ['crt', 'key'].map((extension) => toSupportFile(`certificate/localhost.${extension}`))
  await until(
    () =>
      check('').then(
        () => false,
        (error) => String(error).includes('the server refuses the user'),
      ),
    'the server asks for a certificate',
  )
  await check(`&sslcert=${certificate}&sslkey=${key}`)
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

function isEncrypted(url: string): Promise<boolean> {
  return withStore(url, async (store) => {
    await store.check()
    const rows = await server.run(
      `SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
       WHERE application_name = 'rollcall' AND datname = '${toDatabase(url)}'`,
      url,
    )
    return rows.every(({ ssl }) => ssl === true)
  })
}

/** Starts a proxy that can keep its connections open without passing anything on, as a broken network does. */
async function startProxy(url: string) {
  const pairs: [Socket, Socket][] = []
  const listener = createServer((client) => {
    const upstream = connect(Number(new URL(url).port), '127.0.0.1')
    client.pipe(upstream).pipe(client)
    for (const socket of [client, upstream]) socket.on('error', () => {})
    pairs.push([client, upstream])
  })
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  const address = listener.address()
  const proxied = new URL(url)
  if (address !== null && typeof address === 'object') proxied.port = String(address.port)
  return {
    url: proxied.href,
    connections: () => pairs.length,
    silence() {
      for (const [client, upstream] of pairs) {
        client.unpipe().pause()
        upstream.unpipe().pause()
      }
    },
    close() {
      for (const socket of pairs.flat()) socket.destroy()
      listener.close()
    },
  }
}
