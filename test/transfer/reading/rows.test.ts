/** What becomes of the rows of a list. */

import { describe, expect, test } from 'bun:test'
import { type Options, read, treat } from '../read.ts'

/** Subscribers and opt-outs by their name and day, the number of skipped rows, and rejected rows with their lines. */
function summarize(text: string, options?: Options) {
  const { subscribers, optOuts, skipped, rejected } = read(text, options)
  const toName = (email: string, date?: Date) =>
    [email.replace(/@.*/, ''), date?.toISOString().slice(0, 10)].filter(Boolean).join(' ')
  return {
    added: subscribers.map(({ email, subscribedAt }) => toName(email, subscribedAt)),
    left: optOuts.map(({ email, optedOutAt }) => toName(email, optedOutAt)),
    skipped,
    rejected: rejected.map(({ line, reason }) => `${line}: ${reason}`),
  }
}

const NOTHING = { added: [], left: [], skipped: 0, rejected: [] }
describe('the address', () => {
  test.each<readonly [what: string, text: string, rejected?: readonly string[]]>([
    ['one per line', 'a@site.io\n\n b@site.io \r\n'],
    ['a column of that name', 'Name;E-Mail\nA;a@site.io\nB;b@site.io\n'],
    ['the one column that holds addresses', 'Namn;E-post (privat)\nA;a@site.io\nB;b@site.io\n'],
    ['a name that is not known, beside a postal address', 'Address,Contact\n1 High St,a@site.io\n,b@site.io\n'],
    ['without a header', '1,a@site.io,Ada\n2,b@site.io,Bob\n'],
    ['NDJSON', '{"email":"a@site.io"}\n{"name":"Bob","email":"b@site.io"}\n'],
    ['NDJSON with another name', '{"contact":"a@site.io"}\n{"contact":"b@site.io"}\n'],
    ['a title before the header', 'Members for news\nEmail address,Nickname\na@site.io,A\nb@site.io,B\n'],
    ['a title before one column', 'Our readers\n\nEmail\na@site.io\nb@site.io\n'],
    ['comments', '# Exported on 2024-05-31, by Ada\n\n#\nname,email\nA,a@site.io\nB,b@site.io\n'],
    ['a first column that Typeform calls #', '#,What is your email?\n1,a@site.io\n2,b@site.io\n'],
    ["Excel's line with the delimiter", '"sep=\t"\r\nEmail\tName, first\r\na@site.io\tA\r\nb@site.io\tB\r\n'],
    ['what people write around it', 'email\n"Ada, A. <a@site.io>"\nb@site.io <b@site.io>\n'],
    ['several in a line', 'a@site.io, b@site.io\n'],
    ['several in a cell', 'email,name\n"a@site.io; B <b@site.io>",Ada and Bob\n'],
    ['several in a line, below a header', 'email\na@site.io;b@site.io\n'],
    ['a single column in quotes', '"email"\n"""A"" <a@site.io>"\n"b@site.io"\n'],
    ['a carriage return ends a line', 'email,name\ra@site.io,A\rb@site.io,B\r'],
    ['a first cell with several lines', 'name,email\n"Ada\nLovelace",a@site.io\nB,b@site.io\n'],
    ['a JSON array', '[{"email":"a@site.io"},{"email":"b@site.io"}]'],
    ['a JSON array of texts', '["a@site.io","b@site.io"]'],
    ['a list in a JSON object', '{"total":2,"data":{"people":[{"email":"a@site.io"},{"email":"b@site.io"}]},"x":[]}'],
    ['a list beside links', '{"m":[{"email":"a@site.io"},{"email":"b@site.io"}],"_links":[{"rel":"self"}]}'],
    ['JSON objects on several lines', '{\n"email": "a@site.io"\n}\n{\n"email": "b@site.io"\n}\n'],
    ['JSON objects with lists', '{"email":"a@site.io","tags":[{"id":1}]}\n{"email":"b@site.io","tags":[]}\n'],
    ['a URL', 'email,name\nmailto:a%40site.io,A\nmailto:b@site.io?subject=Hi%20there,B\n'],
    ['a link', 'email;name\n[a@site.io](mailto:a@site.io);A\nmailto:b@site.io;B\n'],
    ['a formula', 'email,name\n"=""a@site.io""",A\n"=HYPERLINK(""mailto:b@site.io"",""B"")",B\n'],
    ['a comment', 'email,name\na@site.io (private),A\n(work) <b@site.io>,B\n'],
    ['several with other separators', 'email,name\na@site.io / b@site.io,A\n'],
    ['several as Google writes them', 'E-mail 1 - Value,Name\na@site.io ::: b@site.io,A\n'],
    ['several with wide separators', 'email,name\na@site.io；b@site.io、b@site.io，a@site.io,A\n'],
    ['a link with a title', 'email;name\n[A](mailto:a@site.io "Ada");A\nb@site.io;B\n'],
    ['recipients of a mail', 'Byron, Ada <a@site.io>; "Holm, Ben" <b@site.io>\n'],
    ['recipients with commas', 'Byron, Ada <a@site.io>, Holm, Ben <b@site.io>\n'],
    ['recipients with and without names', 'a@site.io, Holm, Ben <b@site.io> (work)\n'],
    ['percent-encoding of no URL', 'email,name\na@site.io,A\nb@site.io,B\na%40site.io,A\n', ['a%40site.io']],
    [
      'a named column with many other values',
      'Owner,Email\no@x.io,none\no@x.io,a@site.io\no@x.io,b@site.io\n',
      ['none'],
    ],
    ['a first line that is no address', 'a@site\na@site.io\nb@site.io\n', ['a@site']],
    ['a first row that is no address', 'a@site,A\na@site.io,A\nb@site.io,B\n', ['a@site']],
    ['a comment with an address', '# c@site.io\na@site.io\nb@site.io\n', ['# c@site.io']],
    ['a header in the middle', 'email,name\na@site.io,A\nemail,name\nb@site.io,B\n', ['email']],
    ['rows in quotes', '"email;name";;\n"a@site.io;""A; B""";;\n"b@site.io;B"\n'],
    ['line breaks in quotes', 'name,email\n"Ada\n""A""","a@site.io"\nB,b@site.io\n'],
  ])('%s', (_, text, cells = []) => {
    const { rejected, ...found } = summarize(text)
    expect(found).toEqual({ added: ['a', 'b'], left: [], skipped: 0 })
    expect(rejected).toHaveLength(cells.length)
    expect(read(text).rejected.map(({ cell }) => cell)).toEqual([...cells])
  })

  test('is in the column that --column names, or that has the number', () => {
    const expected = { ...NOTHING, added: ['a', 'b'] }
    expect(summarize('email,work\nx@x.io,a@site.io\ny@x.io,b@site.io\n', { column: 'work' })).toEqual(expected)
    expect(summarize('x@x.io,a@site.io\ny@x.io,b@site.io\n', { column: '2' })).toEqual(expected)
    expect(summarize('email,email\nx@x.io,a@site.io\ny@x.io,b@site.io\n', { column: '2' })).toEqual(expected)
    expect(summarize('email,email\na@site.io,x@x.io\nb@site.io,y@x.io\n', { ignoreColumn: ['2'] })).toEqual(expected)
  })

  test('keeps # at its start, and a domain outside ASCII is converted', () => {
    const { subscribers } = read('#a@site.io\nb@bücher.io\n')
    expect<string[]>(subscribers.map(({ email }) => email)).toEqual(['#a@site.io', 'b@xn--bcher-kva.io'])
  })

  test.each([
    ['nobody', 'the address is not valid'],
    ['', 'there is no address'],
    ['ü@site.io', 'the address has characters that are not printable ASCII'],
    ['x@site.io or nobody or y@site.io', 'there is more than one address'],
    ['x@site.io or Y <y@site.io>', 'there is more than one address'],
    ['Message-ID: <x@site.io>', 'it is a line of a mail, and no address'],
    ['x@site.io / nobody', 'the address is not valid'],
    ['n\0ul@site.io', 'the address has characters that are not printable ASCII'],
  ])('%j is rejected', (cell, reason) => {
    const text = `email,name\na@site.io,A\n${cell},B\n`
    expect(summarize(text)).toEqual({ ...NOTHING, added: ['a'], rejected: [`3: ${reason}`] })
    expect(read(text).rejected).toEqual([{ line: 3, reason, cell }])
  })

  test('a quote that is not closed in a line without columns is a part of this line', () => {
    const text = '"a@site.io\nnobody\nb@site.io"\n'
    expect(summarize(text)).toEqual({ ...NOTHING, added: ['a', 'b'], rejected: ['2: the address is not valid'] })
  })

  test('a row with more cells than the header is rejected, unless they are empty', () => {
    const text = 'email,note,unsubscribed_at\na@site.io,x,,\nb@site.io,Hi, Bob,2024-01-01\n'
    const rejected = ['3: the row has 4 columns in the place of 3']
    expect(summarize(text)).toEqual({ ...NOTHING, added: ['a'], rejected })
  })
})

