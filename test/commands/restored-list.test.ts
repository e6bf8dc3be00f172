/** Cursors after a restore: nobody is skipped, and a cursor that cannot be right is an error. */

import { expect, test } from 'bun:test'
import { copyFileSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type CliFixture, createCliFixture } from '../support/cli-fixture.ts'
import { getServer } from '../support/postgres.ts'
import { until, within } from '../support/wait.ts'

/** Imports addresses with the numbers from `first` to `last`, and returns what was printed on standard error. */
async function subscribe({ run }: CliFixture, first: number, last: number, more: string[] = []): Promise<string> {
  const emails = Array.from({ length: last - first + 1 }, (_, index) => `user.${first + index}@site.io\n`)
  const { code, stderr } = await run(['import', '-', ...more], emails.join(''))
  expect(code).toBe(0)
  return stderr
}

const EXPORT = ['export', '--format', 'txt', '--cursor-file', 'c']

test.each([
  ['export', EXPORT],
  ['export --exec', [...EXPORT, '--exec', 'cat']],
])('%s: a backup at 50, a cursor at 60, a restore, and 5 new addresses, of which all are exported', async (_, sync) => {
  const fixture = await createCliFixture()
  const { folder, print, run } = fixture
  await subscribe(fixture, 1, 50)
  await print(['backup', 'backup.db'])
  await subscribe(fixture, 51, 60)
  await print(sync)
  const cursor = readFileSync(join(folder, 'c'), 'utf8')
  expect(cursor).toStartWith('60 ')
  copyFileSync(join(folder, 'backup.db'), join(folder, 'list.db'))

  const early = await run(sync)
  expect(early).toEqual({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/^rollcall: the cursor 60 is higher than the last number of the list \(50\): .*\n$/),
  })
  expect(readFileSync(join(folder, 'c'), 'utf8')).toBe(cursor)
  expect(await subscribe(fixture, 61, 65)).toMatch(/numbering continues at \d{14}, above all earlier numbers/)
  expect(await print(sync)).toBe([61, 62, 63, 64, 65].map((number) => `user.${number}@site.io\n`).join(''))
  // The same list, at a higher number.
  expect(readFileSync(join(folder, 'c'), 'utf8')).toEndWith(cursor.slice(2))
  expect(await subscribe(fixture, 66, 66)).not.toContain('numbering')
  expect(await print(sync)).toBe('user.66@site.io\n')
})

test('a cursor of another list is an error', async () => {
  const fixture = await createCliFixture()
  const { folder, list, print, run } = fixture
  const other = `sqlite:${folder}/other.db`
  await subscribe(fixture, 1, 2)
  await print(['copy', '--from', list, '--to', other])
  await print(EXPORT)
  const cursor = readFileSync(join(folder, 'c'), 'utf8')
  for (const args of [
    [...EXPORT, '--list', other],
    [...EXPORT, '--exec', 'cat', '--list', other],
  ]) {
    expect(await run(args)).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^rollcall: the cursor 2 belongs to another list .* use the cursor file of this/),
    })
  }
  expect(readFileSync(join(folder, 'c'), 'utf8')).toBe(cursor)
})

test('a cursor of an older Rollcall, without an id, works and gets one', async () => {
  const fixture = await createCliFixture()
  const { folder, print, write } = fixture
  await subscribe(fixture, 1, 2)
  await write('c', '1\n')
  expect(await print(EXPORT)).toBe('user.2@site.io\n')
  expect(readFileSync(join(folder, 'c'), 'utf8')).toMatch(/^2 [0-9a-f]{16}\n$/)
})

test('a number that the list has not given out is an error; one whose subscriber was removed is not', async () => {
  const fixture = await createCliFixture()
  const { print, run } = fixture
  await subscribe(fixture, 1, 2)
  await print(['remove', 'user.2@site.io'])
  expect(await run(['export', '--format', 'txt', '--after', '2'])).toEqual({
    code: 0,
    stdout: '',
    stderr: '0 addresses exported\ncursor: 2\n',
  })
  const { code, stderr } = await run(['export', '--out', 'o', '--after', '3'])
  expect([code, stderr]).toEqual([1, expect.stringContaining('the cursor 3 is higher than the last number')])
  expect(await Bun.file(join(fixture.folder, 'o')).exists()).toBe(false)
})

test('PostgreSQL: a cursor ahead of the list, or of another list', async () => {
  const fixture = await createCliFixture()
  const server = await getServer()
  const [url, other] = [await server.createUrl(), await server.createUrl()]
  await subscribe(fixture, 1, 2, ['--list', url])
  await subscribe(fixture, 1, 3, ['--list', other])
  await fixture.print([...EXPORT, '--list', url])
  const foreign = await fixture.run([...EXPORT, '--list', other])
  expect([foreign.code, foreign.stderr]).toEqual([1, expect.stringContaining('belongs to another list')])
  const ahead = await fixture.run(['export', '--after', '3', '--list', url])
  expect([ahead.code, ahead.stderr]).toEqual([1, expect.stringContaining('is higher than')])
})

test('--follow ends with an error when another file comes to the path of the list', async () => {
  const fixture = await createCliFixture()
  const { folder, print, start } = fixture
  await subscribe(fixture, 1, 2)
  await print(['backup', 'backup.db'])
  const child = start([...EXPORT, '--exec', 'cat', '--follow'])
  await until(() => Bun.file(join(folder, 'c')).exists(), 'the cursor file')
  renameSync(join(folder, 'backup.db'), join(folder, 'list.db'))
  for (const suffix of ['-wal', '-shm']) rmSync(join(folder, `list.db${suffix}`), { force: true })
  expect(await within(child.exited, 'the export ends')).toBe(1)
  expect(await child.stderr.text()).toContain('the list is lost: another file is at')
})
