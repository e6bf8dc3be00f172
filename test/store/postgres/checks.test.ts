import { expect, test } from 'bun:test'
import type { Address } from '../../../src/email.ts'
import type { CheckResult } from '../../../src/store/check.ts'
import { checkPostgresList } from '../../../src/store/postgres/checks.ts'
import type { Numbering } from '../../../src/subscriber.ts'
import { getServer, PASSWORD, toParameters, withStore } from '../../support/postgres.ts'
import { until } from '../../support/wait.ts'

async function check(url: string): Promise<readonly CheckResult[]> {
  const cursors = [{ check: 'cursor', run: async ({ last }: Numbering) => `last: ${last}` }]
  return await Array.fromAsync(checkPostgresList({ parameters: toParameters(url), name: 'the list' }, cursors))
}

async function findWrong(url: string): Promise<Readonly<Record<string, string>>> {
  const wrong = (await check(url)).filter(({ ok }) => !ok)
  expect(JSON.stringify(wrong)).not.toContain(PASSWORD)
  return Object.fromEntries(wrong.map(({ check, message }) => [check, message]))
}

async function createList(): Promise<string> {
  const url = await (await getServer()).createUrl()
  await withStore(url, async (store) => {
    await store.add(['ada@site.io', 'bob@site.io'] as Address[])
    await store.remove(['bob@site.io'] as Address[], { suppress: true })
  })
  return url
}

test('a sound list: every check is ok', async () => {
  const results = await check(await createList())
  expect(results.filter(({ ok }) => !ok)).toEqual([])
  expect(results.map(({ check }) => check)).toEqual([
    ...['server', 'durability', 'schema', 'writable', 'indexes', 'list row', 'counts', 'inbox', 'cursor'],
  ])
  expect(results.at(-1)?.message).toBe('last: 2')
})

test('without a server or a list: the reason, and nothing is created', async () => {
  expect(await findWrong(`postgres://u:${PASSWORD}@127.0.0.1:1/db`)).toEqual({
    server: expect.stringContaining('the server cannot be reached'),
  })
  const server = await getServer()
  const url = await server.createUrl()
  expect(await findWrong(url)).toEqual({ schema: expect.stringContaining('there is no list in this database') })
  expect(await server.run(`SELECT FROM pg_namespace WHERE nspname = 'rollcall'`, url)).toEqual([])
})

test('settings of the server that lose confirmed addresses are found', async () => {
  const [server, url] = [await getServer(), await createList()]
  const set = async (name: string, value: 'on' | 'off') => {
    await server.run(`ALTER SYSTEM SET ${name} = ${value}`, url)
    await server.run('SELECT pg_reload_conf()', url)
    const read = () => server.run<{ value: string }>(`SELECT current_setting('${name}') AS value`, url)
    await until(async () => (await read())[0]?.value === value, `${name} is ${value}`)
  }
  for (const name of ['fsync', 'full_page_writes']) {
    await set(name, 'off')
    const wrong = await findWrong(url)
    await set(name, 'on')
    await server.run(`ALTER SYSTEM RESET ${name}`, url)
    expect(wrong).toEqual({ durability: expect.stringContaining(`turn on ${name}, and reload`) })
  }
})

test('doctor says that commits of Rollcall wait, for a user whose commits do not wait by default', async () => {
  const [server, url] = [await getServer(), await createList()]
  const { username, pathname } = new URL(url)
  await server.run(`ALTER ROLE ${username} IN DATABASE ${pathname.slice(1)} SET synchronous_commit = off`, url)
  const durability = (await check(url)).find((result) => result.check === 'durability')
  expect(durability).toMatchObject({
    ok: true,
    message: expect.stringContaining('synchronous_commit is off, and each'),
  })
})

test.each([
  [
    'an index is not valid',
    () => `UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'rollcall.subscribers_pkey'::regclass`,
    { indexes: expect.stringContaining('run REINDEX INDEX rollcall.subscribers_pkey') },
  ],
  [
    'an index is missing',
    () => 'DROP INDEX rollcall.subscribers_seq',
    { indexes: expect.stringContaining('subscribers_seq is missing') },
  ],
  [
    'the next number is behind',
    () => 'UPDATE rollcall.list SET next_seq = 1',
    { 'list row': expect.stringContaining('next_seq in rollcall.list is 1, but the list has number 1') },
  ],
  [
    'the schema is newer',
    () => 'UPDATE rollcall.list SET version = 99',
    { schema: expect.stringContaining('use a newer Rollcall') },
  ],
])('%s', async (_, toStatement, wrong) => {
  const [server, url] = [await getServer(), await createList()]
  await server.run(toStatement(), url)
  expect(await findWrong(url)).toEqual(wrong)
})
