/** The command `import`: what it writes to the list, and what it says. How lists are read: test/transfer/reading. */

import { describe, expect, test } from 'bun:test'
import { statSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createCliFixture } from '../support/cli-fixture.ts'
import { until } from '../support/wait.ts'

const LIST = `Email,Status,Name,Created,unsubscribed_at
a@site.io,active,Ada,2020-01-01,
A@SITE.io,active,Ada,2019-01-01,
b@site.io,unsubscribed,Bob,2020-01-01,2024-05-31
c@site.io,pending,Cyd,2020-01-01,
nobody,unsubscribed,Dan,2020-01-01,
e@site,active,Eve,2020-01-01,
`

describe('the summary', () => {
  test('names the list, the columns and the statuses, and counts each row once', async () => {
    const { folder, list, run, write } = await createCliFixture()
    const file = await write('old.csv', LIST)
    const text = (created: string) => `list: ${list}${created}
address: "Email"; date: "Created"; status: "Status", "unsubscribed_at"
not read: "Name"
Status: active: 3 rows, subscribed
Status: unsubscribed: 2 rows, suppressed
Status: pending: 1 row, skip
unsubscribed_at: empty: 5 rows, subscribed
unsubscribed_at: a date: 1 row, suppressed
`
    const stderr = `line 6: the address is not valid
line 7: the address is not valid
rejected rows: --rejected FILE writes them to a file. Correct them and import the whole file again: this is safe
`
    const samples = `line 2 is subscribed: "Email" a@site.io, "Created" 2020-01-01, "Status" active, "unsubscribed_at" (empty); the date is 2020-01-01T00:00:00.000Z
line 5 is skip: "Email" c@site.io, "Created" 2020-01-01, "Status" pending, "unsubscribed_at" (empty)
line 4 is suppressed: "Email" b@site.io, "Created" 2020-01-01, "Status" unsubscribed, "unsubscribed_at" 2024-05-31; the date is 2024-05-31T00:00:00.000Z
`
    const first = '1 added, 1 already listed, 1 suppressed, 1 skipped, 2 rejected\n'
    const again = '0 added, 2 already listed, 1 suppressed, 1 skipped, 2 rejected\n'
    expect(await run(['import', file, '--dry-run'])).toEqual({
      code: 0,
      stdout: `dry run: ${first}${text(' (would be created)')}${samples}`,
      stderr,
    })
    expect(await readdir(folder)).toEqual([file])
    expect(await run(['import', file])).toEqual({ code: 0, stdout: `${first}${text(' (created)')}`, stderr })
    expect(await run(['import', file])).toEqual({ code: 0, stdout: `${again}${text('')}`, stderr })
  })

  test('says which --treat no row needed, and escapes what comes from the file', async () => {
    const { run } = await createCliFixture()
    const args = ['import', '-', '--treat', 'vip=skip', '--treat', 'gone=suppressed']
    const { stdout, stderr } = await run(args, 'email,status,n\u001b[2Ka\u009bm\u202ee\na@site.io,VIP,x\n')
    expect(stdout).toStartWith('0 added, 0 already listed, 1 skipped\n')
    expect(stderr).toBe('--treat: no row has the value "gone"\n')
    expect(stdout).toContain('not read: "n\\u001b[2Ka\\u009bm\\u202ee"\n')
  })
})

