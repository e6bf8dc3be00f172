/** Addresses as people type and paste them. Domains are converted as the runtime's domainToASCII does. */

import { describe, expect, test } from 'bun:test'
import { domainToASCII } from 'node:url'
import fc from 'fast-check'
import { type Address, parseAddress, parseTypedAddress, toAsciiDomain } from '../src/email.ts'
import { MAX_ADDRESS_LENGTH } from '../src/limits.ts'

test.each([
  'mailto:ann@news.example',
  'mailto:ann@news.example?subject=Hello',
  'Ann <ann@news.example>',
  '"Ann, of News" <ann@news.example>',
  '<ann@news.example>',
  'ann@news.example.',
  'ann@news.example,',
  '“ann@news.example”',
  '»ann@news.example«',
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

describe('converts a non-ASCII domain', () => {
  test.each([
    ['a@bücher.example', 'a@xn--bcher-kva.example', 'a Latin letter with a diacritic'],
    ['a@bu\u0308cher.example', 'a@xn--bcher-kva.example', 'a decomposed letter is composed first: NFC'],
    ['a@>\u0338.example', 'a@xn--hdh.example', 'an ASCII character and a combining one are composed first'],
    ['a@straße.example', 'a@xn--strae-oqa.example', 'ß is kept: UTS #46, nontransitional'],
    ['a@例え。テスト', 'a@xn--r8jz45g.xn--zckzah', 'the ideographic full stop is a dot'],
    ['a@\uFEFFexample.org', 'a@example.org', 'a byte order mark after the @ is white space'],
    ['a@ bücher.example ', 'a@xn--bcher-kva.example', 'white space around the domain is removed'],
    ['jörg@bücher.example', 'jörg@xn--bcher-kva.example', 'the local part does not change'],
    ['a@b@bücher.example', 'a@b@xn--bcher-kva.example', 'the domain begins after the last @'],
  ])('%j becomes %j: %s', (text, expected) => expect(toAsciiDomain(text)).toBe(expected))
})

describe('leaves the text unchanged', () => {
  test.each([
    ['a@Example.ORG ', 'an ASCII domain'],
    ['bücher.example', 'no @'],
    ['a@\u3000', 'a domain of white space'],
    ['a@%C3%BCcher.example', 'a percent-encoded domain'],
    ['a@ü%41.example', 'a percent-encoded ASCII letter: the URL parser would decode it'],
    ['a@bücher.example/path', 'a path: the URL parser would cut it off'],
    ['a@bücher.example#fragment', 'a fragment'],
    ['a@bücher.example:25', 'a port'],
    ['a@bü\tcher.example', 'a tab: the URL parser would drop it'],
    ['a@bü_cher.example', 'an underscore'],
    ['a@bücher\uD800.example', 'half of a surrogate pair'],
    ['a@\u0378.example', 'an unassigned code point'],
    ['a@xn--\u00FC.example', 'an A-label with a non-ASCII letter'],
  ])('%j: %s', (text) => expect(toAsciiDomain(text)).toBe(text))
})

describe('a domain is converted up to the maximum length of an address, in UTF-16 code units,', () => {
  // Each variation selector is ignored (UTS #46), so the text is longer than its ASCII form.
  const label = 'bb'.padEnd(63, '\uFE00')
  const rest = `.${label}.${label}.${label}`
  const toText = (length: number) => `a@${`ü${rest}`.padStart(length, '\uFE00')}`
  const ascii = 'a@xn--tda.bb.bb.bb'

  test('and an address with a longer one is too long', () => {
    expect(toAsciiDomain(toText(MAX_ADDRESS_LENGTH))).toBe(ascii)
    expect(toAsciiDomain(`${toText(MAX_ADDRESS_LENGTH)}\u3000`)).toBe(ascii)
    expect(toAsciiDomain(toText(MAX_ADDRESS_LENGTH + 1))).toBe(toText(MAX_ADDRESS_LENGTH + 1))
    expect(parseTypedAddress(toText(MAX_ADDRESS_LENGTH))).toEqual({ ok: true, value: ascii as Address })
    expect(parseTypedAddress(toText(MAX_ADDRESS_LENGTH + 1))).toEqual({ ok: false, reason: 'too_long' })
  })
})

test.each([
  ['ada@b\u00FC_cher.example', 'non_ascii_domain'],
  ['j\u00F6rg@b\u00FCcher.example', 'non_ascii'],
] as const)('%j is not an address: %s', (text, reason) => {
  expect(parseTypedAddress(text)).toEqual({ ok: false, reason })
})

describe('accepts and refuses the same addresses as domainToASCII', () => {
  test('for each character of the Basic Multilingual Plane in a label', () => {
    for (let code = 0x80; code <= 0xffff; code++) {
      expectSameAddress(`name@x${String.fromCharCode(code)}y.example`)
    }
  })

  test('for generated domains', () => {
    const character = fc.oneof(
      fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
      fc.constantFrom(...'abz09-.üßıİſKΣςй例。．｡１０٣Ａ', 'xn--', '\u200D', '\u00AD', '\u0301', '\u0338'),
    )
    const label = fc.array(character, { minLength: 1, maxLength: 10 }).map((characters) => characters.join(''))
    fc.assert(
      fc.property(label, label, (first, last) => {
        expectSameAddress(`name@${first}.example`)
        expectSameAddress(`name@ü.${last}`)
      }),
      { numRuns: 5_000 },
    )
  })
})

/** Compares the addresses after conversion. Skips texts with URL syntax, of which domainToASCII drops a part. */
function expectSameAddress(text: string): void {
  const start = text.lastIndexOf('@') + 1
  const domain = text.slice(start).trim()
  if (start === 0 || /^[\0-\x7f]*$/.test(text.slice(start)) || /[%#/?\\\t\r\n]/.test(domain)) return
  const expected = parseAddress(text.slice(0, start) + domainToASCII(domain.normalize('NFC')))
  const actual = parseAddress(toAsciiDomain(text))
  expect({ text, address: actual.ok && actual.value }).toEqual({
    text,
    address: expected.ok && expected.value,
  })
}
