import { expect, test } from 'bun:test'
import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createCliFixture } from '../support/cli-fixture.ts'
import { startService } from '../support/service.ts'
import { until } from '../support/wait.ts'

test('the copy has all addresses of one moment while the service writes', async () => {
  const service = await startService()
  const { folder, rows, run } = await createCliFixture()
  const list = `sqlite:${service.folder}/data/rollcall.db`
  let sent = 0
  let isDone = false
  const write = async () => {
    for (; !isDone; sent++) expect((await service.subscribe(`user.${sent}@site.io`)).status).toBe(200)
  }
  const writers = [write(), write(), write()]
  await until(() => sent >= 200)
  const { code, stdout } = await run(['backup', 'copy.db', '--json', '--list', list])
  isDone = true
  await Promise.all(writers)
  expect(code).toBe(0)
  const { subscribers } = JSON.parse(stdout) as { subscribers: number }
  // Those before the start are counted, and later ones may be in the copy too.
  expect(subscribers).toBeGreaterThanOrEqual(200)
  const copy = await rows(`sqlite:${folder}/copy.db`)
  expect(copy.length).toBeGreaterThanOrEqual(subscribers)
  expect((await rows(list)).slice(0, copy.length)).toEqual([...copy])
  expect(await readdir(folder)).toEqual(['copy.db'])
  await service.stop()
})

test.each<readonly [string, string[], number, string]>([
  ['the list itself', ['list.db'], 2, 'rollcall: list.db belongs to the list: choose another file\n'],
  ['a folder', ['folder'], 1, 'rollcall: folder: it is a folder\n'],
  ['a file in a missing folder', ['none/b.db'], 1, 'rollcall: none/b.db: there is no such file or folder\n'],
  ['PostgreSQL', ['b.db', '--list', 'postgres://u:secret@127.0.0.1:1/db'], 1, 'use pg_dump'],
])('%s: a line on standard error, and no file is left', async (_, args, code, message) => {
  const { folder, print, run } = await createCliFixture()
  await print(['import', '-'], 'a@site.io\n')
  await mkdir(join(folder, 'folder'))
  const result = await run(['backup', ...args])
  expect(result).toEqual({ code, stdout: '', stderr: expect.stringContaining(message) })
  expect(result.stderr).toMatch(/^rollcall: .*\n$/)
  expect(result.stderr).not.toContain('secret')
  expect(await print(['count'])).toBe('1\n')
  expect((await readdir(folder)).filter((name) => !name.startsWith('list.db'))).toEqual(['folder'])
})

test('a backup replaces an older one, but not a list that a service uses', async () => {
  const { folder, list, print, run, rows } = await createCliFixture()
  await print(['import', '-'], 'ada@site.io\n')
  await print(['backup', 'copy.db'])
  await print(['import', '-'], 'bob@site.io\n')
  expect(await print(['backup', 'copy.db'])).toBe(`copy.db: 2 addresses of ${list}\n`)
  const copy = `sqlite:${folder}/copy.db`
  const service = await startService({ folder, env: { DATABASE_URL: copy } })
  expect((await service.subscribe('late@site.io')).status).toBe(200)
  expect(await run(['backup', 'copy.db'])).toEqual({
    code: 1,
    stdout: '',
    stderr: 'rollcall: copy.db: a program uses it, or left copy.db-wal: choose another file\n',
  })
  expect((await service.subscribe('later@site.io')).status).toBe(200)
  await service.stop()
  expect((await rows(copy)).map(({ email }) => email)).toEqual(
    ['ada', 'bob', 'late', 'later'].map((name) => `${name}@site.io`),
  )
})
