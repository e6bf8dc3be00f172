import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { readdir, readFile, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { createCliFixture } from '../support/cli-fixture.ts'

const LIST =
  'email,created_at\nAda@site.io,2020-01-02T03:04:05.678Z\n=bob@site.io,2021-02-03\ntry@example.org,2022-01-01\nzoe@site.io,2023-01-01\n'

/** The numbers come from the clock. */
const hideNumbers = (text: string) => text.replace(/\d{12,}/g, 'SEQ')

test('CSV (RFC 4180), NDJSON or one address per line, without reserved addresses by default', async () => {
  const { folder, print, run, write } = await createCliFixture()
  await print(['import', '-'], LIST)
  const { stdout, stderr } = await run(['export'])
  expect(hideNumbers(stdout)).toBe(
    'email,subscribed_at,seq\r\nAda@site.io,2020-01-02T03:04:05.678Z,SEQ\r\n=bob@site.io,2021-02-03T00:00:00.000Z,SEQ\r\nzoe@site.io,2023-01-01T00:00:00.000Z,SEQ\r\n',
  )
  expect(hideNumbers(stderr)).toBe(
    '3 addresses exported\n1 address left out: the domain is reserved, such as example.org; use --include-reserved\ncursor: SEQ\n',
  )
  expect(await print(['export', '--include-reserved'])).toContain('try@example.org')
  expect(await print(['export', '--format', 'txt'])).toBe('Ada@site.io\n=bob@site.io\nzoe@site.io\n')
  expect(hideNumbers(await print(['export', '--format', 'ndjson', '--limit', '1']))).toBe(
    '{"email":"Ada@site.io","subscribed_at":"2020-01-02T03:04:05.678Z","seq":SEQ}\n',
  )
  await write('list.csv', 'old')
  expect(await print(['export', '--out', 'list.csv'])).toBe('')
  expect(await readFile(join(folder, 'list.csv'), 'utf8')).toBe(stdout)
})

// What a spreadsheet takes for a formula: OWASP, CSV Injection.
test('--spreadsheet-safe puts an apostrophe before a formula, and changes no other address', async () => {
  const { print } = await createCliFixture()
  const emails = ['=a', '+a', '-a', 'a', "'a", 'a=b', 'a+b'].map((name) => `${name}@site.io`)
  await print(['import', '-'], emails.join('\n'))
  const readEmails = async (...args: string[]) =>
    (await print(['export', ...args]))
      .split('\r\n')
      .slice(1, -1)
      .map((row) => row.split(',')[0])
  expect(await readEmails()).toEqual(emails)
  expect(await readEmails('--spreadsheet-safe')).toEqual(
    emails.map((email) => (/^[=+-]/.test(email) ? `'${email}` : email)),
  )
})

const DATE = '2020-01-02T03:04:05.678Z'

test.each<readonly [option: string, name: string, row?: Readonly<Record<string, string>>]>([
  ['--format', 'csv'],
  ['--format', 'ndjson'],
  ['--format', 'txt'],
  ['--for', 'listmonk', { email: 'Ada@site.io', name: '', attributes: `{"subscribed_at":"${DATE}"}` }],
  ['--for', 'ghost', { email: 'Ada@site.io', subscribed_to_emails: 'true', created_at: DATE }],
  ['--for', 'mailchimp', { 'Email Address': 'Ada@site.io', OPTIN_TIME: '2020-01-02 03:04:05' }],
  ['--for', 'buttondown', { email: 'Ada@site.io', creation_date: DATE }],
  ['--for', 'brevo', { EMAIL: 'Ada@site.io' }],
  ['--for', 'kit', { email: 'Ada@site.io' }],
  ['--for', 'mailerlite', { Email: 'Ada@site.io' }],
  ['--for', 'beehiiv', { email: 'Ada@site.io' }],
  ['--for', 'keila', { Email: 'Ada@site.io', 'First name': '', 'Last name': '', Data: `{"subscribed_at":"${DATE}"}` }],
])('an export with %s %s can be imported: the same addresses, order and dates', async (...[option, name, row]) => {
  const { list, folder, print, rows } = await createCliFixture()
  await print(['import', '-'], LIST)
  const text = await print(['export', option, name, '--include-reserved'])
  if (row) expect<unknown>(parse(text, { columns: true, record_delimiter: '\r\n' })[0]).toEqual(row)
  const copy = `sqlite:${folder}/copy.db`
  await print(['import', '-', '--list', copy], text)
  const [before, after] = [await rows(list), await rows(copy)]
  expect(after.map(({ email }) => email)).toEqual(before.map(({ email }) => email))
  // Some formats have no dates; those of Mailchimp have no milliseconds.
  const toDates = (all: typeof before) => all.map((row) => row.subscribed_at.slice(0, name === 'mailchimp' ? 19 : 24))
  if (!['txt', 'brevo', 'kit', 'mailerlite', 'beehiiv'].includes(name)) expect(toDates(after)).toEqual(toDates(before))
})

test('--cursor-file: each export writes only new subscribers, and a file that does not hold a cursor is an error', async () => {
  const { folder, print, run, write } = await createCliFixture()
  const sync = ['export', '--format', 'txt', '--cursor-file', 'c']
  await print(['import', '-'], 'a@site.io\nb@site.io\n')
  expect(await print(sync)).toBe('a@site.io\nb@site.io\n')
  expect(await print(sync)).toBe('')
  await print(['import', '-'], 'c@site.io\n')
  expect(await print(sync)).toBe('c@site.io\n')
  await write('c', 'twelve')
  const stderr = 'rollcall: c: it does not hold a cursor, which is a number: use another file\n'
  expect(await run(sync)).toEqual({ code: 1, stdout: '', stderr })
  // The cursor would replace the addresses, and the next export would leave them out.
  await symlink('new', join(folder, 'link'))
  for (const out of ['./new', 'link']) {
    const same = await run(['export', '--cursor-file', 'new', '--out', out])
    expect(same).toEqual({ code: 2, stdout: '', stderr: 'rollcall: --out is the cursor file: choose another file\n' })
  }
  expect((await readdir(folder)).filter((file) => file.includes('new'))).toEqual(['.new.lock'])
})

/** Each with its exit code, and what it says. */
const FAILING: readonly (readonly [script: string, code: number, says: string])[] = [
  // The unit of ulimit is 1 KiB. SIGXFSZ would end the process.
  ['trap "" XFSZ; ulimit -f 1024; rollcall export --out list.csv', 1, 'list.csv: file too large'],
  ['rollcall export > /dev/full', 1, 'standard output: the disk is full'],
  // Without a header, so that the first write is a page of addresses.
  ['rollcall export --format txt > /dev/full', 1, 'standard output: the disk is full'],
  // A reader that stops early. The exit code is that of a program that SIGPIPE ends.
  ['set -o pipefail; rollcall export | head -c 9 > head', 141, ''],
]

test('an export that fails on the way changes neither the cursor nor the old file', async () => {
  const { fill, folder, shell, write } = await createCliFixture()
  // More than a pipe and a file of 1 MiB hold as CSV.
  await fill(50_000)
  await Promise.all([write('c', '7\n'), write('list.csv', 'old')])
  for (const [script, code, says] of FAILING) {
    const result = await shell(script.replace(' export', ' export --cursor-file c'))
    expect([script, result]).toEqual([script, { code, stdout: '', stderr: expect.stringContaining(says) }])
    expect(result.stderr).toMatch(code === 1 ? /^rollcall: .*\n$/ : /^$/)
    expect(await readFile(join(folder, 'c'), 'utf8')).toBe('7\n')
    expect(await readFile(join(folder, 'list.csv'), 'utf8')).toBe('old')
    expect((await readdir(folder)).filter((name) => name.endsWith('.partial'))).toEqual([])
  }
})

test('a list of many pages has one header', async () => {
  const { fill, print } = await createCliFixture()
  await fill(2_500)
  const lines = (await print(['export'])).split('\r\n')
  expect(lines).toHaveLength(2_502)
  expect(lines.filter((line) => line.startsWith('email,'))).toEqual([lines[0] ?? ''])
})

test('--since and --until select by the time of the subscription', async () => {
  const { print, run } = await createCliFixture()
  const days = ['2026-11-20T23:59:59.999Z', '2026-11-21T00:00:00Z', '2026-11-21T23:59:59Z', '2026-11-22T00:00:00Z']
  const rows = days.map((day, index) => `user.${index}@${index === 1 ? 'example.org' : 'site.io'},${day}\n`)
  await print(['import', '-'], `email,subscribed_at\n${rows.join('')}`)
  const select = async (...args: string[]) => await run(['export', '--format', 'txt', ...args])
  const day = await select('--since', '2026-11-21', '--until', '2026-11-21')
  expect(day.stdout).toBe('user.2@site.io\n')
  expect(day.stderr).toStartWith('1 address exported\n1 address left out: the domain is reserved')
  expect((await select('--since', '2026-11-21T12:00:00Z')).stdout).toBe('user.2@site.io\nuser.3@site.io\n')
  expect((await select('--until', '2026-11-21T12:00:00Z')).stdout).toBe('user.0@site.io\n')
  expect((await select('--until', '2026-11-20')).stdout).toBe('user.0@site.io\n')
  for (const days of [
    ['--since', '1970-01-01'],
    ['--until', '2999-12-31'],
    ['--since', '2026-11-20 00:00', '--until', '2026-12-31T23:59:59.999+01:00'],
  ]) {
    expect((await select(...days)).stdout.split('\n')).toHaveLength(4)
  }
  for (const args of [
    ['--since', 'yesterday'],
    ['--since', '2024-02-30'],
    ['--until', '2024-05-31T25:00'],
    ['--until', '1717146000'],
    ['--since', '2026-11-21', '--cursor-file', 'c'],
  ]) {
    expect(await select(...args)).toMatchObject({ code: 2, stdout: '' })
  }
})

test('subscribers dated before 1970, as by a wrong clock, are in every export', async () => {
  const { folder, print } = await createCliFixture()
  await print(['import', '-'], 'ada@site.io\nbob@site.io\n')
  using db = new Database(join(folder, 'list.db'))
  db.run("UPDATE subscribers SET subscribed_at = -86400000 WHERE email = 'ada@site.io'")
  expect(await print(['export'])).toContain('ada@site.io,1969-12-31T00:00:00.000Z,')
  expect(await print(['export', '--cursor-file', 'c', '--format', 'txt'])).toBe('ada@site.io\nbob@site.io\n')
  expect(await print(['export', '--format', 'txt', '--until', '2000-01-01'])).toBe('ada@site.io\n')
})

test('an export with a filter prints no cursor, which would leave out everybody else', async () => {
  const { print, run } = await createCliFixture()
  await print(['import', '-'], LIST)
  for (const filter of [
    ['--since', '2021-01-01'],
    ['--until', '2021-01-01'],
  ]) {
    expect((await run(['export', ...filter])).stderr).not.toContain('cursor')
  }
})

test('an export of addresses that begin with a brace can be imported again, in every format', async () => {
  const { print, write, rows } = await createCliFixture()
  const emails = ['{a@m.cc', '{}@m.cc', 'b@m.cc']
  await print(['import', '-'], `email\n${emails.join('\n')}\n`)
  for (const format of ['txt', 'csv', 'ndjson']) {
    const file = await write(`list.${format}`, await print(['export', '--format', format]))
    await print(['import', file, '--list', `sqlite:${format}.db`])
    expect((await rows(`sqlite:${format}.db`)).map(({ email }) => email)).toEqual(emails)
  }
})