describe('a list that cannot be read', () => {
  test.each<readonly [what: string, text: string, message: string, options: Options]>([
    ['empty', ' \n\r\n', 'it is empty', {}],
    ['no address', 'name,age\nAda,36\n', 'name it with --column. The columns are: "name", "age"', {}],
    ['no such column', 'email\na@b.io\n', 'there is no column "x". The columns are: "address"', { column: 'x' }],
    ['no such status column', 'email,a\na@b.io,b\n', 'there is no column "x"', { statusColumn: ['x'] }],
    ['no such column to ignore', 'email,a\na@b.io,b\n', 'there is no column "3"', { ignoreColumn: ['3'] }],
    ['several lists in JSON', '{"a":[{"x":"a@b.io"}],"b":["b@b.io"]}', 'it has several lists: "a", "b"', {}],
    ['broken JSON', '[{"email":"a@site.io"', 'list: line 1: it is not valid JSON', {}],
    [
      'a broken line of JSON',
      '{"email":"a@b.io"}\n\n{"email":\n["b@b.io"]\n',
      'list: line 3: it is not valid JSON',
      {},
    ],
    ['rejected rows', 'line,reason,cell\n3,x,a@site.io\n', 'it is a file of rejected rows', {}],
    [
      'a quote without an end',
      'email,name\na@b.io,A\nb@b.io,"B\n',
      'line 3: a quote is not closed, and the rows up to line 3 are inside it',
      {},
    ],
  ])('%s', (_, text, message, options) => expect(() => read(text, options)).toThrow(message))

  test.each([
    ['before the end of a row', 'email,name\na@site.io,"Ada\nb@site.io,Bob\nc@site.io,Cyd"\nd@site.io,Dan\n', 2, 4],
    ['before the address', 'name,email\n"Ada,a@site.io\nBob,b@site.io\n"Cyd",c@site.io\nDan,d@site.io\n', 2, 4],
    ['in a file with quotes', '"email","name"\n"a@site.io","Ada\n"b@site.io","Bob"\n"c@site.io","Cyd"\n', 2, 3],
    ['with CRLF', 'email,name\r\na@site.io,Ada\r\nb@site.io,"Bob\r\nc@site.io,Cyd\r\nd@site.io,"Dan"\r\n', 3, 5],
  ])('a quote that is not closed swallows no row: %s', (_, text, start, end) => {
    expect(() => read(text)).toThrow(
      `list: line ${start}: a quote is not closed, and the rows up to line ${end} are inside it; close or double it`,
    )
  })

  test('a text of several lines is no such quote', () => {
    const text = 'email,notes\na@site.io,"Hello,\nwrite to ada@site.io, or call: ""us"".\n"\nb@site.io,\n'
    expect(summarize(text).added).toEqual(['a', 'b'])
  })
})

