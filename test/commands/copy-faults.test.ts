/** A copy that must not run, and copies that are stopped. */

import { expect, test } from 'bun:test'
import { link, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { createCliFixture, toAddressAndDate } from '../support/cli-fixture.ts'
import { getServer, withStore } from '../support/postgres.ts'
import { toAddresses } from '../support/store-suite.ts'
import { until, within } from '../support/wait.ts'

const SAME = expect.stringMatching(/^rollcall: --from and --to are the same list\n$/)

test('a SQLite list is not copied to itself, whatever its path', async () => {
  const { folder, list, print, run } = await createCliFixture()
  await print(['import', '-'], 'a@site.io\n')
  await symlink('list.db', join(folder, 'symbolic.db'))
  await symlink(folder, join(folder, 'folder'))
  await link(join(folder, 'list.db'), join(folder, 'hard.db'))
  const spellings = [
    'sqlite:list.db',
    'file:./list.db',
    `sqlite://${folder}/folder/../list.db`,
    'sqlite:folder/list.db',
    'sqlite:symbolic.db',
    'sqlite:hard.db',
    'sqlite:%6cist.db',
  ]
  for (const spelling of spellings) {
    expect([spelling, await run(['copy', '--from', list, '--to', spelling])]).toEqual([
      spelling,
      { code: 2, stdout: '', stderr: SAME },
    ])
  }
})

test('a PostgreSQL list is not copied to itself, whatever its URL', async () => {
  const server = await getServer()
  const list = await server.createUrl()
  const { print, run } = await createCliFixture()
  await withStore(list, (store) => store.add(toAddresses('a@site.io')))
  const { username, password, host, port, pathname } = new URL(list)
  const administrator = new URL(server.admin)
  administrator.pathname = pathname
  const spellings = [
    `postgresql://${username}:${password}@localhost:${port}${pathname}`,
    `postgres://${username}:${password}@${host}${pathname}?application_name=copy`,
    administrator.href,
  ]
  for (const spelling of spellings) {
    expect(await run(['copy', '--from', list, '--to', spelling])).toEqual({ code: 2, stdout: '', stderr: SAME })
  }
  // Another database of the same server is another list.
  expect(await print(['copy', '--from', list, '--to', await server.createUrl()])).toStartWith('1 new')
})

test('a copy stops at a signal, and the next one completes it', async () => {
  const { list, folder, start, print, rows } = await createCliFixture()
  const size = 80_000
  await print(['import', '-'], Array.from({ length: size }, (_, index) => `user.${index}@site.io\n`).join(''))
  const target = `sqlite:${folder}/copy.db`
  await withStore(target, (store) => store.add([]))
  const countCopied = async () => (await withStore(target, (store) => store.count())).subscribers
  const copy = ['copy', '--from', list, '--to', target]
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    const before = await countCopied()
    const command = start(copy)
    await until(async () => (await countCopied()) > before, 'the copy has written a batch')
    command.kill(signal)
    expect(await within(command.exited, `the copy ends after ${signal}`)).toBe(code)
    // The connection of this test may keep the target from being closed, so numbers may be skipped.
    expect(await command.stderr.text()).toEndWith('rollcall: stopped\n')
  }
  const { added, known } = JSON.parse(await print([...copy, '--json']))
  expect(added).toBeGreaterThan(0)
  expect(known).toBeGreaterThan(0)
  const read = async (url: string) => Bun.hash(JSON.stringify((await rows(url)).map(toAddressAndDate)))
  expect(await read(target)).toBe(await read(list))
})
