/** Addresses as people type and paste them. */

import { expect, test } from 'bun:test'
import { parseTypedAddress } from '../src/typed-address.ts'

test.each([
  'mailto:ann@news.example',
  'mailto:ann@news.example?subject=Hello',
  'Ann <ann@news.example>',
  '"Ann, of News" <ann@news.example>',
  '<ann@news.example>',
  'ann@news.example.',
  'ann@news.example,',
  '“ann@news.example”',
  '(ann@news.example)',
  '\u200bann@news.example\ufeff',
  'ann@\u00adnews.example',
  '\u2066ann@news.example\u2069',
  'ann＠news.example',
  'ａｎｎ＠ｎｅｗｓ．ｅｘａｍｐｌｅ',
  'ann@news.example。',
])('%p is read', (text) => {
  expect(parseTypedAddress(text)).toEqual({ ok: true, value: 'ann@news.example' as never })
})

test.each([
  ['ann@bücher.example.', 'ann@xn--bcher-kva.example'],
  ['Ann <ann@bücher.example>', 'ann@xn--bcher-kva.example'],
  // Valid as it is, so nothing is removed.
  ["'ann'@news.example", "'ann'@news.example"],
])('%p is %p', (text, address) => {
  expect(parseTypedAddress(text)).toEqual({ ok: true, value: address as never })
})

test.each([
  ['', 'empty'],
  [undefined, 'missing'],
  ['ann@news.example, bob@news.example', 'several'],
  ['Ann <ann@news>', 'display_name'],
  ['jörg@news.example.', 'non_ascii'],
  [`${'.'.repeat(2_000)}ann@news.example`, 'too_long'],
] as const)('%p is not read: %s', (text, reason) => {
  expect(parseTypedAddress(text)).toEqual({ ok: false, reason })
})
