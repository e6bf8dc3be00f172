/** `backup`. files.test.ts has what it does not replace. */

import { expect, test } from 'bun:test'
import { chmod, mkdir, readdir, readFile } from 'node:fs/promises'
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

test('a list that was restored, and not opened since, is not replaced by its own backup', async () => {
  const { folder, print, run } = await createCliFixture()
  await print(['import', '-'], 'ada@site.io\n')
  await print(['backup', 'b.db'])
  await print(['restore', 'b.db'])
  const refused = { code: 2, stdout: '', stderr: 'rollcall: list.db is the list: choose another file\n' }
  expect(await run(['backup', 'list.db'])).toEqual(refused)
  expect(await readdir(folder)).not.toContain('list.db-wal')
})

test('a backup and a copy need no shell: the image has none', async () => {
  const { print, shell } = await createCliFixture()
  await print(['import', '-'], 'ada@site.io\n')
  const script = 'PATH=/none; rollcall backup backup.db && rollcall copy --from sqlite:list.db --to sqlite:copy.db'
  expect(await shell(script)).toMatchObject({ code: 0, stderr: '' })
})

test('a backup and a copy are synced while they are written: one sync at the end would hold up those of a service', async () => {
  const { folder, print, shell, write } = await createCliFixture()
  await print(['import', '-'], Array.from({ length: 50_000 }, (_, index) => `user.${index}@site.io\n`).join(''))
  await mkdir(join(folder, 'bin'))
  await chmod(
    join(folder, await write('bin/sync', '#!/bin/sh\necho "$@" >> synced\nPATH=/usr/bin:/bin exec sync "$@"\n')),
    0o700,
  )
  const script =
    'PATH=$PWD/bin:$PATH; rollcall backup backup.db && rollcall copy --from sqlite:list.db --to sqlite:copy.db'
  expect((await shell(script)).code).toBe(0)
  const synced = await readFile(join(folder, 'synced'), 'utf8')
  expect(synced).toMatch(/^-d \S+\/\.backup\.db\.\d+\.partial$/m)
  expect(synced).toMatch(/^-d copy\.db copy\.db-wal$/m)
})
