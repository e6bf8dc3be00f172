import { describe, expect, test } from 'bun:test'
import { readdirSync, renameSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createCliFixture } from '../support/cli-fixture.ts'
import { until } from '../support/wait.ts'

const ROWS = [
  { email: 'Ada@site.io', subscribed_at: '2020-01-02T03:04:05.000Z' },
  { email: 'bob@site.io', subscribed_at: '2021-02-03T00:00:00.000Z' },
]

const utf16le = Buffer.from(
  '\ufeffemail,created_at\nAda@site.io,2020-01-02 03:04:05\nbob@site.io,2021-02-03\n',
  'utf16le',
)

describe('an import reads', () => {
  test.each<readonly [string, string | Buffer]>([
    ['CSV', 'email,created_at\nAda@site.io,2020-01-02 03:04:05\nbob@site.io,2021-02-03\n'],
    [
      'CRLF, another order of columns, another name',
      'Joined At,E-Mail\r\n2020-01-02T03:04:05Z,Ada@site.io\r\n2021-02-03,bob@site.io',
    ],
    [
      'a column whose name contains "email"',
      'Contact Email Addresses,date\nAda@site.io,1577934245\nbob@site.io,2021-02-03\n',
    ],
    [
      'semicolons and a byte order mark',
      '\ufeffEmail Address;subscribed_at\nAda@site.io;2020-01-02T03:04:05Z\nbob@site.io;3.2.2021\n',
    ],
    ['tabs', 'id\temail\tcreated\n1\tAda@site.io\t2020-01-02T03:04:05Z\n2\tbob@site.io\t2021-02-03\n'],
    [
      'quotes, commas and line breaks in cells',
      'name,email,created\n"Love""lace,\nAda","Ada@site.io",2020-01-02T03:04:05Z\nB,bob@site.io,2021-02-03',
    ],
    ['blank lines', '\nemail,created\n\nAda@site.io,2020-01-02T03:04:05Z\n\n\nbob@site.io,2021-02-03\n\n'],
    [
      'a row with too many cells',
      'email,created,name\nAda@site.io,2020-01-02T03:04:05Z,x,y,z\nbob@site.io,2021-02-03\n',
    ],
    ['UTF-16, little-endian', utf16le],
    ['UTF-16, big-endian', Buffer.from(utf16le).swap16()],
    [
      'NDJSON',
      '{"email":"Ada@site.io","created_at":"2020-01-02T03:04:05Z"}\n{"created_at":1612310400,"Email":" bob@site.io "}\n',
    ],
  ])('%s', async (_, content) => {
    const { print, rows, write } = await createCliFixture()
    const file = await write('list', content)
    expect(await print(['import', file])).toStartWith('2 new, 0 known, 0 suppressed, 0 rejected\n')
    expect(await rows()).toEqual(ROWS.map((row, index) => ({ ...row, seq: index + 1 })))
  })

  test('one address per line, from standard input', async () => {
    const { print, rows } = await createCliFixture()
    const summary = await print(['import', '-', '--json'], 'Ada@site.io\r\nbob@site.io\n\nada@SITE.io')
    expect(JSON.parse(summary)).toEqual({
      ...{ added: 2, known: 1, suppressed: 0, rejected: 0, rejected_file: null },
      ...{ opted_out: 0, removed: 0, kept: 0, skipped: 0 },
      columns: { email: [], date: [], status: [] },
      statuses: [],
    })
    expect((await rows()).map(({ email }) => email)).toEqual(['Ada@site.io', 'bob@site.io'])
  })

  test('the column that --column names, or the number of a column if there is no header', async () => {
    const { print, rows, write } = await createCliFixture()
    await print([
      'import',
      await write('a.csv', 'work email,home email\nx@work.io,x@home.io\n'),
      '--column',
      'home email',
    ])
    await print(['import', await write('b.csv', '1,y@home.io\n2,z@home.io\n'), '--column', '2'])
    expect((await rows()).map(({ email }) => email)).toEqual(['x@home.io', 'y@home.io', 'z@home.io'])
  })

  test('domains outside ASCII, which it converts', async () => {
    const { print, rows } = await createCliFixture()
    await print(['import', '-'], 'a@bücher.io\nb@ＢＵ\u0308cher.IO\nc@straße.de\n')
    expect((await rows()).map(({ email }) => email)).toEqual([
      'a@xn--bcher-kva.io',
      'b@xn--bcher-kva.io',
      'c@xn--strae-oqa.de',
    ])
  })
})

