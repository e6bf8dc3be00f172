/** How a database gets the schema of a list: once, by any number of processes, and by an administrator. */

import { expect, test } from 'bun:test'
import { SQL } from 'bun'
import { migrate } from '../../../src/store/postgres/schema.ts'
import { getServer, toDatabase, withStore } from '../../support/postgres.ts'
import { runCommand, startService } from '../../support/service.ts'
import { until } from '../../support/wait.ts'
import { emailsOf, listAll, toAddresses } from '../suite.ts'

const server = await getServer()

test('ten connections can create the schema at once', async () => {
  const url = await server.createUrl()
  await Promise.all(Array.from({ length: 10 }, () => withStore(url, (store) => store.add(toAddresses('ann@mail.io')))))
  expect(await withStore(url, listAll)).toHaveLength(1)
})

test('a service that finds no list says that it creates one, and where', async () => {
  const url = await server.createUrl()
  const created = `a new, empty list was created: postgres://`
  const start = () => startService({ env: { DATABASE_URL: url, OPS_PORT: '0' } })
  const service = await start()
  await service.logged(created)
  expect(await service.stop()).toBe(0)
  const again = await start()
  await until(async () => (await again.ops('/readyz')).ok)
  expect(await again.stop()).toBe(0)
  expect(again.log()).not.toContain(created)
})

test('a command that only reads does not create a list', async () => {
  const url = await server.createUrl()
  const { code, stderr } = await runCommand(['count'], { env: { DATABASE_URL: url } })
  expect([code, stderr]).toEqual([1, expect.stringContaining('there is no list in this database yet')])
  expect([...(await server.run("SELECT to_regnamespace('rollcall') AS name", url))]).toEqual([{ name: null }])
})

test('a user who may not create a schema can use one that an administrator created', async () => {
  const url = await server.createUrl()
  await server.run(`ALTER DATABASE ${toDatabase(url)} OWNER TO postgres`, url)
  const add = () => withStore(url, (store) => store.probe())
  await expect(add()).rejects.toThrow(`permission denied for database ${toDatabase(url)} (42501)`)
  await server.run('CREATE SCHEMA rollcall AUTHORIZATION owner', url)
  await add()
})

test('a schema is migrated once, also by several connections; a newer one is refused', async () => {
  const url = await server.createUrl()
  await withStore(url, (store) => store.add(toAddresses('ann@mail.io')))
  const sql = new SQL({ url, max: 5 })
  const migrations = ['SELECT 1 / 0', 'ALTER TABLE rollcall.inbox ADD COLUMN source text']
  expect((await Promise.all([1, 2, 3].map(() => migrate(sql, migrations)))).toSorted()).toEqual([1, 2, 2])
  await sql.close()
  await expect(withStore(url, (store) => store.count())).rejects.toThrow(
    'its schema is version 2, and this Rollcall uses version 1; use a newer Rollcall',
  )
  await server.run('UPDATE rollcall.list SET version = 1', url)
  expect(emailsOf(await withStore(url, listAll))).toEqual(toAddresses('ann@mail.io'))
})

test('every table has a primary key, so a list works beside a publication for all tables', async () => {
  const url = await server.createUrl()
  await withStore(url, (store) => store.add(toAddresses('ann@mail.io')))
  const without = `
    SELECT relname FROM pg_class WHERE relnamespace = 'rollcall'::regnamespace AND relkind = 'r'
    AND NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = pg_class.oid AND contype = 'p')`
  expect([...(await server.run(without, url))]).toEqual([])
  await server.run('CREATE PUBLICATION everything FOR ALL TABLES', url)
  await withStore(url, async (store) => {
    await store.import(toAddresses('bob@mail.io').map((email) => ({ email })))
    await store.add(toAddresses('cyd@mail.io'))
    await store.remove(toAddresses('ann@mail.io'), { suppress: true })
    expect(emailsOf(await listAll(store))).toEqual(toAddresses('bob@mail.io', 'cyd@mail.io'))
  })
})
