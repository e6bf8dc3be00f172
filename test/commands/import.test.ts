/** The command `import`: what it writes to the list, and what it says. How lists are read: test/transfer/reading. */

import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { readdir, readFile, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { createCliFixture } from '../support/cli-fixture.ts'
import { holdBetweenBatches } from '../support/list-file.ts'
import { createSyncCounter } from '../support/sync-counter.ts'
import { until } from '../support/wait.ts'

const LIST = `Email,Status,Name,Created,unsubscribed_at
a@site.io,active,Ada,2020-01-01,
A@SITE.io,active,Ada,2019-01-01,
b@site.io,unsubscribed,Bob,2020-01-01,2024-05-31
c@site.io,pending,Cyd,2020-01-01,
nobody,unsubscribed,Dan,2020-01-01,
e@site,active,Eve,2020-01-01,
`

const REVIEW = `old.csv: 6 rows
address   "Email"
date      "Created", from 2019-01-01 to 2024-05-31; line 2 is 2020-01-01
status    "Status": active 3 subscribed; unsubscribed 2 left; pending 1 skipped
status    "unsubscribed_at": empty 5 subscribed; a date 1 left
not read  "Name"
      1  would be added
      1  already listed
      1  left: would be suppressed
      1  skipped
      2  rejected: line 6 "nobody", line 7 "e@site"
! rejected are 2 of 6 rows: --rejected FILE keeps them
`

const UNDO = `to give people back who were suppressed by mistake: rollcall remove --forget ADDRESS, and import them again
the import made no backup. If you have one, rollcall restore FILE takes everything back, also who subscribed since
`

const COUNTS = '1 added, 1 already listed, 1 suppressed, 1 skipped, 2 rejected\n'

describe('the review', () => {
  test('comes first, a doubt stops the import, and the command that is printed imports as shown', async () => {
    const { folder, list, run, shell, write } = await createCliFixture()
    const file = await write('old.csv', LIST)
    const dryRun = `${REVIEW}dry run: ${COUNTS}list: ${list} (would be created)\n`
    expect(await run(['import', file, '--dry-run'])).toEqual({ code: 0, stdout: dryRun, stderr: '' })
    const command = 'rollcall import old.csv --yes'
    const stderr = `${REVIEW}To import exactly as shown:\n  ${command}\nrollcall: nothing was imported: answer the lines that begin with !, or use --yes\n`
    expect(await run(['import', file])).toEqual({ code: 1, stdout: '', stderr })
    expect(await readdir(folder)).toEqual([file])
    const done = { code: 0, stdout: `${COUNTS}list: ${list} (created)\n`, stderr: REVIEW + UNDO }
    expect(await shell(command)).toEqual(done)
    const repeated = await run(['import', file, '--yes', '--dry-run'])
    expect(repeated.stdout).toContain(
      '      0  would be added\n      2  already listed\n      1  left: would be suppressed\n',
    )
    const again = '0 added, 2 already listed, 1 suppressed, 1 skipped, 2 rejected\n'
    expect(await run(['import', file, '--yes'])).toMatchObject({ stdout: `${again}list: ${list}\n` })
  })

  test('has no doubt when the columns are named, and a change of the file stops it again', async () => {
    const { run } = await createCliFixture()
    const args = ['import', '-', '--ignore-column', 'VIP']
    expect(await run(args, 'email,VIP\na@site.io,x\nb@site.io,\n')).toMatchObject({ code: 0 })
    expect(await run(args, 'email,VIP,gone\na@site.io,x,\nc@site.io,,x\n')).toMatchObject({ code: 1, stdout: '' })
  })

  test('is one object with --json, also when a doubt stops the import', async () => {
    const { folder, list, run, write } = await createCliFixture()
    const file = await write('old.csv', LIST)
    const facts = {
      ...{ list, created: false, rows: 6, skipped: 1, rejected: 2, empty: 0 },
      rejected_rows: [
        { line: 6, reason: 'the address is not valid', cell: 'nobody' },
        { line: 7, reason: 'the address is not valid', cell: 'e@site' },
      ],
      columns: { email: ['Email'], date: ['Created'], status: ['Status', 'unsubscribed_at'], unread: ['Name'] },
      dates: { first: '2019-01-01T00:00:00.000Z', last: '2024-05-31T00:00:00.000Z' },
      doubts: ['rejected are 2 of 6 rows: --rejected FILE keeps them'],
    }
    const stopped = await run(['import', file, '--json'])
    expect(stopped).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('  rollcall import old.csv --json --yes\n'),
    })
    expect(JSON.parse(stopped.stdout)).toMatchObject(facts)
    expect(JSON.parse(stopped.stdout)).toMatchObject({ added: 0, suppressed: 0 })
    expect(await readdir(folder)).toEqual([file])
    const { stdout, stderr } = await run(['import', file, '--json', '--yes'])
    expect(JSON.parse(stdout)).toMatchObject({ ...facts, created: true, added: 1, already_listed: 1 })
    expect(stderr).toBe('')
  })

  test('escapes what comes from the file', async () => {
    const { run } = await createCliFixture()
    const { stderr } = await run(['import', '-'], 'email,status,n\u001b[2Ka\u009bm\u202ee\na@site.io,active,x\n')
    expect(stderr).toContain('not read  "n\\u001b[2Ka\\u009bm\\u202ee"\n')
  })

  test('shows no password in the command', async () => {
    const { run } = await createCliFixture()
    for (const option of [
      ['--list', 'postgres://ada:secret@db.site.io/news'],
      ['--list=postgres://ada:secret@db.site.io/news'],
    ]) {
      const { code, stderr } = await run(['import', '-', ...option], 'email,status\na@site.io,VIP\n')
      expect(code).toBe(1)
      expect(stderr).toContain(
        `  rollcall import - ${option.join(' ').replace('secret', 'PASSWORD')} --treat status:VIP=STATUS\n`,
      )
      expect(stderr).not.toContain('secret')
    }
  })
})

