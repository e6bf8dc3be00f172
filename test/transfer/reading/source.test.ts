/** Lists in the forms that other programs and people write. */

import { describe, expect, test } from 'bun:test'
import type { ImportRow } from '../../../src/subscriber.ts'
import { planImport } from '../../../src/transfer/list-import.ts'
import { readSubscribers } from '../../../src/transfer/reading/import-rows.ts'
import { openSource, type SourceOptions } from '../../../src/transfer/reading/source.ts'

interface Options extends SourceOptions {
  readonly dateOrder?: 'dmy' | 'mdy'
}

/** Reads the subscribers of a list, given in small chunks, and the reasons of the rejected rows with their lines. */
async function read(content: string | Uint8Array, options: Options = {}) {
  const bytes = Buffer.from(content)
  const chunks = {
    async *[Symbol.asyncIterator]() {
      for (let start = 0; start < bytes.length; start += 11) yield bytes.subarray(start, start + 11)
    },
  }
  const source = await openSource({ name: 'list', size: bytes.length, isFile: true, chunks }, options)
  const { reading } = await planImport(source, { ...options, suppress: false, signal: new AbortController().signal })
  const rejected: string[] = []
  const rows: ImportRow[] = []
  const pages = readSubscribers(source, {
    ...reading,
    onSkipped() {},
    async onRejected(batch) {
      rejected.push(...batch.map(({ row, reason }) => `${row.line}: ${reason}`))
    },
  })
  for await (const page of pages) rows.push(...page)
  return { rows, rejected, columns: source.columns }
}

const readAddresses = async (...args: Parameters<typeof read>) =>
  (await read(...args)).rows.map(({ email }) => email as string)
const readDates = async (...args: Parameters<typeof read>) =>
  (await read(...args)).rows.map(({ subscribedAt }) => subscribedAt?.toISOString())

describe('the address', () => {
  test.each([
    ['the column Subscriber', 'Subscriber,Name\na@site.io,A\n'],
    ['the column Address', 'Name;Address\nA;a@site.io\n'],
    ['one column with that name', 'Address\na@site.io\n'],
    ['a column with "email" in its name, before Address', 'Address,Work email\n12 High Street,a@site.io\n'],
    ["Excel's line with the delimiter", 'sep=;\nEmail;Name, first, last\na@site.io;A, B, C\n'],
    ["Excel's line, in quotes and with CRLF", '"sep=\t"\r\nEmail\r\na@site.io\r\n'],
    ['comments before the header', '# Exported on 2024-05-31, by Ada\n\n#\nname,email\nA,a@site.io\n'],
    ['comments before addresses', '# Our readers\na@site.io\n'],
    ['comments before NDJSON', '# Our readers\n{"email":"a@site.io"}\n'],
    ['a display name', 'email\nAda Lovelace <a@site.io>\n'],
    ['a quoted display name, one per line', '"Lovelace, Ada" <a@site.io>\n'],
    ['angle brackets', 'email,name\n <a@site.io> ,A\n'],
    ['a mailto URL', 'email\nmailto:a@site.io?subject=Hello\n'],
    ['a mailto URL in angle brackets', 'email\nAda <MAILTO:a@site.io>\n'],
    ['NDJSON with a display name', '{"Email":"Ada <a@site.io>"}\n'],
  ])('%s', async (_, content) => {
    expect(await readAddresses(content)).toEqual(['a@site.io'])
  })

  test('that begins with # is no comment', async () => {
    expect(await readAddresses('#a@site.io\nb@site.io\n')).toEqual(['#a@site.io', 'b@site.io'])
  })

  test('of several is in no row, and the line is that of the file', async () => {
    const { rejected } = await read('sep=,\n# comment\nemail,name\n"A <a@site.io>, B <b@site.io>",x\nc@site.io,y\n')
    expect(rejected).toEqual(['4: there is more than one address'])
  })

  test('is in the member that --column names, also in NDJSON', async () => {
    expect(await readAddresses('{"email":"x@site.io","work":"a@site.io"}\n', { column: 'work' })).toEqual(['a@site.io'])
  })
})

