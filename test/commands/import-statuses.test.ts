/** The command `import` with people who left, rejected rows, and a dry run. */

import { describe, expect, test } from 'bun:test'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createCliFixture } from '../support/cli-fixture.ts'

const LIST = `Email,Status,Created,Left
a@site.io,active,2020-01-01,
b@site.io,unsubscribed,2020-01-01,2024-05-31
c@site.io,pending,2020-01-01,
nobody,unsubscribed,2020-01-01,
d@site,active,2020-01-01,
`

const filesOf = async (folder: string) => (await readdir(folder)).filter((name) => !name.startsWith('list.db')).sort()

describe('the summary', () => {
  test('says which columns were read, and how many rows each status had', async () => {
    const { run, write } = await createCliFixture()
    expect(await run(['import', await write('old.csv', LIST)])).toEqual({
      code: 0,
      stdout: `1 new, 0 known, 0 suppressed, 1 opted out, 1 skipped, 2 rejected
address: "Email"; date: "Created"; status: "Status"
Status: active: 2 rows, subscribed
Status: unsubscribed: 2 rows, suppressed
Status: pending: 1 row, skip
`,
      stderr: 'rejected rows, with line numbers and reasons: old.csv.rejected.csv\n',
    })
  })

  test('as JSON, also of a dry run', async () => {
    const { folder, print, run, write } = await createCliFixture()
    const file = await write('old.csv', LIST)
    const summary = {
      ...{ added: 1, known: 0, suppressed: 0, opted_out: 1, removed: 0, kept: 0, skipped: 1, rejected: 2 },
      columns: { email: ['Email'], date: ['Created'], status: ['Status'] },
      statuses: [
        { column: 'Status', value: 'active', status: 'subscribed', rows: 2 },
        { column: 'Status', value: 'unsubscribed', status: 'suppressed', rows: 2 },
        { column: 'Status', value: 'pending', status: 'skip', rows: 1 },
      ],
    }
    const { code, stdout, stderr } = await run(['import', file, '--dry-run', '--json'])
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: 'line 5: the address is not valid\nline 6: the address is not valid\n',
    })
    expect(JSON.parse(stdout)).toEqual({ ...summary, rejected_file: null })
    expect(await readdir(folder)).toEqual([file])
    expect(JSON.parse(await print(['import', file, '--json']))).toEqual({
      ...summary,
      rejected_file: 'old.csv.rejected.csv',
    })
  })

  test('says who stays on the list after an opt-out', async () => {
    const { print, run } = await createCliFixture()
    await print(['import', '-'], 'a@site.io\nb@site.io\n')
    const list = 'email,unsubscribed_at\na@site.io,2020-01-01\nb@site.io,yes\nc@site.io,\n'
    const { stdout, stderr } = await run(['import', '-'], list)
    expect(stdout).toStartWith('1 new, 0 known, 0 suppressed, 2 opted out, 0 skipped, 0 rejected\n')
    expect(stderr).toBe(
      '2 people who opted out stay on the list: the subscription is newer, or the date of the opt-out is unknown\n',
    )
    const opted = await run(['import', '-', '--suppress'], 'a@site.io\nb@site.io\n')
    expect(opted).toEqual({
      code: 0,
      stdout: '0 new, 0 known, 0 suppressed, 2 opted out (2 removed from the list), 0 skipped, 0 rejected\n',
      stderr: '',
    })
    expect(await print(['count'])).toBe('1\n')
  })
})