test.each([
  ['email,name\n', 'standard input: there is no row'],
  ['email\n\n', 'standard input: there is no row'],
  ['email,name\n,\n', 'standard input: there is no row'],
  ['[]', 'standard input: there is no row'],
  ['', 'standard input: it is empty'],
])('a file without a row is a failure: %j', async (text, message) => {
  const { folder, run } = await createCliFixture()
  const { code, stdout, stderr } = await run(['import', '-', '--yes'], text)
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toContain(`rollcall: ${message}`)
  expect(await readdir(folder)).toEqual([])
})

describe('people who left', () => {
  test('are removed when the opt-out is newer, and kept when it is older or its date is unknown', async () => {
    const { print, run, write } = await createCliFixture()
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
    const stopped = await run(['import', file])
    expect(stopped).toMatchObject({ code: 1, stdout: '' })
    expect(stopped.stderr).toContain(
      '      2  left, and would stay on the list (subscribed later, or the date is unknown)\n',
    )
    expect(stopped.stderr).toContain(
      '! 1 person who left would stay on the list, because the file has no date, such as in line 4: ' +
        '--undated remove removes them, --undated keep keeps them\n',
    )
    expect(await print(['import', file, '--undated', 'keep'])).toStartWith(
      '1 added, 0 already listed, 3 suppressed (1 removed from the list), 2 left but kept (subscribed later, or the date is ' +
        'unknown), 1 left out (suppressed before, or in another row)\n',
    )
    expect(await print(['export', '--format', 'txt'])).toBe('b@site.io\nc@site.io\nf@site.io\n')
    expect(await print(['import', file, '--undated', 'remove'])).toContain('4 suppressed (1 removed from the list)')
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
    [['*=suppressed', '0=subscribed'], 'suppressed'],
    [['*=skip', '0=subscribed'], 'skipped'],
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
    await print(['import', '-'], 'd@site.io\n')
    expect(await print(['import', '-', '--suppress'], 'A@site.io\nc@site.io\n')).toStartWith(
      '0 added, 0 already listed, 2 suppressed (1 removed from the list)\n',
    )
    expect(await print(['import', '-'], 'a@site.io\nb@site.io\nc@site.io\n')).toStartWith(
      '0 added, 1 already listed, 2 left out (suppressed before, or in another row)\n',
    )
    expect(await print(['export', '--format', 'txt'])).toBe('b@site.io\nd@site.io\n')
  })
})