describe('people who left', () => {
  test('are removed when the opt-out is newer, and kept when it is older or its date is unknown', async () => {
    const { print, write } = await createCliFixture()
    await print(['import', '-'], 'email,created\na@site.io,2020-01-01\nb@site.io,2024-06-01\nc@site.io,2020-01-01\n')
    await print(['remove', 'd@site.io'])
    const left =
      'email,unsubscribed_at\na@site.io,2024-01-01\nb@site.io,2024-01-01\nc@site.io,yes\nd@site.io,2024-01-01\n'
    const file = await write('left.csv', `${left}e@site.io,2024-01-01\ne@site.io,\nf@site.io,\n`)
    const numbers = {
      added: 1,
      already_listed: 0,
      left_out: 1,
      suppressed: 3,
      removed: 1,
      kept: 2,
      skipped: 0,
      rejected: 0,
    }
    expect(JSON.parse(await print(['import', file, '--json', '--dry-run']))).toMatchObject(numbers)
    expect(await print(['count'])).toBe('3\n')
    expect(await print(['import', file])).toStartWith(
      '1 added, 0 already listed, 3 suppressed (1 removed from the list), 2 left but kept (subscribed later, or the date is ' +
        'unknown), 1 left out (suppressed before, or in another row)\n',
    )
    expect(await print(['export', '--format', 'txt'])).toBe('b@site.io\nc@site.io\nf@site.io\n')
  })

  test('are removed by the weekly export of Ghost, which has no dates of them, unless they subscribed here later', async () => {
    const { print, rows } = await createCliFixture()
    const header =
      'id,email,name,note,subscribed_to_emails,complimentary_plan,stripe_customer_id,created_at,deleted_at\n'
    const toExport = (subscribed: Readonly<Record<string, boolean>>) =>
      Object.entries(subscribed).map(
        ([name, value]) => `1,${name}@site.io,,,${value},false,,2024-05-31T09:00:00.000Z,\n`,
      )
    const first = header + toExport({ ada: true, bob: true, cyd: false }).join('')
    const second = header + toExport({ ada: true, bob: false, cyd: false, dan: false, eve: false }).join('')
    expect(await print(['import', '-'], first)).toStartWith('2 added, 0 already listed, 1 suppressed\n')
    // Dan is in no earlier export, and his subscription here is newer. That of Eve is older.
    await print(['import', '-'], 'email,created\ndan@site.io,2025-01-01\neve@site.io,2024-01-01\n')
    const { added, suppressed, removed, kept } = JSON.parse(await print(['import', '-', '--json'], second))
    expect({ added, suppressed, removed, kept }).toEqual({ added: 0, suppressed: 3, removed: 2, kept: 1 })
    expect((await rows()).map(({ email }) => email)).toEqual(['ada@site.io', 'dan@site.io'])
    expect(await print(['import', '-'], second)).toStartWith('0 added, 1 already listed, 3 suppressed, 1 left but kept')
  })

  test.each([
    [['*=suppressed'], 'suppressed'],
    [['*=skip'], 'skipped'],
    [['gone:1=suppressed', 'gone:0=subscribed'], 'suppressed'],
    [['1=skip', 'gone:*=suppressed', '0=subscribed'], 'skipped'],
  ])('are those that --treat %j names, and a corrected import adds nobody who is suppressed', async (treat, what) => {
    const { print } = await createCliFixture()
    const list = 'email,gone\na@site.io,0\nb@site.io,1\n'
    const args = (values: readonly string[]) => ['import', '-', '--status-column', 'gone', ...toOptions(values)]
    const toOptions = (values: readonly string[]) => values.flatMap((value) => ['--treat', value])
    expect(await print(args(treat), list)).toStartWith(`1 added, 0 already listed, 1 ${what}\n`)
    expect(await print(args(['0=subscribed', '1=subscribed']), list)).toStartWith(
      what === 'skipped'
        ? '1 added, 1 already listed\n'
        : '0 added, 1 already listed, 1 left out (suppressed before, or in another row)\n',
    )
  })

  test('all leave with --suppress, and no import brings them back', async () => {
    const { print } = await createCliFixture()
    await print(['import', '-'], 'a@site.io\nb@site.io\n')
    expect(await print(['import', '-', '--suppress'], 'A@site.io\nc@site.io\n')).toStartWith(
      '0 added, 0 already listed, 2 suppressed (1 removed from the list)\n',
    )
    expect(await print(['import', '-'], 'a@site.io\nb@site.io\nc@site.io\n')).toStartWith(
      '0 added, 1 already listed, 2 left out (suppressed before, or in another row)\n',
    )
    expect(await print(['export', '--format', 'txt'])).toBe('b@site.io\n')
  })
})

test.each([
  [
    'email,status\na@site.io,active\nb@site.io,VIP\n',
    'line 3: "VIP" (1 row) in the column "status" is not a known status',
  ],
  ['email,gone\na@site.io,\nb@site.io,x\n', 'a column may say who left: "gone": "x" 1, empty 1'],
])('%j stops the import before anything is written, from a file, a pipe and a FIFO: %s', async (text, message) => {
  const { folder, run, shell, write } = await createCliFixture()
  const file = await write('old.csv', text)
  const failure = { code: 1, stdout: '', stderr: expect.stringContaining(message) }
  expect(await run(['import', file])).toEqual(failure)
  expect(await run(['import', '-'], text)).toEqual(failure)
  expect(await shell('rollcall import <(cat old.csv)')).toEqual(failure)
  expect(await readdir(folder)).toEqual([file])
  const column = text.includes('gone') ? ['--status-column', 'gone'] : []
  const { stdout } = await run(['import', file, ...column, '--treat', '*=suppressed'])
  expect(stdout).toStartWith('1 added, 0 already listed, 1 suppressed\n')
})