describe('the date', () => {
  test.each(
    [
      ['ADDED_TIME', 'Create Date', 'Date Subscribed', 'Created (UTC)', 'Joined', 'signup_timestamp', 'Anmeldedatum'],
      ['Subscribed', 'subscribed_at', 'OPTIN_TIME', 'CONFIRM_TIME', 'Inscrit le', 'Fecha de alta'],
    ].flat(),
  )('is in the column %s', (name) => {
    expect(summarize(`email,${name}\na@site.io,2024-05-31\n`).added).toEqual(['a 2024-05-31'])
    expect(summarize(JSON.stringify({ email: 'a@site.io', [name]: '2024-05-31' })).added).toEqual(['a 2024-05-31'])
  })

  const TWO_DATES = 'email,CONFIRM_TIME,OPTIN_TIME\na@b.io,2024-05-31,2023-01-01\nb@b.io,2024-05-31,\n'
  const LISTMONK =
    'email,attributes,created_at\na@b.io,"{""subscribed_at"":""2020-02-03T00:00:00.000Z""}",2024-01-01\nb@b.io,{},2024-01-01\n'
  test.each<readonly [what: string, text: string, options: Options, added: readonly string[]]>([
    ['CONFIRM_TIME where OPTIN_TIME is empty', TWO_DATES, {}, ['a 2023-01-01', 'b 2024-05-31']],
    ['our own, in an export of listmonk', LISTMONK, {}, ['a 2020-02-03', 'b 2024-01-01']],
    ['--date-column', 'email,created,since\na@b.io,2023-01-01,2024-05-31\n', { dateColumn: 'since' }, ['a 2024-05-31']],
    [
      '--date-column of the column that stands in for the usual one',
      'email,OPTIN_TIME,CONFIRM_TIME\na@b.io,2023-01-01 10:00:00,2024-05-31 10:00:00\n',
      { dateColumn: 'CONFIRM_TIME' },
      ['a 2024-05-31'],
    ],
    [
      '--date-column of the usual one, with the one that stands in for it',
      'email,OPTIN_TIME,CONFIRM_TIME\na@b.io,2023-01-01 10:00:00,2024-05-31 10:00:00\nb@b.io,,2024-06-01 10:00:00\n',
      { dateColumn: 'OPTIN_TIME' },
      ['a 2023-01-01', 'b 2024-06-01'],
    ],
    [
      '--date-column beside the date of our export',
      'email,attributes,created_at\na@b.io,"{""subscribed_at"":""2023-01-01T10:00:00Z""}",2024-05-31T10:00:00Z\n',
      { dateColumn: 'created_at' },
      ['a 2024-05-31'],
    ],
    ['--date-column none', 'email,created\na@b.io,2023-01-01\n', { dateColumn: 'none' }, ['a']],
    ['--date-column without a header', 'a@b.io,2023-01-01\n', { dateColumn: '2' }, ['a 2023-01-01']],
    [
      'day first, as a later row shows',
      'email,date\na@b.io,1/2/2024\nb@b.io,13/2/2024\n',
      {},
      ['a 2024-02-01', 'b 2024-02-13'],
    ],
    [
      'month first, as a later row shows',
      'email,date\na@b.io,1/2/2024\nb@b.io,2/13/2024\n',
      {},
      ['a 2024-01-02', 'b 2024-02-13'],
    ],
    ['--date-order', 'email,date\na@b.io,1/2/2024\n', { dateOrder: 'mdy' }, ['a 2024-01-02']],
    ['of several addresses', 'email,date\na@b.io b@b.io,1.2.2024\n', {}, ['a 2024-02-01', 'b 2024-02-01']],
  ])('%s', (_, text, options, added) => expect(summarize(text, options)).toEqual({ ...NOTHING, added: [...added] }))

  test('is rejected, in the order of the lines, when its order is unclear or another one', () => {
    const unclear = 'the date may be day/month or month/day: use --date-order, or 2024-05-31T12:34:56Z'
    const both = 'email,date\na@b.io,1/2/2024\nb@b.io,13/2/2024\nc@b.io,2/13/2024\nd,1/1/2024\n'
    expect(summarize(both)).toMatchObject({
      added: ['b 2024-02-13', 'c 2024-02-13'],
      rejected: [`2: ${unclear}`, '5: the address is not valid'],
    })
    const impossible = 'email,date\na@b.io,1/2/2024\nb@b.io,13/13/2024\n'
    expect(summarize(impossible).rejected).toEqual([`2: ${unclear}`, '3: the date does not exist'])
    expect(summarize(both, { dateOrder: 'dmy' })).toMatchObject({
      added: ['a 2024-02-01', 'b 2024-02-13'],
      rejected: ['4: the date does not exist', '5: the address is not valid'],
    })
  })
})

