/** Taking the list out: formats, cursors, files, pipes, and what comes while somebody watches. */

import { describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { createCliFixture } from '../support/cli-fixture.ts'
import { CLI } from '../support/paths.ts'
import { startService } from '../support/service.ts'

const LIST =
  'email,created_at\nAda@site.io,2020-01-02T03:04:05.678Z\n=bob@site.io,2021-02-03\ntry@example.org,2022-01-01\nzoe@site.io,2023-01-01\n'

describe('formats', () => {
  test('CSV by default, as RFC 4180 has it, without the reserved', async () => {
    const { print, run } = await createCliFixture()
    await print(['import', '-'], LIST)
    const { stdout, stderr } = await run(['export'])
    expect(stdout).toBe(
      'email,subscribed_at,seq\r\nAda@site.io,2020-01-02T03:04:05.678Z,1\r\n=bob@site.io,2021-02-03T00:00:00.000Z,2\r\nzoe@site.io,2023-01-01T00:00:00.000Z,4\r\n',
    )
    expect(stderr).toStartWith('cursor: 4\n1 address would be a formula in a spreadsheet')
    expect(await print(['export', '--include-reserved'])).toContain('try@example.org')
  })

  test('an apostrophe before a formula, where it is asked for', async () => {
    const { print, run } = await createCliFixture()
    await print(['import', '-'], LIST)
    const { stdout, stderr } = await run(['export', '--spreadsheet-safe'])
    expect(stdout).toContain("\r\n'=bob@site.io,")
    expect(stderr).toBe('cursor: 4\n')
  })

  test('one address a line, and NDJSON', async () => {
    const { print } = await createCliFixture()
    await print(['import', '-'], LIST)
    expect(await print(['export', '--format', 'txt'])).toBe('Ada@site.io\n=bob@site.io\nzoe@site.io\n')
    expect(await print(['export', '--format', 'ndjson', '--limit', '1'])).toBe(
      '{"email":"Ada@site.io","subscribed_at":"2020-01-02T03:04:05.678Z","seq":1}\n',
    )
  })

  test.each([
    [
      'listmonk',
      { email: 'Ada@site.io', name: '', attributes: '{"subscribed_at":"2020-01-02T03:04:05.678Z"}' },
    ],
    ['ghost', { email: 'Ada@site.io', subscribed_to_emails: 'true', created_at: '2020-01-02T03:04:05.678Z' }],
    ['mailchimp', { 'Email Address': 'Ada@site.io', OPTIN_TIME: '2020-01-02 03:04:05' }],
    ['buttondown', { email: 'Ada@site.io', creation_date: '2020-01-02T03:04:05.678Z' }],
  ])('the columns of %s', async (target, row) => {
    const { print } = await createCliFixture()
    await print(['import', '-'], LIST)
    const [first] = parse(await print(['export', '--for', target]), {
      columns: true,
      record_delimiter: '\r\n',
    })
    expect<unknown>(first).toEqual(row)
  })
})

test.each([
  ['csv', '--format'],
  ['ndjson', '--format'],
  ['txt', '--format'],
  ['listmonk', '--for'],
  ['ghost', '--for'],
  ['mailchimp', '--for'],
  ['buttondown', '--for'],
])('export as %s and import is the same list', async (name, option) => {
  const { list, folder, print, rows } = await createCliFixture()
  await print(['import', '-'], LIST)
  const text = await print(['export', option, name, '--include-reserved'])
  const copy = `sqlite:${folder}/copy.db`
  await print(['import', '-', '--list', copy], text)
  const [before, after] = [await rows(list), await rows(copy)]
  expect(after.map(({ email, seq }) => [seq, email])).toEqual(before.map(({ email, seq }) => [seq, email]))
  // Lines have no dates, and Mailchimp's go to the second.
  const toDates = (all: typeof before) =>
    all.map((row) => row.subscribed_at.slice(0, name === 'mailchimp' ? 19 : 24))
  if (name !== 'txt') expect(toDates(after)).toEqual(toDates(before))
})

describe('cursors', () => {
  test('--after and --limit; nobody is missed and nobody comes twice', async () => {
    const { print, run } = await createCliFixture()
    await print(
      ['import', '-'],
      Array.from({ length: 2500 }, (_, index) => `u${index}@${index % 3 ? 'site.io' : 'a.test'}\n`).join(''),
    )
    let [cursor, all] = ['0', '']
    for (;;) {
      const { stdout, stderr } = await run(['export', '--format', 'txt', '--after', cursor, '--limit', '700'])
      if (stdout === '') break
      all += stdout
      cursor = /cursor: (\d+)/.exec(stderr)?.[1] ?? ''
    }
    expect(all).toBe(await print(['export', '--format', 'txt']))
    expect(all.split('\n')).toHaveLength(1667)
  })

  test('--cursor-file: each run writes what is new, and a run that fails keeps the cursor', async () => {
    const { folder, print, run } = await createCliFixture()
    const sync = ['export', '--format', 'txt', '--cursor-file', 'c']
    await print(['import', '-'], 'a@site.io\nb@site.io\n')
    expect(await print(sync)).toBe('a@site.io\nb@site.io\n')
    expect(await readFile(join(folder, 'c'), 'utf8')).toBe('2\n')
    expect(await print(sync)).toBe('')
    await print(['import', '-'], 'c@site.io\n')
    expect(await run([...sync, '--out', 'none/out.txt'])).toMatchObject({
      code: 1,
      stderr: 'rollcall: none/out.txt: there is no such file or folder\n',
    })
    expect(await print(sync)).toBe('c@site.io\n')
    expect(await readFile(join(folder, 'c'), 'utf8')).toBe('3\n')
    expect((await readdir(folder)).filter((name) => name.includes('partial'))).toEqual([])
  })

  test('a file that holds no cursor, and options that contradict each other', async () => {
    const { run, write } = await createCliFixture()
    await run(['import', '-'], 'a@site.io\n')
    await write('c', 'twelve')
    expect(await run(['export', '--cursor-file', 'c'])).toMatchObject({
      code: 1,
      stdout: '',
      stderr: 'rollcall: c: it holds no cursor, which is a number\n',
    })
    for (const args of [
      ['--cursor-file', 'c', '--after', '1'],
      ['--after', '-1'],
      ['--limit', 'x'],
      ['--format', 'xls'],
      ['--for', 'ghost', '--format', 'txt'],
      ['--follow', '--out', 'x'],
    ]) {
      expect((await run(['export', ...args])).code).toBe(2)
    }
  })
})

test('--out appears whole, and replaces what was there', async () => {
  const { folder, print, write } = await createCliFixture()
  await print(['import', '-'], LIST)
  await write('list.csv', 'old')
  expect(await print(['export', '--out', 'list.csv'])).toBe('')
  expect(await readFile(join(folder, 'list.csv'), 'utf8')).toBe(await print(['export']))
  expect(existsSync(join(folder, 'list.csv'))).toBe(true)
})

test('a reader that has seen enough is no error', async () => {
  const { folder, list, print } = await createCliFixture()
  await print(
    ['import', '-'],
    Array.from({ length: 50_000 }, (_, index) => `user.${index}@site.io\n`).join(''),
  )
  const script = 'set -o pipefail; "$0" "$1" export --cursor-file c | head -2; echo "$PIPESTATUS"'
  const child = Bun.spawn(['bash', '-c', script, process.execPath, CLI], {
    cwd: folder,
    env: { ...process.env, DATABASE_URL: list },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()])
  // As a shell reports every program that SIGPIPE ends; and what was not read is not behind the cursor.
  expect(stdout).toMatch(/^email,.*\r\nuser\.0@site\.io,.*\r\n141\n$/)
  expect(stderr).toBe('')
  expect(existsSync(join(folder, 'c'))).toBe(false)
})

test('--follow writes each new subscriber of a running service, and keeps the cursor', async () => {
  const service = await startService()
  const folder = service.folder
  const child = Bun.spawn(
    [process.execPath, CLI, 'export', '--follow', '--format', 'txt', '--cursor-file', 'c'],
    {
      cwd: folder,
      env: { ...process.env, DATABASE_URL: `sqlite:${folder}/data/rollcall.db` },
      stdout: 'pipe',
      stderr: 'pipe',
    },
  )
  const reader = child.stdout.getReader()
  for (const email of ['a@site.io', 'b@site.io', 'a@site.io', 'c@site.io']) await service.subscribe(email)
  let text = ''
  while (!text.includes('c@site.io\n')) text += new TextDecoder().decode((await reader.read()).value)
  expect(text).toBe('a@site.io\nb@site.io\nc@site.io\n')
  while (!existsSync(join(folder, 'c')) || (await readFile(join(folder, 'c'), 'utf8')) !== '4\n')
    await Bun.sleep(5)
  child.kill('SIGTERM')
  await child.exited
  expect(await child.stderr.text()).toBe('')
  await service.stop()
})
