/** The icon: the first letter of the name, for any name. */

import { expect, test } from 'bun:test'
import { createFaviconIco, createFaviconSvg, toInitial } from '../../src/page/favicon.ts'

test.each([
  ['The Gazette', 'T'],
  ['rollcall', 'R'],
  ['«Le Monde»', 'L'],
  ['#1 News', '1'],
  ['🗞️ Harbour News', 'H'],
  ['👩‍👩‍👧', '👩‍👩‍👧'],
  ['🇩🇪', '🇩🇪'],
  ['E\u0301tudes', 'E\u0301'],
  ['ßa', 'ß'],
  ['їжак', 'Ї'],
  ['الجريدة', 'ا'],
  ['日本の朝', '日'],
  ['नमस्ते', 'न'],
  ['<script>', 'S'],
  ['& <', '&'],
  ['\u{10FFFE}', ''],
])('the initial of %p is %p', (name, initial) => {
  expect(toInitial(name)).toBe(initial)
})

test('the letter is text in the SVG, on the colour of the tile', () => {
  expect(createFaviconSvg('&', '#123456')).toContain('fill="#123456"')
  expect(createFaviconSvg('&', '#123456')).toEndWith('>&amp;</text></svg>\n')
  expect(createFaviconSvg('<', '#123456')).toContain('>&lt;</text>')
})

test('the ICO is an envelope on a tile', () => {
  const bytes = createFaviconIco('#123456')
  expect(bytes.length).toBe(198)
  // One row of four bytes for each line of pixels, from bottom to top, after the headers and the palette.
  const rows = Array.from({ length: 16 }, (_, y) => {
    const at = 70 + (15 - y) * 4
    return [bytes[at]!, bytes[at + 1]!].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  })
  expect(rows.slice(4, 9)).toEqual([
    '0000111111110000',
    '0001011111101000',
    '0001101111011000',
    '0001110110111000',
    '0001111001111000',
  ])
})