const toJson = (csv: string) => {
  const [header = [], ...rows] = csv.split('\n').map((line) => line.split(','))
  return rows
    .map((row) => JSON.stringify(Object.fromEntries(header.map((name, index) => [name, row[index]]))))
    .join('\n')
}

describe.each([
  ['CSV', (csv: string) => csv],
  ['NDJSON', toJson],
])('the status, %s', (_, convert) => {
  const list = convert(
    'email,status,created\na@b.io,active,2020-01-01\nb@b.io,Unsubscribed,2020-01-01\nc@b.io,pending,2020-01-01',
  )

  test('says who is a subscriber, who left, and who is neither', () => {
    expect(summarize(list)).toEqual({ added: ['a 2020-01-01'], left: ['b 2020-01-01'], skipped: 1, rejected: [] })
    expect(read(list).values).toMatchObject([
      { column: 'status', value: 'active', status: 'subscribed', rows: 1 },
      { column: 'status', value: 'Unsubscribed', status: 'suppressed', rows: 1 },
      { column: 'status', value: 'pending', status: 'skip', rows: 1 },
    ])
  })

  test('stops the import when it is unknown, with line numbers', () => {
    const other = list.replace('pending', 'VIP').replace('active', 'Gold')
    expect(() => read(other)).toThrow(/^status: line [12]: "Gold" in 1 rows; status: line [34]: "VIP" in 1 rows$/)
    expect(summarize(other, treat('vip=subscribed, gold=skip'))).toMatchObject({ added: ['c 2020-01-01'], skipped: 1 })
    expect(summarize(other, treat('*=skip'))).toMatchObject({ added: [], left: ['b 2020-01-01'], skipped: 2 })
    const none = list.replace('pending', 'NULL')
    expect(read(none)).toMatchObject({ skipped: 1, doubts: [expect.stringContaining('--treat status:=subscribed')] })
    expect(summarize(none, treat('null=suppressed'))).toEqual(summarize(none, treat('=suppressed')))
    expect(read(none, treat('status:=skip')).doubts).toEqual([])
  })

  test('may have another meaning, or none', () => {
    expect(summarize(list, treat('active=skip, pending=suppressed'))).toMatchObject({
      left: ['b 2020-01-01', 'c 2020-01-01'],
      skipped: 1,
    })
    expect(summarize(list, { ignoreColumn: ['status'] })).toMatchObject({ left: [], skipped: 0 })
  })

  test('--treat for a dash does not touch other values', () => {
    expect(summarize(list.replace('active', '-'), treat('-=subscribed'))).toMatchObject({
      left: ['b 2020-01-01'],
      skipped: 1,
    })
  })

  test('does not count when everybody left', () => {
    const options: Options = { suppress: true }
    expect(summarize(list.replace('pending', 'VIP'), options)).toEqual({ ...NOTHING, left: ['a', 'b', 'c'] })
    expect(summarize(list, { ...options, dateColumn: 'created' }).left).toContain('b 2020-01-01')
  })
})

