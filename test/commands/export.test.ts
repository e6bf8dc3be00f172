import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { copyFile, mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { createCliFixture } from '../support/cli-fixture.ts'
import { createFolder, runCommand } from '../support/service.ts'

const LIST =
  'email,created_at\nAda@site.io,2020-01-02T03:04:05.678Z\n=bob@site.io,2021-02-03\ntry@example.org,2022-01-01\nzoe@site.io,2023-01-01\n'

const SUMMARY =
  '3 addresses exported\n1 address left out: the domain is reserved, such as example.org; use --include-reserved\ncursor: SEQ\n'

/** The numbers come from the clock. */
const hideNumbers = (text: string) => text.replace(/\d{12,}/g, 'SEQ')

describe('formats', () => {
  test('CSV (RFC 4180) without reserved addresses by default', async () => {
    const { print, run } = await createCliFixture()
    await print(['import', '-'], LIST)
    const { stdout, stderr } = await run(['export'])
    expect(hideNumbers(stdout)).toBe(
      'email,subscribed_at,seq\r\nAda@site.io,2020-01-02T03:04:05.678Z,SEQ\r\n=bob@site.io,2021-02-03T00:00:00.000Z,SEQ\r\nzoe@site.io,2023-01-01T00:00:00.000Z,SEQ\r\n',
    )
    expect(hideNumbers(stderr)).toBe(SUMMARY)
    expect(await print(['export', '--include-reserved'])).toContain('try@example.org')
  })

  test('--spreadsheet-safe puts an apostrophe before a formula', async () => {
    const { print } = await createCliFixture()
    await print(['import', '-'], LIST)
    expect(await print(['export', '--spreadsheet-safe'])).toContain("\r\n'=bob@site.io,")
  })

  test('one address per line, and NDJSON', async () => {
    const { print } = await createCliFixture()
    await print(['import', '-'], LIST)
    expect(await print(['export', '--format', 'txt'])).toBe('Ada@site.io\n=bob@site.io\nzoe@site.io\n')
    expect(hideNumbers(await print(['export', '--format', 'ndjson', '--limit', '1']))).toBe(
      '{"email":"Ada@site.io","subscribed_at":"2020-01-02T03:04:05.678Z","seq":SEQ}\n',
    )
  })

  test.each([
    ['listmonk', { email: 'Ada@site.io', name: '', attributes: '{"subscribed_at":"2020-01-02T03:04:05.678Z"}' }],
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
])('an export as %s can be imported: the same addresses, order and dates', async (name, option) => {
  const { list, folder, print, rows } = await createCliFixture()
  await print(['import', '-'], LIST)
  const text = await print(['export', option, name, '--include-reserved'])
  const copy = `sqlite:${folder}/copy.db`
  await print(['import', '-', '--list', copy], text)
  const [before, after] = [await rows(list), await rows(copy)]
  expect(after.map(({ email }) => email)).toEqual(before.map(({ email }) => email))
  // One address per line has no dates; those of Mailchimp have no milliseconds.
  const toDates = (all: typeof before) => all.map((row) => row.subscribed_at.slice(0, name === 'mailchimp' ? 19 : 24))
  if (name !== 'txt') expect(toDates(after)).toEqual(toDates(before))
})

describe('cursors', () => {
  test('exports with --after and --limit together select everybody once', async () => {
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

  test('--cursor-file: each export writes only new subscribers', async () => {
    const { folder, print } = await createCliFixture()
    const sync = ['export', '--format', 'txt', '--cursor-file', 'c']
    await print(['import', '-'], 'a@site.io\nb@site.io\n')
    expect(await print(sync)).toBe('a@site.io\nb@site.io\n')
    expect(await readFile(join(folder, 'c'), 'utf8')).toMatch(/^\d+ [0-9a-f]{16}\n$/)
    expect(await print(sync)).toBe('')
    await print(['import', '-'], 'c@site.io\n')
    expect(await print(sync)).toBe('c@site.io\n')
    expect(await readFile(join(folder, 'c'), 'utf8')).toMatch(/^\d+ [0-9a-f]{16}\n$/)
  })

  test('a file that does not hold a cursor', async () => {
    const { print, run, write } = await createCliFixture()
    await print(['import', '-'], 'a@site.io\n')
    await write('c', 'twelve')
    expect(await run(['export', '--cursor-file', 'c'])).toEqual({
      code: 1,
      stdout: '',
      stderr: 'rollcall: c: it does not hold a cursor, which is a number\n',
    })
  })
})

test.each([
  [['--cursor-file', 'c', '--after', '1']],
  [['--after', '-1']],
  [['--limit', 'x']],
  [['--format', 'xls']],
  [['--for', 'ghost', '--format', 'txt']],
  [['--follow']],
])('export %j is a usage error', async (args) => {
  const { run } = await createCliFixture()
  expect((await run(['export', ...args])).code).toBe(2)
})

test('--out replaces a file', async () => {
  const { folder, print, write } = await createCliFixture()
  await print(['import', '-'], LIST)
  await write('list.csv', 'old')
  expect(await print(['export', '--out', 'list.csv'])).toBe('')
  expect(await readFile(join(folder, 'list.csv'), 'utf8')).toBe(await print(['export']))
})

/** 50,000 addresses: more than a pipe and a file of 1 MiB hold as CSV. */
const MANY = Array.from({ length: 50_000 }, (_, index) => `user.${index}@site.io\n`).join('')

describe('an export that fails changes neither the cursor nor the old file', () => {
  let source: string
  beforeAll(async () => {
    source = await createFolder()
    const env = { DATABASE_URL: 'sqlite:list.db' }
    expect(await runCommand(['import', '-'], { env, folder: source, stdin: MANY })).toMatchObject({ code: 0 })
  })
  afterAll(() => rm(source, { recursive: true }))

  test.each<readonly [string, string, number, string]>([
    ['missing folder', 'rollcall export --out none/list.csv', 1, 'none/list.csv: there is no such file'],
    ['long file name', 'rollcall export --out $(printf %300s | tr " " x)', 1, 'its name is too long'],
    ['a folder of that name', 'rollcall export --out folder', 1, 'folder: it is a folder'],
    // The unit of ulimit is 1 KiB. SIGXFSZ would end the process.
    [
      'disk full after 1 MiB',
      'trap "" XFSZ; ulimit -f 1024; rollcall export --out list.csv',
      1,
      'list.csv: it exceeds the limit',
    ],
    ['standard output full', 'rollcall export > /dev/full', 1, 'standard output: the disk is full'],
    // Without a header, so that the first write is a page of addresses.
    ['one address per line', 'rollcall export --format txt > /dev/full', 1, 'standard output: the disk is full'],
    // The exit code is that of a program that SIGPIPE ends.
    ['a reader that stops early', 'set -o pipefail; rollcall export | head -c 9 > head', 141, ''],
  ])('%s: %s', async (_, command, code, message) => {
    const { folder, shell, write } = await createCliFixture()
    const listFiles = async () =>
      (await readdir(folder)).filter((name) => !/^list\.db|^\.c\.lock$/.test(name)).toSorted()
    await copyFile(join(source, 'list.db'), join(folder, 'list.db'))
    await Promise.all([write('c', '7\n'), write('list.csv', 'old'), write('head', ''), mkdir(join(folder, 'folder'))])
    const before = await listFiles()

    const result = await shell(command.replace(' export', ' export --cursor-file c'))
    expect(result).toEqual({ code, stdout: '', stderr: expect.stringContaining(message) })
    expect(result.stderr).toMatch(code === 1 ? /^rollcall: .*\n$/ : /^$/)
    expect(await readFile(join(folder, 'c'), 'utf8')).toBe('7\n')
    expect(await readFile(join(folder, 'list.csv'), 'utf8')).toBe('old')
    expect(await listFiles()).toEqual(before)
  })
})
