/** CSV becomes rows: the same as with another parser, for any text. */

import { expect, test } from 'bun:test'
import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { readRecords } from '../../../src/transfer/reading/csv.ts'
import { readRows } from '../../../src/transfer/reading/rows.ts'
import { parseTable } from '../../../src/transfer/reading/table.ts'

const read = (text: string, csv: { delimiter?: string; width?: number } = {}) => [
  ...readRecords(text, { file: 'list', line: 1, delimiter: ',', ...csv }),
]
const toCells = (...args: Parameters<typeof read>) => read(...args).map(({ cells }) => [...cells])

test.each<readonly [string, string, string]>([
  ['no line break at the end', 'a,b\nc,d', 'a|b / c|d'],
  ['spaces around quotes', 'a, "b, c" ,d\n "e",f\n', 'a|b, c|d / e|f'],
  ['a row in quotes', '"a,""b, c"",d"\n"e,f";;\n', 'a|b, c|d / e|f'],
  ['empty lines and empty cells', '\n\na,,\n,\n\n', 'a|| / |'],
  ['quotes', '"a","b ""c"", d"\n"",""', 'a|b "c", d / |'],
  ['a quote inside a cell', 'a,5" disk\nb,c\n', 'a|5" disk / b|c'],
  ['text after a closing quote', '"a" b,c\n"d, "e" f",g\n', '"a" b|c / "d, "e" f"|g'],
])('%s', (_, text, expected) => {
  expect(
    toCells(text)
      .map((cells) => cells.join('|'))
      .join(' / '),
  ).toBe(expected)
})

test.each<readonly [ends: string, text: string]>([
  ['CR', 'a;b\r"c;\rd";e\rf;g\r'],
  ['LF', 'a;b\n"c;\nd";e\nf;g\n'],
  ['CRLF', 'a;b\r\n"c;\r\nd";e\r\nf;g\r\n'],
  ['CR, and LF in a cell', 'a;b\r"c;\nd";e\rf;g\r'],
  ['LF, and CR in a cell', 'a;b\n"c;\rd";e\nf;g\n'],
  ['all of them', 'a;b\r"c;\r\nd";e\r\nf;g'],
])('lines may end with %s', (_, text) => {
  const { names, rows } = parseTable(text, 'list', false)
  expect([names, ...[...rows()].map(({ line, cells }) => [line, ...cells])]).toEqual([
    ['a', 'b'],
    [3, 'c;\nd', 'e'],
    [4, 'f', 'g'],
  ])
})

test('a row has the number of its last line', () => {
  expect(read('a\n\n"b\nc"\nd\n')).toEqual([
    { line: 1, cells: ['a'] },
    { line: 4, cells: ['b\nc'] },
    { line: 5, cells: ['d'] },
  ])
})

test.each([
  ['E-Mail;Name, Vorname\na@b.io;Byron, Ada\n', ['E-Mail', 'Name, Vorname']],
  [
    'E-Mail;Name;Interessen (Kunst, Musik, Film)\na@b.io;Ada;Kunst\n',
    ['E-Mail', 'Name', 'Interessen (Kunst, Musik, Film)'],
  ],
  ['Time,Email Address,"Topics; (a; b; c)"\n1,a@b.io,a\n', ['Time', 'Email Address', 'Topics; (a; b; c)']],
  ['Time,Email Address,Topics? (a; b; c; d)\n1,a@b.io,a\n', ['Time', 'Email Address', 'Topics? (a; b; c; d)']],
  ['Email\tName (last, first)\na@b.io\tByron, Ada\n', ['Email', 'Name (last, first)']],
  ['email,note (a|b|c)\na@b.io,a\n', ['email', 'note (a|b|c)']],
  ['foo;bar;baz, x\n1;a@b.io;2\n', ['foo', 'bar', 'baz, x']],
] as const)(
  'the delimiter is the one with which the header has the name of an address, or the most cells: %j',
  (text, names) => {
    expect(parseTable(text, 'list', false).names).toEqual([...names])
  },
)

test.each([
  'email,status,"name,city\na@b.io,active,"Ada",Graz\nb@b.io,active,"Ben",Oslo\n',
  'name,"city,email\nAda,"Graz",a@b.io\nBen,"Oslo",b@b.io\n',
])('a quote that is not closed in the header is an error, and swallows nobody: %j', (text) => {
  expect(() => parseTable(text, 'list', false)).toThrow(
    'list: line 1: a quote is not closed, and the rows up to line 2',
  )
})

test('a header may have several lines', () => {
  const text = 'Name,"Email\n(required)"\nAda,a@b.io\n'
  expect(parseTable(text, 'list', false).names).toEqual(['Name', 'Email\n(required)'])
})

test('the time of a header with many columns, and of a cell with many brackets, is not quadratic', () => {
  const names = Array.from({ length: 60_000 }, (_, index) => `column ${index}`).join(',')
  const start = process.cpuUsage()
  readRows(parseTable(`email,${names}\na@b.io${',x'.repeat(60_000)}\n`, 'list', false), {})
  readRows(parseTable(`email,bio\na@b.io,${'<a '.repeat(120_000)}@\n`, 'list', false), {})
  const { user, system } = process.cpuUsage(start)
  // Quadratic, each needs most of a minute of the processor. Linear, both need a second, however busy the machine is.
  expect((user + system) / 1e6).toBeLessThan(15)
})

test('any cells are what csv-parse reads', () => {
  const cell = fc.string({ unit: fc.constantFrom('a', 'é', ' ', ',', '"', '\n', '\r\n', ';') })
  const rows = fc.array(fc.array(cell, { minLength: 2, maxLength: 4 }), { minLength: 1, maxLength: 5 })
  const toCell = (text: string) => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
  fc.assert(
    fc.property(rows, (table) => {
      const text = table.map((cells) => cells.map(toCell).join(',')).join('\n')
      expect(toCells(text, { width: 9 })).toEqual(table)
      expect(parse(text, { relax_column_count: true, record_delimiter: '\n' })).toEqual(table)
    }),
    { numRuns: 1000 },
  )
})

test('a person of a JSON list has no value of a member that another one has, also for names that every object has', () => {
  const text = '[{"email": "a@site.io", "constructor": "x"}, {"email": "b@site.io"}]'
  const { names, rows } = parseTable(text, 'list.json', false)
  expect([names, ...[...rows()].map(({ cells }) => [...cells])]).toEqual([
    ['email', 'constructor'],
    ['a@site.io', 'x'],
    ['b@site.io', ''],
  ])
})