/** Columns that are known: the cells of four rows that are added, left, left and skipped; `-` for none of that kind. */
test.each<readonly [columns: string, added: string, left: string, skipped: string]>([
  ['List status,Global status', 'subscribed,subscribed', 'subscribed,unsubscribed', 'unconfirmed,subscribed'],
  ['Abgemeldet am', '', '31.5.2024', '-'],
  ['Abgemeldet', 'nein', 'Ja', '-'],
  ['Newsletter', 'ja', 'abgemeldet', 'NEIN'],
  ['Statut', 'abonnée', 'Désabonné', 'en attente'],
  ['Désinscrit le', '', '31/12/2023', '-'],
  ['opt_in', 'true', 'unsubscribed', 'false'],
  ['confirmed', '1', 'bounced', '0'],
  ['confirmed_at', '2024-05-31', 'bounced', ''],
  ['is_subscribed', 'yes', 'no', '-'],
  ['Subscribed?', 'checked', 'unchecked', ''],
  ['Person - Marketing status', 'Subscribed', 'Unsubscribed', 'No consent'],
  ['Email Opt Out', '0', '1', '-'],
  ['active', 'Y', 'blocked', 'N'],
  ['BLACKLISTED', '0', '1', '-'],
  ['Subscriber status', 'підписаний', 'відписався', '未确认'],
  ['status', '已订阅', '配信停止', 'غير نشط'],
  ['Group status,Email status', 'Member,', 'Owner,Bouncing', 'pending,'],
  ['unsubscribed_at', '0000-00-00 00:00:00', '2024-01-01', '-'],
  ['unsubscribed_at', 'NULL', '2024-01-01', '-'],
  ['confirmed_at', '2024-05-31', 'bounced', '\\N'],
  ['status,unsubscribed_at', 'active,', 'active,2024-01-01', 'inactive,'],
  ['state,city', 'Texas,Austin', '-', '-'],
  ['type', 'comp', '-', '-'],
])('%s: %j, %j, %j', (columns, added, left, skipped) => {
  const rows = Object.entries({ added, left, skipped }).filter(([, cells]) => cells !== '-')
  const text = ['email', ...rows.map(([name]) => `${name}@b.io`)]
    .map((cell, index) => `${cell};${[columns, ...rows.map(([, cells]) => cells)][index]?.replaceAll(',', ';')}`)
    .join('\n')
  const { subscribers, optOuts, skipped: count } = read(text)
  expect(subscribers.map(({ email }) => email as string)).toEqual(['added@b.io'])
  expect(optOuts.map(({ email }) => email as string)).toEqual(left === '-' ? [] : ['left@b.io'])
  expect(count).toBe(skipped === '-' ? 0 : 1)
})

