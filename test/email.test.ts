/** The address rule: its vectors, its published pattern, identity, reserved domains, and the hints. */

import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import fc from 'fast-check'
import {
  ADDRESS_PATTERN,
  type Address,
  isReserved,
  parseAddress,
  RESERVED_DOMAINS,
  toIdentity,
} from '../src/email.ts'
import { PROBLEMS } from '../src/errors.ts'
import { MAX_ADDRESS_LENGTH } from '../src/limits.ts'
import { addresses, obeysTheRule, texts } from './support/email-arbitraries.ts'
import { VECTORS } from './support/email-vectors.ts'

// A machine that has other work may be slow at thousands of generated texts.
setDefaultTimeout(60_000)

// As JSON Schema asks for it (`u`, draft 2020-12 section 6.4), as plain ECMA-262, and as a browser compiles it in HTML (`v`).
const PATTERNS = ['u', '', 'v'].map((flags) => new RegExp(ADDRESS_PATTERN, flags))

describe('the vectors', () => {
  for (const { input, address, reason, why } of VECTORS) {
    test(`${toShort(input)}: ${why}`, () => {
      expect(parseAddress(input) as object).toEqual(
        reason === undefined ? { ok: true, value: address } : { ok: false, reason: reason },
      )
    })
  }

  test('the published pattern says the same, under every flag', () => {
    for (const { input, address } of VECTORS) {
      if (typeof input !== 'string') continue
      const verdicts = PATTERNS.map((pattern) => pattern.test(input.trim()))
      expect({ input, verdicts }).toEqual({ input, verdicts: PATTERNS.map(() => address !== undefined) })
    }
  })

  test('there are enough of them, none twice, and each reason has one', () => {
    expect(VECTORS.length).toBeGreaterThanOrEqual(140)
    const texts = VECTORS.map(({ input }) => input).filter((input) => typeof input === 'string')
    expect(texts.filter((text, index) => texts.indexOf(text) !== index)).toEqual([])
    const reached = new Set<string | undefined>(VECTORS.map(({ reason }) => reason))
    const reasons = Object.keys(PROBLEMS).filter((reason) => isAddressReason(reason))
    expect(reasons.filter((reason) => !reached.has(reason))).toEqual([])
  })
})

describe('the hints', () => {
  for (const [reason, { status, code, hint }] of Object.entries(PROBLEMS)) {
    if (!isAddressReason(reason)) continue
    test(`${reason}: names the maximum`, () => {
      expect({ status, code }).toEqual({ status: 400, code: 'invalid_email' })
      expect(hint).toContain(String(MAX_ADDRESS_LENGTH))
    })
  }

  test('the maximum is 254', () => {
    expect(MAX_ADDRESS_LENGTH).toBe(254)
  })

  test('what can be mended, is told how', () => {
    expect(hintFor('name@bücher.example')).toContain('xn--')
    expect(hintFor('a@example.org, b@example.org')).toContain('one request for each')
    expect(hintFor('Name <name@example.org>')).toContain('angle brackets')
    expect(hintFor(`${'l'.repeat(65)}@example.org`)).toContain('64')
  })
})

describe('identity', () => {
  const cases = [
    ['name@example.org', 'name@example.org', 'as it is'],
    ['Name@Example.ORG', 'name@example.org', 'the whole address in lower case'],
    ['NAME+Tag@example.org', 'name+tag@example.org', 'tags are kept'],
    ['First.Last@gmail.com', 'first.last@gmail.com', 'dots are kept'],
    ["!#$%&'*+-/=?^_`{|}~@X.ORG", "!#$%&'*+-/=?^_`{|}~@x.org", 'symbols are kept'],
    ['name@XN--P1AI.XN--P1AI', 'name@xn--p1ai.xn--p1ai', 'A-labels too'],
  ] as const
  for (const [spelling, identity, why] of cases) {
    test(`${spelling}: ${why}`, () => expect(toIdentity(toAddress(spelling))).toBe(identity))
  }
})

describe('reserved domains', () => {
  const reserved = [
    ...['a@example.com', 'a@example.org', 'a@example.net', 'A@EXAMPLE.COM', 'a@www.example.com'],
    ...['a@deep.er.example.org', 'a@x.example', 'a@x.test', 'a@x.invalid', 'a@x.localhost', 'a@y.X.Test'],
    ...['a@example.example', 'test@test.test'],
  ]
  const free = [
    ...['a@notexample.com', 'a@my-example.org', 'a@example.com.evil.org', 'a@example.evil.org'],
    ...['a@example.co', 'a@example.edu', 'a@examplexcom.org', 'a@x.examplexcom', 'a@xexample.net'],
    ...['a@test.org', 'a@localhost.net', 'a@x.latest', 'a@x.test1', 'a@x.xtest', 'a@invalid.com'],
    ...['example.com@evil.org', 'x.test@evil.org', 'a@xn--example.com'],
  ]

  for (const address of reserved)
    test(`${address} is`, () => expect(isReserved(toAddress(address))).toBe(true))
  for (const address of free)
    test(`${address} is not`, () => expect(isReserved(toAddress(address))).toBe(false))

  test('the set is that of RFC 2606 and RFC 6761', () => {
    expect<string[]>([...RESERVED_DOMAINS].sort()).toEqual(
      ['example', 'example.com', 'example.net', 'example.org', 'invalid', 'localhost', 'test'].sort(),
    )
  })
})

