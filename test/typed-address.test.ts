/** Addresses as people type and paste them. */

import { expect, test } from 'bun:test'
import { MAX_EXPLAINED_LENGTH } from '../src/limits.ts'
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

test.each(['.', '"', '<', ' ', '\u200b', '\uff21', '\uff21b'])('%p in great number costs little', (part) => {
  const toLongest = (filling: string) => `${filling.repeat((MAX_EXPLAINED_LENGTH - 1) / filling.length)}a`
  // Regular expressions for the same took 15 to 37 times as long as for a plain text.
  expect(measureCost(toLongest(part)) / measureCost(toLongest('b@'))).toBeLessThan(12)
})

/** The least of several samples, because what disturbs a sample adds to it. */
function measureCost(text: string): number {
  const samples = Array.from({ length: 20 }, () => {
    const start = process.cpuUsage()
    for (let repeat = 0; repeat < 100; repeat++) parseTypedAddress(text)
    const { user, system } = process.cpuUsage(start)
    return user + system
  })
  return Math.min(...samples)
}