test('the date of an opt-out is that of its column, or unknown', () => {
  const text =
    'email,status,Left\na@b.io,active,1/2/2024\nb@b.io,active,13/2/2024\nc@b.io,unsubscribed,\nd@b.io,active,\n'
  const options: Options = { statusColumn: ['left'], ...treat('*=suppressed, left:=subscribed') }
  expect(summarize(text, options)).toMatchObject({ left: ['a 2024-02-01', 'b 2024-02-13', 'c'], added: ['d'] })
  expect(summarize('email,unsubscribed_at\na@b.io,1/2/2024\n')).toMatchObject({ left: ['a'], rejected: [] })
})

test('a row that ends before its status is rejected', () => {
  const rejected = ['3: there is no status: the row ends before that column']
  expect(summarize('email,name,status\na@b.io,Ada,active\nb@b.io,B\n')).toEqual({ ...NOTHING, added: ['a'], rejected })
})

describe('a status column that is named', () => {
  test('adds to those that are known, and * is any of its values', () => {
    const text = 'email,status,gone\na@b.io,active,\nb@b.io,active,x\nc@b.io,unsubscribed,\nd@b.io,active,2024-01-01\n'
    const options: Options = { statusColumn: ['gone'], ...treat('*=suppressed, gone:=subscribed') }
    expect(summarize(text, options)).toEqual({ ...NOTHING, added: ['a'], left: ['b', 'c', 'd 2024-01-01'] })
  })

  test('needs a meaning for an empty value and for no: * does not stand for them', () => {
    const text = 'email,Since\na@b.io,2024-01-01\nb@b.io,\nc@b.io,no\n'
    const options: Options = { statusColumn: ['Since'] }
    expect(() => read(text, { ...options, ...treat('*=subscribed') })).toThrow(
      'line 3: "" in 1 rows; Since: line 4: "no"',
    )
    expect(summarize(text, { ...options, ...treat('*=subscribed, =skip, no=skip') })).toMatchObject({
      added: ['a'],
      skipped: 2,
    })
    expect(() => read(text, options)).toThrow('Since: line 2: "a date" in 1 rows')
  })

  test('has the words of any language, before --treat', () => {
    const text = 'email,Stand\na@b.io,aktiv\nb@b.io,ausgetragen\nc@b.io,wypisany\n'
    expect(summarize(text, { statusColumn: ['2'] })).toMatchObject({ added: ['a'], left: ['b', 'c'] })
  })
})