describe('the date', () => {
  test.each([
    'ADDED_TIME',
    'Create Date',
    'Date Subscribed',
    'Created (UTC)',
    'Date registered',
    'Joined',
    'Time Subscribed',
    'signup_timestamp',
    'Anmeldedatum',
    'Subscribed',
    'subscribed_at',
    'OPTIN_TIME',
    'CONFIRM_TIME',
  ])('is in the column %s', async (name) => {
    const dates = ['2024-05-31T00:00:00.000Z']
    expect(await readDates(`email,${name}\na@site.io,2024-05-31\n`)).toEqual(dates)
    expect(await readDates(`${JSON.stringify({ email: 'a@site.io', [name]: '2024-05-31' })}\n`)).toEqual(dates)
  })

  test('is CONFIRM_TIME where OPTIN_TIME is empty', async () => {
    const csv = 'email,CONFIRM_TIME,OPTIN_TIME\na@site.io,2024-05-31,2023-01-01\nb@site.io,2024-05-31,\n'
    const json =
      '{"email":"a@site.io","CONFIRM_TIME":"2024-05-31","OPTIN_TIME":"2023-01-01"}\n{"email":"b@site.io","CONFIRM_TIME":"2024-05-31","OPTIN_TIME":""}\n'
    for (const content of [csv, json]) {
      expect(await readDates(content)).toEqual(['2023-01-01T00:00:00.000Z', '2024-05-31T00:00:00.000Z'])
    }
  })

  test('is in the column that --date-column names, or nowhere', async () => {
    const csv = 'email,created_at,Since when\na@site.io,2023-01-01,2024-05-31\n'
    expect(await readDates(csv, { dateColumn: 'Since when' })).toEqual(['2024-05-31T00:00:00.000Z'])
    expect(await readDates(csv, { dateColumn: '2' })).toEqual(['2023-01-01T00:00:00.000Z'])
    expect(await readDates(csv, { dateColumn: 'none' })).toEqual([undefined])
    await expect(read(csv, { dateColumn: 'when' })).rejects.toThrow(
      'list: there is no column "when". The columns are: "email"',
    )
    const json = '{"email":"a@site.io","created_at":"2023-01-01","since":"2024-05-31"}\n'
    expect(await readDates(json, { dateColumn: 'since' })).toEqual(['2024-05-31T00:00:00.000Z'])
  })

  test('of a file without a header is the only one in the first row, or the one in --date-column', async () => {
    const options = { column: '2' }
    expect(await readDates('1,a@site.io,31.5.2024,1717158896\n', options)).toEqual(['2024-05-31T00:00:00.000Z'])
    const csv = '1990-01-01,a@site.io,2024-05-31\n'
    expect(await readDates(csv, options)).toEqual([undefined])
    expect(await readDates(csv, { ...options, dateColumn: '3' })).toEqual(['2024-05-31T00:00:00.000Z'])
    const { columns } = await read(csv, { ...options, dateColumn: '3' })
    expect(columns).toEqual({ email: ['email'], date: ['column_3'], status: [] })
  })

  test.each([
    ['13/2/2024', ['2024-02-01', '2024-02-13']],
    ['2/13/2024', ['2024-01-02', '2024-02-13']],
  ])('has the order that another row shows: %s', async (other, expected) => {
    const csv = `email,created\na@site.io,1/2/2024\nb@site.io,${other}\n`
    expect((await readDates(csv)).map((date) => date?.slice(0, 10))).toEqual(expected)
    const json = csv
      .split('\n')
      .slice(1, 3)
      .map((row) => row.split(','))
    const lines = json.map(([email, created]) => JSON.stringify({ email, created }))
    expect((await readDates(lines.join('\n'))).map((date) => date?.slice(0, 10))).toEqual(expected)
  })

  test('has the order that a later row shows, after thousands of dates in another form', async () => {
    const rows = Array.from({ length: 5000 }, (_, index) => `user.${index}@site.io,2020-01-01`)
    const csv = ['email,created', ...rows, 'a@site.io,1/2/2024', ...rows, 'b@site.io,13/2/2024', ''].join('\n')
    expect(await readDates(csv)).toContain('2024-02-01T00:00:00.000Z')
  })

  test('has the order in --date-order, and no other', async () => {
    const csv = 'email,created\na@site.io,1/2/2024\nb@site.io,2/13/2024\n'
    expect(await readDates(csv, { dateOrder: 'mdy' })).toEqual(['2024-01-02T00:00:00.000Z', '2024-02-13T00:00:00.000Z'])
    const { rows, rejected } = await read(csv, { dateOrder: 'dmy' })
    expect(rows.map(({ subscribedAt }) => subscribedAt?.toISOString())).toEqual(['2024-02-01T00:00:00.000Z'])
    expect(rejected).toEqual(['3: the date does not exist'])
  })

  test('is rejected when rows show both orders, or none', async () => {
    const reason = 'the date may be day/month or month/day: use --date-order, or 2024-05-31T12:34:56Z'
    expect((await read('email,created\na@site.io,1/2/2024\n')).rejected).toEqual([`2: ${reason}`])
    const csv = 'email,created\na@site.io,13/2/2024\nb@site.io,2/13/2024\nc@site.io,1/2/2024\n'
    expect((await read(csv)).rejected).toEqual([`4: ${reason}`])
  })
})

