/** No variable of the environment changes where the addresses of a URL go. Bun's client reads many of them by itself. */

import { afterEach, expect, test } from 'bun:test'
import { getServer, PASSWORD, toDatabase, withStore } from '../../support/postgres.ts'
import { runCommand } from '../../support/service.ts'
import { createAddresses } from '../../support/store-suite.ts'

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
function toVariables(other: string): readonly (readonly [string, string])[] {
  const parts = {
    HOST: '192.0.2.1',
    PORT: '1',
    USER: 'nobody',
    PASSWORD: 'wrong',
    DATABASE: toDatabase(other),
    SSLMODE: 'verify-full',
  }
  const urls = ['DATABASE_URL', 'DATABASEURL', 'POSTGRES_URL', 'PGURL', 'PG_URL', 'MYSQL_URL', 'SQLITE_URL']
  const tlsUrls = ['TLS_DATABASE_URL', 'TLS_POSTGRES_DATABASE_URL', 'TLS_MYSQL_DATABASE_URL']
  return [
    ...Object.entries(parts).flatMap(([name, value]) => [
      [`PG${name}`, value] as const,
      [`PG_${name}`, value] as const,
    ]),
    ...[...urls, ...tlsUrls].map((name) => [name, `${other}?options=-c%20no.such=1&no_such=1`] as const),
    ['PGHOSTADDR', '192.0.2.1'],
    ['PGUSERNAME', 'nobody'],
    ['USER', 'nobody'],
    ['USERNAME', 'nobody'],
    ['PGSSLROOTCERT', '/missing'],
    ['PGSSLCERT', '/missing'],
    ['PGSSLKEY', '/missing'],
    ['PGCHANNELBINDING', 'require'],
    ['PGAPPNAME', 'other'],
    ['PGOPTIONS', '-c no_such=1'],
    ['PGCONNECT_TIMEOUT', 'soon'],
    ['PGTARGETSESSIONATTRS', 'standby'],
    ['PGSERVICE', 'other'],
    ['PGPASSFILE', '/missing'],
  ]
}

test('each variable alone, and all of them: the list is that of the URL', async () => {
  const [list, other] = [await createList(2), await createList(1)]
  const url = `${list}?sslmode=disable&options=-c%20work_mem=8MB&application_name=mine&connect_timeout=3&target_session_attrs=any&channel_binding=disable`
  const variables = toVariables(other)
  for (const given of [...variables.map((variable) => [variable]), variables]) {
    Object.assign(process.env, Object.fromEntries(given))
    const names = given.map(([name]) => name).join()
    const found = await withStore(url, (store) => store.count()).catch(String)
    expect([names, found]).toEqual([names, { subscribers: 2, reserved: 0, suppressed: 0 }])
    for (const name of given.map(([name]) => name)) delete process.env[name]
  }
})

test('a variable that Bun refuses although the URL has its part', async () => {
  const [url, env] = [await server.createUrl(), { PGSSLMODE: 'hunter2' }]
  const { code, stderr } = await runCommand(['count', '--list', `${url}?sslmode=disable`], { env })
  expect([code, stderr]).toEqual([1, expect.stringContaining('cannot be used: PGSSLMODE or PG_SSLMODE is not valid')])
  expect(stderr).not.toContain('hunter2')
})

test('a URL that gives only the server and the database', async () => {
  const [list, other] = [await createList(2), await createList(1)]
  const { port, username } = new URL(list)
  const env = { PGDATABASE: toDatabase(other), PGUSER: username, PGPASSWORD: PASSWORD, PGHOSTADDR: '192.0.2.1' }
  const url = `postgres://127.0.0.1:${port}/${toDatabase(list)}`
  expect(await runCommand(['count', '--list', url], { env })).toMatchObject({ code: 0, stdout: '2\n' })
  const fromVariables = { ...env, PGHOST: '127.0.0.1', PGHOSTADDR: '', PGPORT: port }
  expect(await runCommand(['count', '--list', 'postgres://'], { env: fromVariables })).toMatchObject({
    code: 0,
    stdout: '1\n',
  })
})

test('copy with PGDATABASE: the list is copied to the other one', async () => {
  const [from, to] = [await createList(2), await server.createUrl()]
  const env = { PGDATABASE: toDatabase(from) }
  expect(await runCommand(['copy', '--from', from, '--to', to], { env })).toMatchObject({
    code: 0,
    stdout: '2 new, 0 known, 0 suppressed; 0 suppressions copied\n',
  })
  expect(await withStore(to, (store) => store.count())).toMatchObject({ subscribers: 2 })
})
