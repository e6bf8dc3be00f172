/** CSV text becomes records, however it is cut into parts. */

import { describe, expect, test } from 'bun:test'
import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { type CsvText, readRecords } from '../../../src/transfer/reading/records.ts'

/** Reads a text in parts of a size. */
async function read(text: string, size = text.length, options: Partial<CsvText> = {}) {
  const parts = (async function* () {
    for (let start = 0; start < text.length; start += size) yield text.slice(start, start + size)
  })()
  const pages = readRecords({ name: 'list', parts, line: 1, delimiter: ',', lineBreak: '\n', ...options })
  return (await Array.fromAsync(pages)).flat()
}

const toCells = async (...args: Parameters<typeof read>) => (await read(...args)).map(({ cells }) => cells)

describe('records', () => {
  test.each<readonly [string, string, string[][]]>([
    [
      'commas and line breaks',
      'a,b\nc,d\n',
      [
        ['a', 'b'],
        ['c', 'd'],
      ],
    ],
    [
      'no line break at the end',
      'a,b\nc,d',
      [
        ['a', 'b'],
        ['c', 'd'],
      ],
    ],
    [
      'CRLF',
      'a,b\r\n"c",d\r\n',
      [
        ['a', 'b'],
        ['c', 'd'],
      ],
    ],
    [
      'CRLF after a quote',
      'a,"b"\r\nc,"d"',
      [
        ['a', 'b'],
        ['c', 'd'],
      ],
    ],
    [
      'empty lines and empty cells',
      '\n\na,,\n,\n\n',
      [
        ['a', '', ''],
        ['', ''],
      ],
    ],
    ['quotes', '"a","b ""c"", d"\n', [['a', 'b "c", d']]],
    [
      'line breaks in quotes',
      '"a\nb",c\n"d\r\ne",f',
      [
        ['a\nb', 'c'],
        ['d\r\ne', 'f'],
      ],
    ],
    ['empty quotes', '"",""\n', [['', '']]],
    [
      'a quote inside a cell',
      'a,5" disk\nb,c\n',
      [
        ['a', '5" disk'],
        ['b', 'c'],
      ],
    ],
    [
      'text after a closing quote',
      '"a" b,c\n"d, "e" f",g\n',
      [
        ['"a" b', 'c'],
        ['"d, "e" f"', 'g'],
      ],
    ],
  ])('%s', async (_, text, expected) => {
    for (const size of [1, 2, 3, 5, 1000]) expect(await toCells(text, size)).toEqual(expected)
  })

  test('CR alone, and another delimiter', async () => {
    expect(await toCells('a;b\r"c;\rd";e\r', 2, { delimiter: ';', lineBreak: '\r' })).toEqual([
      ['a', 'b'],
      ['c;\rd', 'e'],
    ])
  })

  test('have the number of their last line, and their lines if there are several', async () => {
    expect(await read('a\n\n"b\nc"\nd\n', 3, { line: 5 })).toEqual([
      { line: 5, cells: ['a'] },
      { line: 8, cells: ['b\nc'], lines: ['"b', 'c"'] },
      { line: 9, cells: ['d'] },
    ])
  })

  test('are what csv-parse reads, for any cells', async () => {
    const cell = fc.string({ unit: fc.constantFrom('a', 'é', ' ', ',', '"', '\n', '\r\n', ';') })
    const rows = fc.array(fc.array(cell, { minLength: 2, maxLength: 4 }), { minLength: 1, maxLength: 5 })
    const toCell = (text: string) => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
    await fc.assert(
      fc.asyncProperty(rows, fc.integer({ min: 1, max: 9 }), async (table, size) => {
        const text = table.map((cells) => cells.map(toCell).join(',')).join('\n')
        expect(await toCells(text, size)).toEqual(table)
        expect(parse(text, { relax_column_count: true, record_delimiter: '\n' })).toEqual(table)
      }),
      { numRuns: 300 },
    )
  })

  test('are what csv-parse reads, for any line with single quotes', async () => {
    const unit = fc.constantFrom('a', 'b', ',', '"', '"')
    await fc.assert(
      fc.asyncProperty(fc.string({ unit, minLength: 1, maxLength: 12 }), async (text) => {
        // Doubled quotes outside of quotes are not defined, and read differently.
        fc.pre(!text.includes('""'))
        const options = { relax_column_count: true, relax_quotes: true, skip_empty_lines: true }
        const expected = Promise.try(() => parse(text, options) as string[][])
        const [ours, theirs] = await Promise.allSettled([toCells(text), expected])
        expect(ours.status).toBe(theirs.status)
        if (ours.status === 'fulfilled' && theirs.status === 'fulfilled') expect(ours.value).toEqual(theirs.value)
      }),
      { numRuns: 1000 },
    )
  })
})

test.each([
  ['a,"b\nc,d\n', 'list: line 1: a quote is opened and never closed'],
  ['a,b\n"c\nd"\ne,"f', 'list: line 4: a quote is opened and never closed'],
  [`a\n"b${'\nc'.repeat(600_000)}`, 'list: line 2: a row is longer than 1048576 characters, or a quote in it is never'],
  [`a\n${'b'.repeat(1_100_000)}`, 'list: line 2: a row is longer than 1048576 characters'],
])('an error names the line on which the record begins: %#', async (text, message) => {
  for (const size of [7, 65_536]) await expect(read(text, Math.max(size, text.length / 100))).rejects.toThrow(message)
})
