/** The address rule: vectors, the published pattern, identity, reserved domains and hints. */

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { ADDRESS_PATTERN, type Address, isReserved, parseAddress, RESERVED_DOMAINS, toIdentity } from '../src/email.ts'
import { PROBLEMS } from '../src/errors.ts'
import { MAX_ADDRESS_LENGTH } from '../src/limits.ts'
import { addresses, HOSTILE_TEXTS, matchesRule, texts, VECTORS } from './support/addresses.ts'
import { toSupportFile } from './support/paths.ts'

// As JSON Schema compiles it (`u`, draft 2020-12 section 6.4), as plain ECMA-262, and as a browser compiles it in HTML (`v`).
const PATTERNS = ['u', '', 'v'].map((flags) => new RegExp(ADDRESS_PATTERN, flags))

describe('the vectors', () => {
  for (const { input, address, reason, why } of VECTORS) {
    test(`${toTitle(input)}: ${why}`, () => {
      expect(parseAddress(input) as object).toEqual(
        reason === undefined ? { ok: true, value: address } : { ok: false, reason: reason },
      )
    })
  }

  test('have the same result with the published pattern, with every flag', () => {
    for (const { input, address } of VECTORS) {
      if (typeof input !== 'string') continue
      const verdicts = PATTERNS.map((pattern) => pattern.test(input))
      expect({ input, verdicts }).toEqual({ input, verdicts: PATTERNS.map(() => address !== undefined) })
    }
  })

  test('are each different, and cover every reason', () => {
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
    test(`of ${reason} contains the maximum`, () => {
      expect({ status, code }).toEqual({ status: 400, code: 'invalid_email' })
      expect(hint).toContain(String(MAX_ADDRESS_LENGTH))
    })
  }

  test('the maximum is 254', () => {
    expect(MAX_ADDRESS_LENGTH).toBe(254)
  })

  test('say how to correct the address', () => {
    expect(hintFor('name@bücher.example')).toContain('xn--')
    expect(hintFor('a@example.org, b@example.org')).toContain('one request for each')
    expect(hintFor('Name <name@example.org>')).toContain('angle brackets')
    expect(hintFor(`${'l'.repeat(65)}@example.org`)).toContain('64')
  })
})

describe('identity', () => {
  const cases = [
    ['name@example.org', 'name@example.org', 'unchanged'],
    ['Name@Example.ORG', 'name@example.org', 'the whole address in lower case'],
    ['NAME+Tag@example.org', 'name+tag@example.org', 'tags are kept'],
    ['First.Last@gmail.com', 'first.last@gmail.com', 'dots are kept'],
    ["!#$%&'*+-/=?^_`{|}~@X.ORG", "!#$%&'*+-/=?^_`{|}~@x.org", 'symbols are kept'],
    ['name@XN--P1AI.XN--P1AI', 'name@xn--p1ai.xn--p1ai', 'A-labels too'],
  ] as const
  for (const [spelling, identity, why] of cases) {
    test(`${spelling}: ${why}`, () => expect(toIdentity(addressOf(spelling))).toBe(identity))
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

  for (const address of reserved) test(`${address} is`, () => expect(isReserved(addressOf(address))).toBe(true))
  for (const address of free) test(`${address} is not`, () => expect(isReserved(addressOf(address))).toBe(false))

  test('are those of RFC 2606 and RFC 6761', () => {
    expect<string[]>([...RESERVED_DOMAINS].sort()).toEqual(
      ['example', 'example.com', 'example.net', 'example.org', 'invalid', 'localhost', 'test'].sort(),
    )
  })
})

describe('properties', () => {
  test('an address from the grammar is accepted, with any white space around it', () => {
    const spaces = fc.string({ unit: fc.constantFrom(' ', '\t', '\r', '\n', '\u00A0', '\uFEFF', '\u3000') })
    fc.assert(
      fc.property(addresses(), spaces, spaces, (address, before, after) => {
        expect(parseAddress(before + address + after) as object).toEqual({ ok: true, value: address })
      }),
      { numRuns: 300 },
    )
  })

  test('a text is accepted if and only if it matches the pattern, and the trimmed text the rule in plain code', () => {
    fc.assert(
      fc.property(texts(), (text) => {
        const result = parseAddress(text)
        const accepted = result.ok
        expect(PATTERNS.map((pattern) => pattern.test(text))).toEqual(PATTERNS.map(() => accepted))
        expect(matchesRule(text.trim())).toBe(accepted)
        if (result.ok) expect<string>(result.value).toBe(text.trim())
      }),
      { numRuns: 1500 },
    )
  })

  test('any value gives an address or a reason with the code invalid_email', () => {
    fc.assert(
      fc.property(fc.anything(), (value) => {
        const result = parseAddress(value)
        expect(result.ok || PROBLEMS[result.reason].code === 'invalid_email').toBe(true)
      }),
    )
  })

  test('toIdentity changes only A to Z, and is idempotent', () => {
    fc.assert(
      fc.property(addresses(), (text) => {
        const identity = toIdentity(addressOf(text))
        expect(toIdentity(identity as Address)).toBe(identity)
        const folded = [...text].map((c) => (c >= 'A' && c <= 'Z' ? String.fromCharCode(c.charCodeAt(0) + 32) : c))
        expect(identity).toBe(folded.join(''))
      }),
      { numRuns: 300 },
    )
  })
})

test('the reason comes from the first thousand characters', () => {
  const toReason = (text: string) => {
    const result = parseAddress(text)
    return result.ok ? undefined : result.reason
  }
  expect(toReason(`a@example.org,${'b@example.org '.repeat(1_000)}`)).toBe('several')
  expect(toReason(`a@example.org${'x'.repeat(1_000)},b@example.org`)).toBe('too_long')
})

// Work is not measured but bounded: a quadratic rule needs minutes for a text of 1 MiB, and a linear one milliseconds.
test('texts of 1 MiB that cause backtracking are parsed in linear time', async () => {
  const program = [process.execPath, toSupportFile('addresses.ts')]
  const child = Bun.spawn(program, { stdout: 'pipe', timeout: 50_000, killSignal: 'SIGKILL' })
  const names = (await child.stdout.text()).trim().split('\n')
  const exitCode = await child.exited
  expect({ exitCode, last: names.at(-1) }, 'the last text took too long').toEqual({
    exitCode: 0,
    last: Object.keys(HOSTILE_TEXTS).at(-1),
  })
})

function isAddressReason(reason: string): boolean {
  return PROBLEMS[reason as keyof typeof PROBLEMS].code === 'invalid_email'
}

function hintFor(text: string): string {
  const result = parseAddress(text)
  if (result.ok) throw new Error(`${text} was accepted`)
  return PROBLEMS[result.reason].hint
}

function addressOf(text: string): Address {
  const result = parseAddress(text)
  if (result.ok) return result.value
  throw new Error(`${text} was refused: ${result.reason}`)
}

/** Returns a short title in ASCII, because a right-to-left mark would reverse the report. */
function toTitle(input: unknown): string {
  const text = (JSON.stringify(input) ?? String(input)).replace(
    /[^\x20-\x7e]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return text.length > 60 ? `${text.slice(0, 57)}...` : text
}
