/** Cursors after a restore: nobody is skipped, and a cursor that cannot be right is an error. */

import { expect, test } from 'bun:test'
import { copyFileSync, existsSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type CliFixture, createCliFixture } from '../support/cli-fixture.ts'
import { findBlock } from '../support/markdown.ts'
import { until, within } from '../support/wait.ts'

/** Imports addresses with the numbers from `first` to `last`. */
async function subscribe({ print }: CliFixture, first: number, last: number, more: string[] = []): Promise<void> {
  const emails = Array.from({ length: last - first + 1 }, (_, index) => `user.${first + index}@site.io\n`)
  await print(['import', '-', ...more], emails.join(''))
}

const EXPORT = ['export', '--format', 'txt', '--cursor-file', 'c']

test.each([
  ['export', EXPORT],
  ['export --exec', [...EXPORT, '--exec', 'cat']],
])('%s: a backup, a cursor above it, a copy back, and all new addresses are exported', async (_, sync) => {
  const fixture = await createCliFixture()
  const { folder, print } = fixture
  await subscribe(fixture, 1, 50)
  await print(['backup', 'backup.db'])
  await subscribe(fixture, 51, 60)
  await print(sync)
  const cursor = readFileSync(join(folder, 'c'), 'utf8')
  copyFileSync(join(folder, 'backup.db'), join(folder, 'list.db'))
  // The cursor is above the list and below the clock.
  expect(await print(sync)).toBe('')
  await subscribe(fixture, 61, 65)
  expect(await print(sync)).toBe([61, 62, 63, 64, 65].map((number) => `user.${number}@site.io\n`).join(''))
  // The same list, at a higher number.
  expect(readFileSync(join(folder, 'c'), 'utf8')).toEndWith(cursor.slice(cursor.indexOf(' ')))
})

test('a cursor of another list, and one above the list and the clock, are errors', async () => {
  const fixture = await createCliFixture()
  const { folder, print, run, write } = fixture
  const readCursor = () => readFileSync(join(folder, 'c'), 'utf8')
  await subscribe(fixture, 1, 2)
  await subscribe(fixture, 1, 3, ['--list', 'sqlite:other.db'])
  await print(EXPORT)
  const cursor = readCursor()
  const stderr = expect.stringMatching(
    /^rollcall: the cursor \d+ belongs to another list .* use the cursor file of this/,
  )
  for (const more of [[], ['--exec', 'cat']]) {
    expect(await run([...EXPORT, ...more, '--list', 'sqlite:other.db'])).toEqual({ code: 1, stdout: '', stderr })
  }
  expect(readCursor()).toBe(cursor)
  const above = await run(['export', '--out', 'o', '--after', String(2 ** 52)])
  expect([above.code, above.stderr]).toEqual([1, expect.stringContaining('is higher than the last number of the list')])
  expect(existsSync(join(folder, 'o'))).toBe(false)
  // A number alone works, and gets the id of the list.
  await write('c', '1\n')
  expect(await print(EXPORT)).toBe('user.1@site.io\nuser.2@site.io\n')
  expect(readCursor()).toBe(cursor)
})

test('--follow ends with an error when another file comes to the path of the list', async () => {
  const fixture = await createCliFixture()
  const { folder, print, start } = fixture
  await subscribe(fixture, 1, 2)
  await print(['backup', 'backup.db'])
  const child = start([...EXPORT, '--exec', 'cat', '--follow'])
  await until(() => existsSync(join(folder, 'c')), 'the cursor file')
  renameSync(join(folder, 'backup.db'), join(folder, 'list.db'))
  for (const suffix of ['-wal', '-shm']) rmSync(join(folder, `list.db${suffix}`), { force: true })
  expect(await within(child.exited, 'the export ends')).toBe(1)
  expect(await child.stderr.text()).toContain('the list is lost: another file is at')
})

test('the steps of the guide bring a restored list up to date: who left since is suppressed, and who came is there', async () => {
  const fixture = await createCliFixture()
  const { folder, print, rows, shell } = fixture
  await subscribe(fixture, 1, 5)
  await print(['backup', 'backup.db'])
  await print(['remove', 'user.2@site.io'])
  await print(['import', '-'], 'New.Reader@site.io\nname@example.org\n')
  const { subscribed_at: since } = (await rows()).find(({ email }) => email === 'New.Reader@site.io') ?? {}
  await print(['restore', 'backup.db'])
  expect((await rows()).map(({ email }) => email)).toContain('user.2@site.io')
  const { text } = findBlock('docs/backup.md', 'sh', 'since')
  const steps = text.replace('/var/lib/rollcall/rollcall.', `${folder}/list.`)
  // Twice, because the owner may not know whether it was done.
  for (const _ of [1, 2]) expect(await shell(`set -eu; ${steps}`)).toMatchObject({ code: 0 })
  const after = await rows()
  expect(after.map(({ email }) => email)).toEqual([
    ...['user.1@site.io', 'user.3@site.io', 'user.4@site.io', 'user.5@site.io'],
    ...['New.Reader@site.io', 'name@example.org'],
  ])
  expect(after.find(({ email }) => email === 'New.Reader@site.io')?.subscribed_at).toBe(since ?? '')
  expect(JSON.parse(await print(['has', 'user.2@site.io', '--json']).catch(() => '{"state":"suppressed"}')).state).toBe(
    'suppressed',
  )
})