test('a value with 10 million characters is no problem', () => {
  const long = 'x'.repeat(10_000_000)
  const { rejected } = read(`email,name\n${long},A\na@site.io,${long}\n`)
  expect(rejected).toEqual([{ line: 2, reason: expect.any(String), cell: 'x'.repeat(1000) }])
})

test('words that say that somebody left count before *, among other words', () => {
  const text = 'email,status\na@b.io,met at a fair\nb@b.io,please no more mail\n'
  expect(summarize(text, treat('status:*=subscribed'))).toMatchObject({ added: ['a'], left: ['b'] })
})

test('* is any value except empty and no, and COLUMN:VALUE is a value of one column', () => {
  const text = 'email,gone,vip\na@b.io,0,1\nb@b.io,1,1\nc@b.io,,0\n'
  const options: Options = { statusColumn: ['gone', 'vip'] }
  expect(
    summarize(text, {
      ...options,
      ...treat('gone:*=suppressed, gone:=subscribed, gone:0=subscribed, vip:1=subscribed, vip:0=skip'),
    }),
  ).toEqual({
    ...{ added: ['a'], left: ['b'], skipped: 1, rejected: [] },
  })
  // Whoever left in a note is not added, whatever the other notes mean.
  const notes = 'email,note\na@b.io,likes poetry\nb@b.io,abgemeldet am 3.2.2024\n'
  expect(summarize(notes, { statusColumn: ['note'], ...treat('*=subscribed') })).toMatchObject({
    added: ['a'],
    left: ['b'],
  })
})

test('an opt-out is not earlier than the subscription in its row', () => {
  const text =
    'email,created_at,unsubscribed_at\na@b.io,2024-05-31,yes\nb@b.io,2024-05-31T10:00:00Z,2024-05-31\nc@b.io,,yes\n'
  expect(read(text).optOuts.map(({ optedOutAt }) => optedOutAt?.toISOString())).toEqual([
    ...['2024-05-31T00:00:00.000Z', '2024-05-31T23:59:59.999Z', undefined],
  ])
})

test('a name that is in several objects, or in a text, is not twice in one', () => {
  const texts = '{"email":"a@b.io","x":{"email":"\\"x\\" : \\"y\\" :"},"y":[":",":"],"\\"x\\" ":":"}'
  expect(summarize(`${texts}\n{"email":"b@b.io"}`).added).toEqual(['a', 'b'])
})

test('an item of a list in JSON that is no object is rejected', () => {
  const { counts, rejected } = read('[null,{"email":"a@b.io"},5,[1]]')
  expect(counts).toMatchObject({ all: 4, subscribed: 1, rejected: 3 })
  expect(rejected.map(({ cell }) => cell)).toEqual(['null', '5', '[1]'])
})

test('of an address that is twice in a cell, the first spelling counts', () => {
  const { subscribers } = read('email\n"Ada@b.io, ben@b.io; ada@b.io"\n')
  expect(subscribers.map(({ email }) => email as string)).toEqual(['Ada@b.io', 'ben@b.io'])
})