describe('a dry run', () => {
  test('prints the same numbers as the import, also when people leave', async () => {
    const { print, write } = await createCliFixture()
    await print(['import', '-'], 'email,created\na@site.io,2020-01-01\nb@site.io,2024-06-01\nc@site.io,2020-01-01\n')
    await print(['remove', 'd@site.io'])
    const rows = ['a', 'b', 'c', 'd', 'e'].map((name) => `${name}@site.io,2024-01-01`)
    const file = await write('left.csv', `email,UNSUB_TIME\n${rows.join('\n')}\na@site.io,no\n`)
    const dryRun = JSON.parse(await print(['import', file, '--dry-run', '--json']))
    expect(dryRun).toMatchObject({ added: 0, suppressed: 1, opted_out: 5, removed: 2, kept: 1 })
    expect(await print(['count'])).toBe('3\n')
    expect(JSON.parse(await print(['import', file, '--json']))).toEqual(dryRun)
    expect(await print(['export', '--format', 'txt'])).toBe('b@site.io\n')
  })

  test('creates no list and no file, and prints the first rejected rows', async () => {
    const { folder, run } = await createCliFixture()
    const list = `a@site.io\n${'x\n'.repeat(12)}`
    const { code, stdout, stderr } = await run(['import', '-', '--dry-run'], list)
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'dry run: 1 new, 0 known, 0 suppressed, 12 rejected\n' })
    expect(stderr.split('\n').slice(-4)).toEqual([
      'line 10: the address is not valid',
      'line 11: the address is not valid',
      'and 2 more rejected rows',
      '',
    ])
    expect(await readdir(folder)).toEqual([])
  })
})

describe('a status that is not known', () => {
  test('stops the import before anything is written, from a file and from pipes', async () => {
    const list = 'email,status\na@site.io,active\nbad,active\nb@site.io,VIP\n'
    const { folder, run, shell, write } = await createCliFixture()
    const message =
      'line 4: "VIP" in the column "status" is not a known status; nothing was imported. Say what it means with ' +
      '--treat VALUE=subscribed, --treat VALUE=suppressed or --treat VALUE=skip, ' +
      'or choose the column with --status-column NAME or none\n'
    const expected = (name: string) => ({ code: 1, stdout: '', stderr: `rollcall: ${name}: ${message}` })
    const file = await write('list', list)
    expect(await run(['import', '-'], list)).toEqual(expected('standard input'))
    expect(await run(['import', file])).toEqual(expected(file))
    const pipe = await shell('rollcall import <(cat list)')
    expect(pipe).toEqual({ code: 1, stdout: '', stderr: expect.stringMatching(/^rollcall: \/dev\/fd\/\d+: line/) })
    expect(await readdir(folder)).toEqual([file])
  })

  test('gets its meaning from --treat, and the column from --status-column', async () => {
    const { print } = await createCliFixture()
    const list = 'email,status,level\na@site.io,x,Gold fish\nb@site.io,x,gone\nc@site.io,x,=\n'
    const args = ['--status-column', 'level', '--treat', 'gold-fish=subscribed', '--treat', 'GONE=suppressed']
    expect(await print(['import', '-', ...args, '--treat', '==skip'], list)).toStartWith(
      '1 new, 0 known, 0 suppressed, 1 opted out, 1 skipped, 0 rejected\n',
    )
    expect(await print(['import', '-', '--status-column', 'none'], list)).toStartWith(
      '1 new, 1 known, 1 suppressed, 0 rej',
    )
  })

  test.each([[['--treat', 'VIP']], [['--suppress', '--treat', 'VIP=skip']], [['--rejected', './list.csv']]])(
    '%j is a usage error',
    async (args) => {
      const { folder, run, write } = await createCliFixture()
      const { code, stdout } = await run(['import', await write('list.csv', 'email\na@site.io\n'), ...args])
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
      expect(await readdir(folder)).toEqual(['list.csv'])
    },
  )
})

