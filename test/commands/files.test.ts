/** The files that commands read and write: what cannot work fails before anything is written. */

import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { link, mkdir, readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { createCliFixture } from '../support/cli-fixture.ts'
import { withStore } from '../support/postgres.ts'
import { toAddresses } from '../support/store-suite.ts'
import { until, within } from '../support/wait.ts'

const NO_FOLDER = 'there is no such file or folder'
const IS_FOLDER = 'it is a folder'

test.each<readonly [command: string, says: string]>([
  ['export --out o.csv --cursor-file none/c', `none/c: ${NO_FOLDER}`],
  ['export --out o.csv --cursor-file folder', `folder: ${IS_FOLDER}`],
  ['export --cursor-file none/c', `none/c: ${NO_FOLDER}`],
  ['export --cursor-file o.csv/c', 'o.csv/c: a part of its path is not a folder'],
  ['export --out folder --cursor-file c', `folder: ${IS_FOLDER}`],
  ['export --out none/o.csv --cursor-file c', `none/o.csv: ${NO_FOLDER}`],
  ['backup folder', `folder: ${IS_FOLDER}`],
  ['backup none/b.db', `none/b.db: ${NO_FOLDER}`],
])('%s: fails before it writes', async (command, says) => {
  const { folder, list, run, write } = await createCliFixture()
  await withStore(list, (store) => store.add(toAddresses('ada@site.io')))
  await mkdir(join(folder, 'folder'))
  await write('o.csv', 'before')
  const before = await readdir(folder)
  expect(await run(command.split(' '))).toEqual({ code: 1, stdout: '', stderr: `rollcall: ${says}\n` })
  expect(await readFile(join(folder, 'o.csv'), 'utf8')).toBe('before')
  expect((await readdir(folder)).filter((name) => name !== '.c.lock').toSorted()).toEqual(before.toSorted())
})

test.each<readonly [command: string, says: string]>([
  ['export --out list.db', 'list.db belongs to the list'],
  ['export --out hard.db', 'hard.db belongs to the list'],
  ['export --cursor-file list.db', 'list.db belongs to the list'],
  ['export --cursor-file other.db', 'other.db is a SQLite database'],
  ['export --cursor-file /dev/zero', '/dev/zero is not a regular file'],
  ['backup list.db', 'list.db belongs to the list'],
  ['backup /dev/null', '/dev/null is not a regular file'],
])('%s is a usage error, and the list stays', async (command, says) => {
  const { folder, print, run } = await createCliFixture()
  await print(['import', '-'], 'ada@site.io\n')
  await print(['backup', 'other.db'])
  await link(join(folder, 'list.db'), join(folder, 'hard.db'))
  const { code, stdout, stderr } = await run(command.split(' '))
  expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: '', stderr: `rollcall: ${says}: choose another file\n` })
  expect(await print(['count'])).toBe('1\n')
})

test('an export to a file of the shell says at a signal that the file is not complete', async () => {
  const { folder, print, start } = await createCliFixture()
  await print(['import', '-'], Array.from({ length: 50_000 }, (_, index) => `user.${index}@site.io\n`).join(''))
  const child = start(['export', '--cursor-file', 'c'])
  // More than a pipe holds, and nobody reads the rest.
  await child.stdout.getReader().read()
  child.kill('SIGINT')
  expect(await within(child.exited, 'the end of the export')).toBe(130)
  expect(await child.stderr.text()).toBe('rollcall: stopped: the output is not complete\n')
  expect(existsSync(join(folder, 'c'))).toBe(false)
})

test('the next export removes what a killed one left', async () => {
  const { folder, print, start } = await createCliFixture()
  await print(['import', '-'], Array.from({ length: 50_000 }, (_, index) => `user.${index}@site.io\n`).join(''))
  const partials = async () => (await readdir(folder)).filter((name) => name.endsWith('.partial'))
  const killed = start(['export', '--out', 'o.csv'])
  await until(async () => (await partials()).length > 0, 'the export writes its temporary file')
  killed.kill('SIGKILL')
  await killed.exited
  expect(await partials()).toEqual([`.o.csv.${killed.pid}.partial`])
  await print(['export', '--out', 'o.csv'])
  expect(await partials()).toEqual([])
})

test('an empty file is not a list, but becomes one', async () => {
  const { folder, list, run, print, write } = await createCliFixture()
  await write('list.db', '')
  for (const command of [
    ['count'],
    ['export'],
    ['has', 'a@site.io'],
    ['remove', 'a@site.io'],
    ['status'],
    ['backup', 'b.db'],
    ['copy', '--from', list, '--to', 'sqlite:c.db'],
  ]) {
    expect([command, await run(command)]).toEqual([
      command,
      { code: 1, stdout: '', stderr: `rollcall: there is no list at ${folder}/list.db: the file is empty\n` },
    ])
    expect((await stat(join(folder, 'list.db'))).size).toBe(0)
  }
  expect(await readdir(folder)).toEqual(['list.db'])
  expect(await print(['import', '-'], 'a@site.io\n')).toStartWith('1 added')
})