describe('rejected rows', () => {
  test('are in a file with line numbers and reasons, which can be corrected and imported', async () => {
    const { folder, print, run, rows, write } = await createCliFixture()
    const file = await write(
      'old.csv',
      'name,email,created_at\n"two\nlines",nobody,2020-01-01\nB,ok@site.io,2020-01-01\nC,a@site.io,1/2/2020\nD,ü@site.io,\nE,b@-.io,\nF,x@site.io y@site.io,\nG\nH,n\0ul@site.io,\n',
    )
    const { code, stdout, stderr } = await run(['import', file])
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: '1 new, 0 known, 0 suppressed, 7 rejected\naddress: "email"; date: "created_at"; status: none\n',
    })
    expect(stderr).toBe('rejected rows, with line numbers and reasons: old.csv.rejected.csv\n')
    const rejected = await readFile(join(folder, 'old.csv.rejected.csv'), 'utf8')
    expect(rejected.split('\r\n')).toEqual([
      'line,reason,name,email,created_at',
      '3,the address is not valid,"two\nlines",nobody,2020-01-01',
      '5,"the date may be day/month or month/day: use --date-order, or 2024-05-31T12:34:56Z",C,a@site.io,1/2/2020',
      '6,the address has characters that are not printable ASCII,D,ü@site.io,',
      '7,the address is not valid,E,b@-.io,',
      '8,there is more than one address,F,x@site.io y@site.io,',
      '9,"there is no address; the row has 1 columns, the header 3",G',
      '10,the address has characters that are not printable ASCII,H,n\0ul@site.io,',
      '',
    ])
    await write('corrected.csv', rejected.replace('nobody', 'somebody@site.io').replace('1/2/2020', '2020-02-01'))
    expect(await print(['import', 'corrected.csv'])).toStartWith('2 new, 0 known, 0 suppressed, 5 rejected\n')
    expect((await rows()).map(({ email }) => email)).toEqual(['ok@site.io', 'somebody@site.io', 'a@site.io'])
  })

  test('of NDJSON are in the file that --rejected names', async () => {
    const { folder, print } = await createCliFixture()
    const lines = '{"email":"a@site.io"}\n{"email":\n["b@site.io"]\n{"mail":5}\n'
    expect(await print(['import', '-', '--rejected', 'bad.csv'], lines)).toStartWith('1 new')
    expect((await readFile(join(folder, 'bad.csv'), 'utf8')).split('\r\n')).toEqual([
      'line,reason,email,subscribed_at',
      '2,there is no address; it is not a JSON object,"{""email"":"',
      '3,there is no address; it is not a JSON object,"[""b@site.io""]"',
      '4,the address is not text,5,',
      '',
    ])
  })

  test('are in no file if there are none', async () => {
    const { folder, print } = await createCliFixture()
    await print(['import', '-'], 'a@site.io\n')
    expect((await readdir(folder)).filter((name) => !name.startsWith('list.db'))).toEqual([])
  })
})

describe('a file that cannot be imported', () => {
  const LONG = 'x'.repeat(10_000_000)
  test.each<readonly [string, string | Buffer, string]>([
    ['an empty file', '', 'it is empty'],
    ['only blank lines', '\n \r\n', 'it is empty'],
    [
      'no address column',
      'name,age\nAda,36\n',
      'there is no address column; name it with --column. The columns are: "name", "age"',
    ],
    ['several address columns', 'work email,home email\na@b.io,a@c.io\n', 'several columns may hold the address'],
    ['no header', 'a@site.io,Ada\n', 'there is no header: the first line holds an address'],
    [
      'Latin-1',
      Buffer.from('email,name\na@site.io,Jürgen\n', 'latin1'),
      'line 2: it is not UTF-8, and looks like Latin-1',
    ],
    [
      'UTF-16 without a byte order mark',
      Buffer.from('email\na@site.io\n', 'utf16le'),
      'it looks like UTF-16 without a byte order mark',
    ],
    ['a spreadsheet', 'PK\x03\x04\x14\0\x06\0', 'it is a zip archive'],
    ['a JSON array', '[{"email":"a@site.io"}]', 'it is a JSON array'],
    ['a row of 10 MB', `email\n${LONG}\n`, 'line 2: a row is longer than 1048576 characters'],
    ['a line of 10 MB', `a@site.io\n${LONG}\n`, 'line 2 is longer than 1048576 characters'],
    ['a first line of 10 MB', LONG, 'line 1 is longer than 1048576 characters'],
    [
      'a quote that is not closed',
      'email,name\na@site.io,"Ada\nb@site.io,B\n',
      'line 2: a quote is opened and never closed',
    ],
  ])('%s: a line on standard error, and exit code 1', async (_, content, message) => {
    const { folder, run, write } = await createCliFixture()
    const { code, stdout, stderr } = await run(['import', await write('list', content)])
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toStartWith(`rollcall: list: ${message}`)
    expect(stderr.length).toBeLessThan(500)
    expect((await readdir(folder)).filter((name) => name.includes('rejected'))).toEqual([])
  })

  test('a missing file, and a folder', async () => {
    const { run } = await createCliFixture()
    expect(await run(['import', 'none.csv'])).toMatchObject({
      code: 1,
      stderr: 'rollcall: none.csv: there is no such file or folder\n',
    })
    expect(await run(['import', '.'])).toMatchObject({ code: 1, stderr: 'rollcall: .: it is a folder\n' })
  })
})