test.each([
  ['Permission', ['Subscribed', 'Unsubscribed', 'Asked']],
  ['May we write?', ['yes', 'no', 'no']],
])('a stop prints the command that reads the column %s', async (column, cells) => {
  const { rows, run, shell, write } = await createCliFixture()
  await write('old.csv', `email,${column}\n${cells.map((cell, index) => `${index}@site.io,${cell}\n`).join('')}`)
  const { stderr } = await run(['import', 'old.csv'])
  const command = stderr.match(/rollcall import .*/g)?.at(-1) ?? ''
  expect(await shell(command)).toMatchObject({ code: 0 })
  expect((await rows()).map(({ email }) => email)).toEqual(['0@site.io'])
})

describe('rejected rows', () => {
  test('are in the file that --rejected names, and in no other', async () => {
    const { folder, print, run, write } = await createCliFixture()
    const file = await write('old.csv', `${LIST}"no, ""body""",active,,,\n`)
    const read = (name: string) => readFile(join(folder, name), 'utf8')
    await run(['import', file, '--rejected', 'dry.csv', '--dry-run'])
    expect(await readdir(folder)).toEqual([file])
    const { stderr } = await run(['import', file, '--rejected', 'bad.csv'])
    expect(stderr).toContain('rejected rows: they are in bad.csv.')
    expect(await read('bad.csv')).toBe(
      'line,reason,address\r\n6,the address is not valid,nobody\r\n7,the address is not valid,e@site\r\n8,the address is not valid,"no, ""body"""\r\n',
    )
    expect(await run(['import', 'bad.csv'])).toMatchObject({ code: 1, stdout: '' })
    for (const name of ['list.db', './old.csv']) {
      expect(await run(['import', file, '--rejected', name])).toMatchObject({ code: 2, stdout: '' })
    }
    await print(['import', '-', '--rejected', 'bad.csv'], 'x@site.io\n')
    expect(await read('bad.csv')).toBe('line,reason,address\r\n')
  })

  test('are twenty lines on standard error, and the exit code is 1 if there is no other row', async () => {
    const { run } = await createCliFixture()
    const { code, stderr } = await run(['import', '-'], `${'x\n'.repeat(22)}a@site.io\n`)
    expect(code).toBe(0)
    const lines = stderr.split('\n')
    expect(lines.slice(19, 21)).toEqual(['line 20: the address is not valid', 'and 2 more rejected rows'])
    const failed = { code: 1, stderr: expect.stringContaining('rollcall: no row could be imported\n') }
    expect(await run(['import', '-'], 'x\n')).toMatchObject(failed)
    // Nobody is on the list after an import that skips the other rows, too.
    const skipped = 'email,status\nx,subscribed\na@site.io,gone\n'
    expect(await run(['import', '-', '--treat', 'gone=skip'], skipped)).toMatchObject(failed)
  })
})

test('the encoding, the order of dates and the columns are options', async () => {
  const { print, rows, write } = await createCliFixture()
  const file = await write('old.csv', Buffer.from('Straße,Ort,Seit\n1/2/2024,München,a@site.io\n', 'latin1'))
  const args = ['--encoding', 'latin1', '--column', '3', '--date-column', 'straße', '--date-order', 'dmy']
  await print(['import', file, ...args])
  expect(await rows()).toMatchObject([{ email: 'a@site.io', subscribed_at: '2024-02-01T00:00:00.000Z' }])
})

test('an import that a signal stops can be started again, and the list is exact', async () => {
  const { folder, print, rows, start, write } = await createCliFixture()
  const addresses = Array.from({ length: 200_000 }, (_, index) => `user.${index}@site-${index % 9}.io`)
  const lines = addresses.map((address, index) => `${address},${index % 10 === 0 ? 'unsubscribed' : 'active'}\n`)
  const file = await write('list.csv', `email,status\n${lines.join('')}`)
  const child = start(['import', file])
  const sizeOf = (name: string) => statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0
  await until(() => sizeOf('list.db') + sizeOf('list.db-wal') > 3_000_000)
  child.kill('SIGINT')
  expect(await child.exited).toBe(130)
  expect(await child.stdout.text()).toBe('')
  expect(await child.stderr.text()).toMatch(
    /^[\d,]+ rows of 200,000 imported; import the same file again to continue: this is safe\nrollcall: stopped\n$/,
  )
  const { added, already_listed, suppressed } = JSON.parse(await print(['import', file, '--json']))
  expect({ rows: added + already_listed, suppressed }).toEqual({ rows: 180_000, suppressed: 20_000 })
  const listed = (await rows()).map(({ email }) => email)
  expect(listed.toSorted()).toEqual(addresses.filter((_, index) => index % 10 !== 0).toSorted())
  expect(await print(['import', file])).toStartWith('0 added, 180,000 already listed, 20,000 suppressed\n')
})