describe('rejected rows', () => {
  test('of people who left do not add them when they are corrected', async () => {
    const { folder, print, write } = await createCliFixture()
    await print(['import', await write('old.csv', LIST)])
    const rejected = await readFile(join(folder, 'old.csv.rejected.csv'), 'utf8')
    expect(rejected.split('\r\n')).toEqual([
      'line,reason,treated_as,Email,Status,Created,Left',
      '5,the address is not valid,suppressed,nobody,unsubscribed,2020-01-01,',
      '6,the address is not valid,subscribed,d@site,active,2020-01-01,',
      '',
    ])
    await write('again.csv', rejected.replace('nobody', 'e@site.io'))
    expect(await print(['import', 'again.csv'])).toStartWith(
      '0 new, 0 known, 0 suppressed, 1 opted out, 0 skipped, 1 rej',
    )
    expect(await readFile(join(folder, 'again.csv.rejected.csv'), 'utf8')).toBe(
      'line,reason,treated_as,Email,Status,Created,Left\r\n3,the address is not valid,subscribed,d@site,active,2020-01-01,\r\n',
    )
    expect(await print(['export', '--format', 'txt'])).toBe('a@site.io\n')
  })

  test('of a file of opt-outs, and of NDJSON, keep the opt-out and its date', async () => {
    const { folder, print, run, write } = await createCliFixture()
    await run(['import', await write('left.txt', 'a@site\n'), '--suppress'])
    const json = '{"email":"b@site","status":"unsubscribed","unsubscribed_at":"2024-05-31"}\n'
    await run(['import', await write('left.ndjson', json)])
    expect(await readFile(join(folder, 'left.txt.rejected.csv'), 'utf8')).toBe(
      'line,reason,treated_as,email\r\n1,the address is not valid,suppressed,a@site\r\n',
    )
    expect(await readFile(join(folder, 'left.ndjson.rejected.csv'), 'utf8')).toBe(
      'line,reason,treated_as,email,subscribed_at,unsubscribed_at\r\n1,the address is not valid,suppressed,b@site,,2024-05-31\r\n',
    )
    for (const name of ['left.txt', 'left.ndjson']) {
      const path = join(folder, `${name}.rejected.csv`)
      await writeFile(path, (await readFile(path, 'utf8')).replace('@site', '@site.io'))
      expect(await print(['import', path])).toStartWith('0 new, 0 known, 0 suppressed, 1 opted out,')
    }
    expect(JSON.parse(await print(['count', '--json']))).toMatchObject({ subscribers: 0, suppressed: 2 })
  })

  test('that are imported again keep their columns', async () => {
    const { folder, run, write } = await createCliFixture()
    await run(['import', await write('a.csv', 'email,name\nx,X\n')])
    await run(['import', 'a.csv.rejected.csv', '--rejected', 'b.csv'])
    expect(await readFile(join(folder, 'b.csv'), 'utf8')).toBe(
      'line,reason,email,name\r\n2,the address is not valid,x,X\r\n',
    )
  })

  test('of an earlier import are removed when there are none, but no other file', async () => {
    const { folder, print, run, write } = await createCliFixture()
    await run(['import', await write('a.csv', 'email\nx\ny@site.io\n')])
    expect(await filesOf(folder)).toEqual(['a.csv', 'a.csv.rejected.csv'])
    await write('a.csv', 'email\nx@site.io\n')
    await print(['import', 'a.csv', '--dry-run'])
    expect(await filesOf(folder)).toEqual(['a.csv', 'a.csv.rejected.csv'])
    await print(['import', 'a.csv'])
    expect(await filesOf(folder)).toEqual(['a.csv'])
    await print(['import', 'a.csv', '--rejected', await write('notes.txt', 'my notes')])
    expect(await filesOf(folder)).toEqual(['a.csv', 'notes.txt'])
    await run(['import', '-'], 'x\ny@site.io\n')
    await print(['import', '-'], 'z@site.io\n')
    expect(await filesOf(folder)).toEqual(['a.csv', 'notes.txt', 'stdin.rejected.csv'])
  })

  test('decide the exit code', async () => {
    const { run } = await createCliFixture()
    expect(await run(['import', '-'], 'x\ny@site.io\n')).toMatchObject({ code: 0 })
    expect(await run(['import', '-'], 'x\ny\n')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('no row could be imported\n'),
    })
  })
})

test('a quote that is not closed, and a file in another encoding', async () => {
  const { print, run, write } = await createCliFixture()
  const quotes = await write('q.csv', 'email,name\na@site.io,"Ada\nb@site.io,Bob\nc@site.io,"Cyd"\nd@site.io,Dan\n')
  expect(await run(['import', quotes])).toEqual({
    code: 1,
    stdout: '',
    stderr:
      'rollcall: q.csv: line 2: a quote is not closed, and the rows up to line 4 are inside it; close or double it\n',
  })
  const latin1 = await write('l.csv', Buffer.from('email,name\na@site.io,Jürgen\n', 'latin1'))
  expect(await print(['import', latin1, '--encoding', 'latin1'])).toStartWith('1 new,')
  expect(
    await print(['import', '-', '--date-order', 'dmy', '--date-column', 'x'], 'email,x\nb@site.io,1/2/2024\n'),
  ).toStartWith('1 new, 0 known, 0 suppressed, 0 rejected\naddress: "email"; date: "x"; status: none\n')
})