describe('properties', () => {
  test('what is built by the rule is accepted, whatever blanks are around it', () => {
    const blanks = fc.string({ unit: fc.constantFrom(' ', '\t', '\r', '\n', '\u00A0', '\uFEFF', '\u3000') })
    fc.assert(
      fc.property(addresses(), blanks, blanks, (address, before, after) => {
        expect(parseAddress(before + address + after) as object).toEqual({ ok: true, value: address })
      }),
      { numRuns: 300 },
    )
  })

  test('a text is accepted if and only if the pattern matches it trimmed, and the words of the rule hold', () => {
    fc.assert(
      fc.property(texts(), (text) => {
        const result = parseAddress(text)
        const accepted = result.ok
        expect(PATTERNS.map((pattern) => pattern.test(text.trim()))).toEqual(PATTERNS.map(() => accepted))
        expect(obeysTheRule(text.trim())).toBe(accepted)
        if (result.ok) expect<string>(result.value).toBe(text.trim())
      }),
      { numRuns: 1500 },
    )
  })

  test('anything at all gets an address or a reason that has an answer', () => {
    fc.assert(
      fc.property(fc.anything(), (value) => {
        const result = parseAddress(value)
        expect(result.ok || PROBLEMS[result.reason].code === 'invalid_email').toBe(true)
      }),
    )
  })

  test('toIdentity changes A to Z and nothing else, and the second time nothing', () => {
    fc.assert(
      fc.property(addresses(), (text) => {
        const identity = toIdentity(toAddress(text))
        expect(toIdentity(identity as Address)).toBe(identity)
        const folded = [...text].map((c) =>
          c >= 'A' && c <= 'Z' ? String.fromCharCode(c.charCodeAt(0) + 32) : c,
        )
        expect(identity).toBe(folded.join(''))
      }),
      { numRuns: 300 },
    )
  })
})

describe('linear time', () => {
  // A text eight times as long takes eight times as long; were it quadratic, 64 times.
  const most = 24
  const short = 2 * 1024
  const hostile: Readonly<Record<string, (length: number) => string>> = {
    'one letter': (length) => 'a'.repeat(length),
    dots: (length) => 'a.'.repeat(length / 2),
    'at signs': (length) => '@'.repeat(length),
    'an at sign, then commas': (length) => `@${','.repeat(length)}`,
    'an at sign, then blanks': (length) => `a@${' '.repeat(length)}b`,
    'an angle bracket, then at signs': (length) => `<${'@'.repeat(length)}`,
    'angle brackets': (length) => '<'.repeat(length),
    'open addresses': (length) => '<a@b'.repeat(length / 4),
    'a local part without end': (length) => `${'a'.repeat(length)}@`,
    labels: (length) => `a@${'a.'.repeat(length / 2)}!`,
    'one label': (length) => `a@${'a'.repeat(length)}!`,
    hyphens: (length) => `a@a${'-'.repeat(length)}`,
    'digits at the end': (length) => `a@a.${'1'.repeat(length)}`,
    'many addresses': (length) => 'a@b,'.repeat(length / 4),
    'blanks around': (length) => `${' '.repeat(length)}x${' '.repeat(length)}`,
    'blanks inside': (length) => `x${' '.repeat(length)}x`,
    'letters outside ASCII': (length) => `a@${'é'.repeat(length)}`,
  }
  for (const [name, build] of Object.entries(hostile)) {
    test(`${name}: 16 KiB`, () => {
      expect(growthOf(build(short), build(8 * short), most)).toBeLessThan(most)
    })
  }
})

/** How many times the shortest time for one text goes into that for another, measured again while it looks too much. */
function growthOf(short: string, long: string, most: number): number {
  let [shortTime, longTime] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
  for (let round = 0; round < 50 && (round < 5 || longTime / shortTime >= most); round++) {
    shortTime = Math.min(shortTime, millisecondsFor(short))
    longTime = Math.min(longTime, millisecondsFor(long))
  }
  return longTime / shortTime
}

function millisecondsFor(text: string): number {
  const start = performance.now()
  for (let call = 0; call < 5; call++) parseAddress(text)
  return performance.now() - start
}

function isAddressReason(reason: string): boolean {
  return PROBLEMS[reason as keyof typeof PROBLEMS].code === 'invalid_email'
}

function hintFor(text: string): string {
  const result = parseAddress(text)
  if (result.ok) throw new Error(`${text} is an address`)
  return PROBLEMS[result.reason].hint
}

function toAddress(text: string): Address {
  const result = parseAddress(text)
  if (result.ok) return result.value
  throw new Error(`${text} is no address: ${result.reason}`)
}

/** A title in ASCII, so that no right-to-left mark turns the report around. */
function toShort(input: unknown): string {
  const text = (JSON.stringify(input) ?? String(input)).replace(
    /[^\x20-\x7e]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return text.length > 60 ? `${text.slice(0, 57)}...` : text
}