describe('the second import', () => {
  const FIRST =
    'Name;E-Mail;Newsletter;Erstellt am\nAda;ada@site.io;ja;31.05.2024\nBob;bob@site.io;ja;01.06.2024\nCyd;cyd@site.io;ja;01.06.2024\n'

  test('shows what it would do to the list, before the question', async () => {
    const { print, write } = await createCliFixture()
    await print(
      ['import', '-'],
      'email,created\na@site.io,2020-01-01\nb@site.io,2020-01-01\nc@site.io,2024-06-01\nx@site.io,2020-01-01\n',
    )
    await print(['remove', 'd@site.io'])
    const left =
      'a@site.io,,\nb@site.io,2024-01-01,\nc@site.io,2024-01-01,\nd@site.io,,\ne@site.io,,\nf@site.io,2024-01-01,\n'
    const file = await write('list.csv', `email,unsubscribed_at,name\n${left}`)
    const shown = await print(['import', file, '--dry-run'])
    expect(shown).toContain(`
      1  would be added
      1  already listed
      2  left: would be suppressed, 1 removed from the list
      1  left, and would stay on the list (subscribed later, or the date is unknown)
      1  left out (suppressed before, or in another row)
dry run: `)
    expect(JSON.parse(await print(['import', file, '--dry-run', '--json'])).would).toEqual({
      ...{ added: 1, already_listed: 1, left_out: 1, suppressed: 2, removed: 1, kept: 1 },
    })
  })

  test('has no doubt about the missing date of somebody who is on the list', async () => {
    const { print, run } = await createCliFixture()
    const rows = 'email,created_at\na@site.io,2024-05-31\nb@site.io,\n'
    await print(['import', '-', '--date-column', 'created_at'], rows)
    expect(await print(['import', '-'], rows)).toStartWith('0 added, 2 already listed')
    const more = await run(['import', '-'], `${rows}c@site.io,\n`)
    expect(more.stderr).toContain('! 1 row would be added without a date, such as line 4 "c@site.io": ')
  })

  test('stops when somebody on the list is skipped, and both options that it names answer that', async () => {
    const { print, run } = await createCliFixture()
    await print(['import', '-'], FIRST)
    const second = FIRST.replace('bob@site.io;ja', 'bob@site.io;nein')
    const stopped = await run(['import', '-'], second)
    expect(stopped).toMatchObject({ code: 1, stdout: '' })
    expect(stopped.stderr).toContain(
      '! 1 person on the list would be skipped, and stay: "Newsletter" is "nein", such as in line 3: ' +
        '--treat Newsletter:nein=suppressed removes them, --treat Newsletter:nein=skip leaves them\n',
    )
    expect(await print(['import', '-', '--treat', 'Newsletter:nein=skip'], second)).toStartWith(
      '0 added, 2 already listed, 1 skipped',
    )
    expect(await print(['import', '-', '--treat', 'Newsletter:nein=suppressed'], second)).toContain(
      '1 suppressed (1 removed',
    )
    expect(await print(['import', '-'], second)).toStartWith('0 added, 2 already listed, 1 skipped')
    // Another row of the person counts more.
    const twice = `${FIRST}Ada;ada@site.io;nein;01.06.2024\n`
    expect(await print(['import', '-'], twice)).toContain('1 skipped')
  })

  test('names an option that removes only where it removes', async () => {
    const { print, run } = await createCliFixture()
    await print(['import', '-'], 'email,created\na@site.io,2020-01-01\nb@site.io,2024-06-01\nc@site.io,2020-01-01\n')
    await print(['import', '-'], 'd@site.io\ne@site.io\nf@site.io\n')
    const rows = (names: string) => [...names].map((name) => `${name}@site.io,no,2023-01-01\n`).join('')
    const some = `email,Newsletter,created\n${rows('abb')}`
    const { stderr } = await run(['import', '-'], some)
    expect(stderr).toContain(
      '! 2 people on the list would be skipped, and stay: "Newsletter" is "no", such as in line 2: ' +
        '--treat Newsletter:no=suppressed removes 1 of them (the others: subscribed later, or the date is unknown), --treat Newsletter:no=skip leaves them\n',
    )
    expect(await print(['import', '-', '--treat', 'Newsletter:no=suppressed'], some)).toContain('(1 removed')
    const none = `email,Newsletter,created\n${rows('b')}`
    expect((await run(['import', '-'], none)).stderr).toContain(
      ' is "no", such as in line 2: --treat Newsletter:no=skip leaves them\n',
    )
  })

  test('counts somebody in two rows once', async () => {
    const { print, run } = await createCliFixture()
    await print(['import', '-'], 'a@site.io\nb@site.io\nc@site.io\n')
    const skipped = 'email,Newsletter\na@site.io,no\nA@site.io,no\n'
    expect((await run(['import', '-'], skipped)).stderr).toContain('! 1 person on the list would be skipped, and stay')
    const left = 'email,status\na@site.io,unsubscribed\nA@site.io,unsubscribed\n'
    expect((await run(['import', '-'], left)).stderr).toContain('! 1 person who left would stay on the list')
  })

  test('does not write rejected rows in the place of a list that is not there yet', async () => {
    const { folder, run } = await createCliFixture()
    for (const name of ['new.db', './new.db']) {
      const args = ['import', '-', '--list', 'sqlite:new.db', '--rejected', name]
      expect(await run(args, 'ada@site.io\nbad@\n')).toEqual({
        code: 2,
        stdout: '',
        stderr: 'rollcall: --rejected is the list\n',
      })
    }
    expect(existsSync(join(folder, 'new.db'))).toBe(false)
  })

  test('asks nothing about a row of which the owner answered one of two values', async () => {
    const { print, run } = await createCliFixture()
    await print(['import', '-'], 'a@site.io\nb@site.io\nc@site.io\n')
    const text = 'email,Status,Newsletter\na@site.io,archived,no\nb@site.io,active,yes\n'
    const { stderr } = await run(['import', '-'], text)
    expect(stderr).toContain('"Status" is "archived"')
    expect(await print(['import', '-', '--treat', 'Newsletter:no=skip'], text)).toContain('1 skipped')
  })

  test('names an option that removes people without a date, too', async () => {
    const { print, run } = await createCliFixture()
    const text = 'email,Newsletter\na@site.io,yes\nb@site.io,yes\n'
    await print(['import', '-'], text)
    const { stderr } = await run(['import', '-'], text.replace('b@site.io,yes', 'b@site.io,no'))
    const [, options = ''] = /(--treat \S+=suppressed --undated remove) removes them/.exec(stderr) ?? []
    expect(
      await print(['import', '-', ...options.split(' ')], text.replace('b@site.io,yes', 'b@site.io,no')),
    ).toContain('(1 removed')
  })

  test('names no option that would remove nobody, because the owner keeps people without a date', async () => {
    const { print, run } = await createCliFixture()
    const text = 'email,Newsletter\na@site.io,yes\nb@site.io,yes\n'
    await print(['import', '-'], text)
    const { stderr } = await run(['import', '-', '--undated', 'keep'], text.replace('b@site.io,yes', 'b@site.io,no'))
    expect(stderr).toMatch(/! 1 person on the list would be skipped, and stay: .*: --treat \S+=skip leaves them$/m)
  })

  test('removes who left on the day of the subscription, also when its time has no zone', async () => {
    for (const at of ['2026-11-20', '20.11.2026', '2026-11-20 10:30:00']) {
      const { print } = await createCliFixture()
      await print(['import', '-'], 'email,created\nada@site.io,2020-01-01\nbob@site.io,2026-11-20T14:00:00Z\n')
      expect(await print(['import', '-'], `email,status,unsubscribed_at\nbob@site.io,unsubscribed,${at}\n`)).toContain(
        '(1 removed',
      )
    }
  })

  test('stops when it would remove more than half of the list, and --accept answers that', async () => {
    const { print, run } = await createCliFixture()
    await print(['import', '-'], 'a@site.io\nb@site.io\nc@site.io\n')
    const { code, stderr } = await run(['import', '-', '--suppress'], 'a@site.io\nb@site.io\n')
    expect(code).toBe(1)
    expect(stderr).toContain('! it would remove 2 of 3 people on the list: --accept removals if that is right\n')
    expect(await run(['import', '-', '--suppress', '--accept', 'all'], 'a@site.io\n')).toMatchObject({ code: 2 })
    expect(await print(['import', '-', '--suppress', '--accept', 'removals'], 'a@site.io\nb@site.io\n')).toContain(
      '(2 removed',
    )
  })

  test('stops when --suppress meets a whole export', async () => {
    const { print, run } = await createCliFixture()
    const text = 'Email,Status\na@site.io,Subscribed\nb@site.io,Unsubscribed\n'
    await print(['import', '-'], text)
    const { code, stderr } = await run(['import', '-', '--suppress'], text)
    expect(code).toBe(1)
    expect(stderr).toContain(
      '! "Status" says that people are subscribed ("Subscribed", 1 row), and --suppress removes everybody',
    )
    expect(await print(['count'])).toBe('1\n')
  })

  test('names those who are left out in the file of rejected rows', async () => {
    const { folder, print } = await createCliFixture()
    await print(['import', '-'], 'a@site.io\n')
    await print(['remove', 'a@site.io'])
    const text = 'email,status\na@site.io,active\nb@site.io,active\nb@site.io,unsubscribed\n'
    await print(['import', '-', '--rejected', 'out.csv'], text)
    expect(await readFile(join(folder, 'out.csv'), 'utf8')).toBe(
      'line,reason,cell\r\n' +
        '2,"the address is suppressed on this list: the person was removed or left. ""remove --forget"" lets it be imported",a@site.io\r\n' +
        '3,another row says that the person left,b@site.io\r\n',
    )
  })

  test('does not replace the file on standard input with the rejected rows', async () => {
    const { folder, shell, write } = await createCliFixture()
    await write('list.csv', 'email\na@site.io\nb@\n')
    expect(await shell('rollcall import - --rejected list.csv < list.csv')).toEqual({
      code: 2,
      stdout: '',
      stderr: 'rollcall: --rejected is the file that is imported\n',
    })
    expect(await readFile(join(folder, 'list.csv'), 'utf8')).toBe('email\na@site.io\nb@\n')
  })

  test('names the list of --list in what it says to run', async () => {
    const { run } = await createCliFixture()
    const list = ['--list', 'sqlite:other.db']
    await run(['import', '-', ...list], 'email\na@site.io\n')
    const { stderr } = await run(
      ['import', '-', ...list, '--yes', '--undated', 'remove'],
      'email,status\na@site.io,unsubscribed\nb@site.io,active\n',
    )
    expect(stderr).toContain('rollcall remove --list sqlite:other.db --forget ADDRESS,')
    expect(stderr).toContain('rollcall restore --list sqlite:other.db FILE takes')
  })

  test('takes the answer for a column in Turkish, and for one whose name is a number', async () => {
    const { run } = await createCliFixture()
    const columns = ['--status-column', 'İzin']
    const text = 'email,İzin,1,2\na@site.io,Belki,x,y\n'
    const { stderr } = await run(['import', '-', ...columns], text)
    expect(stderr).toContain("--treat 'İzin:Belki=STATUS'")
    expect(await run(['import', '-', ...columns, '--treat', 'İzin:Belki=subscribed', '--dry-run'], text)).toMatchObject(
      {
        code: 0,
      },
    )
    const ofNumbers = await run(['import', '-'], 'email,1,2\na@site.io,unsubscribed,x\nb@site.io,,y\n')
    expect(ofNumbers.stderr).toContain('--status-column 1 if it does')
  })

  test('has all that is unknown in one command, also what a program writes for no value', async () => {
    const { run } = await createCliFixture()
    const values = ['NULL', ...Array.from({ length: 11 }, (_, index) => `kind ${index}`)]
    const text = `email,consent\n${values.map((value, index) => `a${index}@site.io,${value}\n`).join('')}`
    const { stderr } = await run(['import', '-', '--status-column', 'consent'], text)
    const [, command = ''] = /^ {2}rollcall (import .*)$/m.exec(stderr) ?? []
    expect(command).toContain('--treat consent:=STATUS')
    const words = [...command.matchAll(/'[^']*'|\S+/g)].map(([word]) => word.replaceAll("'", ''))
    const filled = words.map((word) => word.replace('=STATUS', '=subscribed'))
    expect(await run([...filled, '--yes'], text)).toMatchObject({ code: 0 })
  })

  test('reads the name of a file on standard input', async () => {
    const { shell, write } = await createCliFixture()
    await write('unsubscribes.csv', 'email\na@site.io\n')
    const stopped = await shell('rollcall import - < unsubscribes.csv')
    expect(stopped).toMatchObject({ code: 1, stdout: '' })
    expect(stopped.stderr).toContain('! the name of the file says that people left')
  })
})

describe('people who left, with the cursor of a hand-over', () => {
  test('are those who were handed over, whatever the dates; later ones and their suppressions stay as they are', async () => {
    const { print, run, rows, write } = await createCliFixture()
    await print(['import', '-'], 'a@site.io\nb@site.io\n')
    await print(['export', '--cursor-file', 'tool.cursor'])
    await print(['import', '-'], 'email,created\nc@site.io,2020-01-01\n')
    const args = ['import', '-', '--suppress', '--cursor-file', 'tool.cursor']
    const left = 'A@site.io\nc@site.io\nd@site.io\n'
    const counts = '2 suppressed (1 removed from the list), 1 left but kept (not handed over yet)\n'
    expect(await print([...args, '--dry-run'], left)).toContain(`dry run: 0 added, 0 already listed, ${counts}`)
    const { stdout, stderr } = await run(args, left)
    expect(stdout).toContain(`0 added, 0 already listed, ${counts}`)
    expect(stderr).not.toContain('unknown date')
    expect((await rows()).map(({ email }) => email)).toEqual(['b@site.io', 'c@site.io'])
    // The same for a file of all contacts, whose only date may be that of the subscription over there.
    await write('ghost.csv', 'email,subscribed_to_emails,created_at\nb@site.io,false,2019-01-01T10:00:00.000Z\n')
    expect(await print(['import', 'ghost.csv', '--cursor-file', 'tool.cursor'])).toContain('1 suppressed (1 removed')
  })

  test('stay when the cursor is missing, of another list, or in use', async () => {
    const { list, print, run, start, write } = await createCliFixture()
    await print(['import', '-'], 'a@site.io\n')
    const says = async (file: string, more: readonly string[] = []) => {
      const args = ['import', '-', '--suppress', '--cursor-file', file, ...more]
      const { code, stdout, stderr } = await run(args, 'a@site.io\n')
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
      return stderr
    }
    expect(await says('none')).toContain('none: there is no such file: nobody was handed over with it\n')
    await write('other', '1 0123456789abcdef\n')
    expect(await says('other')).toContain('the cursor 1 belongs to another list')
    await print(['export', '--cursor-file', 'c'])
    expect(await says('c', ['--list', list.replace('list.db', 'none.db')])).toContain('there is no list at')
    await print(['import', '-'], 'b@site.io\n')
    const hold = 'cat; touch held; until test -e ready; do sleep 0.01; done'
    const held = start(['export', '--cursor-file', 'c', '--exec', hold])
    await until(() => existsSync(join(list.slice('sqlite:'.length), '..', 'held')), 'the command')
    expect(await says('c')).toContain('c: another command uses this cursor file: wait for its end\n')
    await write('ready', '')
    expect(await held.exited).toBe(0)
    expect(await print(['count'])).toStartWith('2')
  })
})

test('an unknown status stops the import before anything is written, and the command must be filled in', async () => {
  const { folder, rows, run, shell, write } = await createCliFixture()
  const text = 'email,status\na@site.io,active\nb@site.io,VIP\nc@site.io,VIP\nd@site.io,it\u2019s gone\n'
  const file = await write('old.csv', text)
  const command = "rollcall import old.csv --yes --treat status:VIP=STATUS --treat 'status:it\u2019s gone=STATUS'"
  const stderr = `! "status": line 3: "VIP" (2 rows) is not a known status: --treat
! "status": line 5: "it\u2019s gone" (1 row) is not a known status: --treat
Put subscribed, suppressed (the person left) or skip (neither) in the place of each STATUS:
  ${command}
If "status" does not say who left: --ignore-column
rollcall: nothing was imported: only you know who left
`
  expect(await run(['import', file, '--yes'])).toEqual({ code: 1, stdout: '', stderr })
  const failure = { code: 1, stdout: '', stderr: expect.stringContaining('only you know who left') }
  expect(await run(['import', '-'], text)).toEqual(failure)
  expect(await shell('rollcall import <(cat old.csv) --dry-run')).toEqual(failure)
  expect(await shell(command)).toMatchObject({ code: 2, stdout: '' })
  expect(await readdir(folder)).toEqual([file])
  await shell(command.replace('VIP=STATUS', 'VIP=subscribed').replace('gone=STATUS', 'gone=suppressed'))
  expect((await rows()).map(({ email }) => email)).toEqual(['a@site.io', 'b@site.io', 'c@site.io'])
})

test('many unknown values are one in the command', async () => {
  const { run } = await createCliFixture()
  const lines = Array.from({ length: 30 }, (_, index) => `${index}@site.io,value ${index}\n`)
  const { stderr } = await run(['import', '-'], `email,status\n${lines.join('')}`)
  expect(stderr.split('\n')).toHaveLength(16)
  expect(stderr).toContain(
    '"value 9" (1 row) is not a known status: --treat\n! and 20 more values of no known status\n',
  )
  expect(stderr).toContain("  rollcall import - --treat 'status:*=STATUS'\n")
})

describe('rejected rows', () => {
  test('are in the file that --rejected names, and in no other', async () => {
    const { folder, print, run, write } = await createCliFixture()
    const file = await write('old.csv', `${LIST}"no, ""body""",active,,,\n`)
    const read = (name: string) => readFile(join(folder, name), 'utf8')
    await run(['import', file, '--rejected', 'dry.csv', '--dry-run'])
    expect(await readdir(folder)).toEqual([file])
    // It stops at a doubt, and names no file that it has not written.
    const doubtful = 'email,VIP\na@site.io,x\nb@site.io,\nc\n'
    const stopped = await run(['import', '-', '--rejected', 'bad.csv', '--json'], doubtful)
    expect(JSON.parse(stopped.stdout)).toMatchObject({ rejected: 1, rejected_file: null })
    expect(await readdir(folder)).toEqual([file])
    // It answers the doubt that there are many of them.
    const done = await run(['import', file, '--rejected', 'bad.csv', '--json'])
    expect(JSON.parse(done.stdout)).toMatchObject({ rejected: 3, rejected_file: 'bad.csv' })
    expect(await read('bad.csv')).toBe(
      'line,reason,cell\r\n6,the address is not valid,nobody\r\n7,the address is not valid,e@site\r\n8,the address is not valid,"no, ""body"""\r\n',
    )
    expect(await run(['import', 'bad.csv'])).toMatchObject({ code: 1, stdout: '' })
    for (const name of ['list.db', './old.csv']) {
      expect(await run(['import', file, '--rejected', name])).toMatchObject({ code: 2, stdout: '' })
    }
    await print(['import', '-', '--rejected', 'bad.csv'], 'x@site.io\n')
    expect(await read('bad.csv')).toBe('line,reason,cell\r\n')
  })

  test('are a failure if there is no other row', async () => {
    const { folder, run } = await createCliFixture()
    const failed = { code: 1, stdout: '', stderr: expect.stringContaining('rollcall: no row could be imported\n') }
    expect(await run(['import', '-', '--yes'], 'x\n')).toMatchObject(failed)
    for (const option of ['--dry-run', '--json']) {
      const reviewed = await run(['import', '-', option], 'x\n')
      expect(reviewed).toMatchObject({ code: 1, stderr: expect.stringContaining('rejected: line 1 "x"\n') })
    }
    expect(await run(['import', '-', '--rejected', 'bad.csv'], 'x\n')).toMatchObject(failed)
    expect(await readFile(join(folder, 'bad.csv'), 'utf8')).toBe('line,reason,cell\r\n1,the address is not valid,x\r\n')
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
  const addresses = Array.from({ length: 20_000 }, (_, index) => `user.${index}@site-${index % 9}.io`)
  const lines = addresses.map((address, index) => `${address},${index % 10 === 0 ? 'unsubscribed' : 'active'}\n`)
  const file = await write('list.csv', `email,status\n${lines.join('')}`)
  const child = start(['import', file])
  const release = await holdBetweenBatches(join(folder, 'list.db'), 'subscribers')
  child.kill('SIGINT')
  release()
  expect(await child.exited).toBe(130)
  expect(await child.stdout.text()).toBe('')
  expect(await child.stderr.text()).toMatch(
    /[\d,]+ addresses of 20,000 imported; import the same file again to continue: nobody is added twice\nrollcall: stopped\n$/,
  )
  const { added, already_listed, suppressed } = JSON.parse(await print(['import', file, '--json']))
  expect({ rows: added + already_listed, suppressed }).toEqual({ rows: 18_000, suppressed: 2_000 })
  const listed = (await rows()).map(({ email }) => email)
  expect(listed.toSorted()).toEqual(addresses.filter((_, index) => index % 10 !== 0).toSorted())
  expect(await print(['import', file])).toStartWith('0 added, 18,000 already listed, 2,000 suppressed\n')
})

test.each([
  ['an import', 'import', 20_001],
  ['a removal', 'remove', 1],
])('Ctrl-Z stops %s between two transactions: the list is free', async (_, verb, people) => {
  const { folder, print, rows, start } = await createCliFixture()
  const text = Array.from({ length: 20_000 }, (_, index) => `user.${index}@site-${index % 9}.io\n`).join('')
  await print(['import', '-'], verb === 'remove' ? `stays@site.io\n${text}` : 'stays@site.io\n')
  const file = join(await realpath(folder), 'list.db')
  const counter = await createSyncCounter()
  const release = counter.holdSyncsOf(`${file}-wal`)
  const child = start([verb, '-'], counter.env)
  child.stdin.write(text)
  child.stdin.end()
  await until(() => counter.count(`${file}-wal`) === 1, 'the command syncs what it commits')
  using db = new Database(file)
  // Without a wait for the lock.
  const takeLock = () => db.transaction(() => undefined).immediate()
  expect(takeLock).toThrow('locked')
  child.kill('SIGTSTP')
  release()
  const isStopped = () => /^State:\tT/m.test(readFileSync(`/proc/${child.pid}/status`, 'utf8'))
  await until(isStopped, 'the command stands still')
  expect(takeLock).not.toThrow()
  child.kill('SIGCONT')
  expect(await child.exited).toBe(0)
  expect(await rows()).toHaveLength(people)
})