describe('a quote that is not closed', () => {
  test.each([
    ['before the end of a row', 'email,name\na@site.io,"Ada\nb@site.io,Bob\nc@site.io,Cyd"\nd@site.io,Dan\n', 2, 4],
    ['before the next quote', 'email,name\na@site.io,"Ada\nb@site.io,Bob\nc@site.io,"Cyd"\nd@site.io,Dan\n', 2, 4],
    ['before the address', 'name,email\n"Ada,a@site.io\nBob,b@site.io\n"Cyd",c@site.io\nDan,d@site.io\n', 2, 4],
    ['in a file with quotes', '"email","name"\n"a@site.io","Ada\n"b@site.io","Bob"\n"c@site.io","Cyd"\n', 2, 3],
    ['with the delimiter in quotes', 'email,name,x\na@site.io,"Ada,1\nb@site.io,"Bob, Jr",2\nc@site.io,Cyd,3\n', 2, 3],
    ['with CRLF', 'email,name\r\na@site.io,Ada\r\nb@site.io,"Bob\r\nc@site.io,Cyd\r\nd@site.io,"Dan"\r\n', 3, 5],
  ])('%s swallows no row: an error names its line', async (_, content, start, end) => {
    await expect(read(content)).rejects.toThrow(
      `list: line ${start}: a quote is not closed, and the rows up to line ${end} are inside it; close or double it`,
    )
  })

  test('is not found in a text of several lines', async () => {
    const csv = 'email,notes\na@site.io,"Hello,\nwrite to ada@site.io, or call: ""us"".\n"\nb@site.io,\n'
    expect(await readAddresses(csv)).toEqual(['a@site.io', 'b@site.io'])
  })
})

describe('the encoding', () => {
  const text = 'email,name,created_at\na@site.io,Jürgen,2024-05-31\nb@site.io,Zoë,2024-05-31\n'

  test.each(['latin1', 'iso-8859-1', 'windows-1252'] as const)('%s', async (encoding) => {
    expect(await readAddresses(Buffer.from(text, 'latin1'), { encoding })).toEqual(['a@site.io', 'b@site.io'])
    expect(await readAddresses(Buffer.from('n\xfcmber,email\n\x801,a@b\xfccher.io\n', 'latin1'), { encoding })).toEqual(
      ['a@xn--bcher-kva.io'],
    )
  })

  test('is that of the byte order mark, if there is one', async () => {
    expect(await readAddresses(`\ufeff${text}`, { encoding: 'latin1' })).toHaveLength(2)
  })

  test('is UTF-8 otherwise', async () => {
    await expect(read(Buffer.from(text, 'latin1'))).rejects.toThrow(
      'looks like Latin-1 (Windows-1252): use --encoding windows-1252',
    )
  })
})