describe('the list', () => {
  const ADDRESSES = Array.from({ length: 30_000 }, (_, index) => `user.${index}@site-${index % 9}.io`)

  test('--dry-run prints what would happen, also for repeats in the file, and changes nothing', async () => {
    const { print, run, write } = await createCliFixture()
    await print(['import', '-'], 'known@site.io\n')
    await print(['remove', 'gone@site.io'])
    const file = await write('l.txt', 'known@site.io\ngone@site.io\nnew@site.io\nNEW@site.io\nbad\n')
    const expected = { added: 1, known: 2, suppressed: 1, rejected: 1 }
    expect(JSON.parse(await print(['import', file, '--dry-run', '--json']))).toMatchObject(expected)
    expect(await run(['import', file, '--dry-run'])).toEqual({
      code: 0,
      stdout: 'dry run: 1 new, 2 known, 1 suppressed, 1 rejected\n',
      stderr: 'line 5: the address is not valid\n',
    })
    expect(await print(['count'])).toBe('1\n')
    expect(JSON.parse(await print(['import', file, '--json']))).toMatchObject(expected)
    expect(await print(['count'])).toBe('2\n')
  })

  test('is the same after an import that a signal stops and that is started again', async () => {
    const { folder, print, rows, start, write } = await createCliFixture()
    // The pipe stays open, so the import waits for more rows when the signal arrives.
    const child = start(['import', '-'])
    child.stdin.write(`email\nbad\n${ADDRESSES.slice(0, 20_000).join('\n')}\n`)
    await child.stdin.flush()
    await until(() => readdirSync(folder).some((name) => name.endsWith('.partial')))
    child.kill('SIGINT')
    expect(await child.exited).toBe(130)
    expect(await child.stdout.text()).toBe('')
    expect(await child.stderr.text()).toEndWith('rollcall: stopped\n')
    expect((await readdir(folder)).filter((name) => !name.startsWith('list.db'))).toEqual([])

    await print(['import', await write('list.csv', `email\n${ADDRESSES.join('\n')}\n`)])
    expect((await rows()).map(({ email }) => email)).toEqual(ADDRESSES)
    expect(await print(['import', 'list.csv'])).toStartWith('0 new, 30000 known, 0 suppressed, 0 rejected\n')
  })

  test('is lost when another file replaces it during an import, which fails and leaves that file as it is', async () => {
    const { folder, print, start } = await createCliFixture()
    const other = `sqlite:${join(folder, 'other.db')}`
    await print(['import', '-', '--list', other], 'other@site.io\n')
    const child = start(['import', '-'])
    child.stdin.write(`email\nbad\n${ADDRESSES.slice(0, 20_000).join('\n')}\n`)
    await child.stdin.flush()
    // It has opened the list, and waits for more rows.
    await until(() => readdirSync(folder).some((name) => name.endsWith('.partial')))
    const file = join(folder, 'list.db')
    const content = await Bun.file(join(folder, 'other.db')).bytes()
    renameSync(join(folder, 'other.db'), file)
    child.stdin.write('bob@site.io\n')
    await child.stdin.end()
    expect(await child.exited).toBe(1)
    expect(await child.stdout.text()).toBe('')
    expect(await child.stderr.text()).toEndWith(`rollcall: the list is lost: another file is at ${file}\n`)
    expect(await Bun.file(file).bytes()).toEqual(content)
  })
})
