/** The schema of a PostgreSQL list: creation by any number of processes, and schemas that cannot be used. */

import { expect, test } from 'bun:test'
import { getServer, toDatabase, withStore } from '../../support/postgres.ts'
import { runCommand } from '../../support/service.ts'
import { listAll, toAddresses } from '../../support/store-suite.ts'

const server = await getServer()

test('ten processes can start at once on an empty database', async () => {
  const url = await server.createUrl()
  const results = await Promise.all(
    Array.from({ length: 10 }, (_, index) =>
      runCommand(['import', '-'], { env: { DATABASE_URL: url }, stdin: `user${index}@mail.io\n` }),
    ),
  )
  expect(results.map(({ code }) => code)).toEqual(results.map(() => 0))
  expect(await withStore(url, listAll)).toHaveLength(10)
})

test('ten connections can create the schema at once', async () => {
  const url = await server.createUrl()
  await Promise.all(Array.from({ length: 10 }, () => withStore(url, (store) => store.check())))
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
  const { code, stderr } = await runCommand(['import', '-'], {
    env: { DATABASE_URL: url },
    stdin: 'ann@mail.io\n',
  })
  expect([code, stderr]).toEqual([1, expect.stringContaining('this user may not create the schema rollcall')])
  await server.run('CREATE SCHEMA rollcall AUTHORIZATION owner', url)
  await withStore(url, (store) => store.check())
})

test('a newer schema is refused', async () => {
  const url = await server.createUrl()
  await withStore(url, (store) => store.check())
  await server.run('UPDATE rollcall.list SET version = 99', url)
  const { code, stderr } = await runCommand(['count'], { env: { DATABASE_URL: url } })
  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining('its schema is version 99, this Rollcall knows version 5: use a newer Rollcall\n'),
  ])
})

test('a process fails with a clear error after a newer Rollcall migrated', async () => {
  const url = await server.createUrl()
  await withStore(url, async (store) => {
    await store.add(toAddresses('ann@mail.io'))
    await server.run('ALTER TABLE rollcall.inbox RENAME TO groups; UPDATE rollcall.list SET version = 6', url)
    const late = toAddresses('late@mail.io')
    await expect(store.add(late)).rejects.toThrow('its schema has changed (42P01)')
    await expect(store.add(late)).rejects.toThrow('its schema is version 6, this Rollcall knows version 5')
  })
})
