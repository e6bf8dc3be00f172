/** The address rule: vectors, the published pattern, identity, reserved domains and hints. */

import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import fc from 'fast-check'
import { RE2JS } from 're2js'
import { ADDRESS_PATTERN, type Address, isReserved, parseAddress, RESERVED_DOMAINS, toIdentity } from '../src/email.ts'
import { PROBLEMS, toErrorBody } from '../src/errors.ts'
import { addresses, HOSTILE_TEXTS, matchesRule, texts, VECTORS } from './addresses.ts'

// As JSON Schema compiles it (`u`, draft 2020-12 section 6.4), as plain ECMA-262, and as a browser compiles it in HTML (`v`).
const PATTERNS = ['u', '', 'v'].map((flags) => new RegExp(ADDRESS_PATTERN, flags))

/** What the contract says of a text, by each engine: the pattern, and the limits of 254 and 64 characters. */
function matchesContract(text: string): boolean[] {
  const trimmed = text.trim()
  const isShort = trimmed.length <= 254 && !/^[^@]{65}/.test(trimmed)
  return PATTERNS.map((pattern) => isShort && pattern.test(text))
}

/** Values that are not addresses, with the reason that the sender gets. */
const REASONS = Object.entries(PROBLEMS).filter(([, { code }]) => code === 'invalid_email')

describe('the vectors', () => {
  for (const { input, address, reason, why } of VECTORS) {
    test(`${toTitle(input)}: ${why}`, () => {
      expect<unknown>(parseAddress(input)).toEqual(
        reason === undefined ? { ok: true, value: address } : { ok: false, reason },
      )
      if (typeof input === 'string') expect(matchesContract(input)).toEqual(PATTERNS.map(() => reason === undefined))
    })
  }

  test('cover every reason', () => {
    const reached = new Set<string | undefined>(VECTORS.map(({ reason }) => reason))
    expect(REASONS.filter(([reason]) => !reached.has(reason))).toEqual([])
  })
})

test('every hint has the maximum, and those for common mistakes say how to correct the address', () => {
  for (const [, { status, hint }] of REASONS) {
    expect({ status, hint }).toEqual({ status: 400, hint: expect.stringContaining('254') })
  }
  expect(hintFor('name@bücher.example')).toContain('xn--')
  expect(hintFor('a@example.org, b@example.org')).toContain('one request for each')
  expect(hintFor('Name <name@example.org>')).toContain('angle brackets')
  expect(hintFor('name@exam\u200Bple.org')).toContain('U+200B')
  expect(hintFor(`${'l'.repeat(65)}@example.org`)).toContain('64')
})

test('the reserved domains are those of RFC 2606 and RFC 6761, with their subdomains', () => {
  const names = ['example', 'example.com', 'example.net', 'example.org', 'invalid', 'localhost', 'test']
  expect<string[]>(RESERVED_DOMAINS.toSorted()).toEqual(names)
  const reserved = [
    ...['a@example.com', 'A@EXAMPLE.COM', 'a@www.example.com', 'a@deep.er.example.org', 'a@x.example', 'a@x.test'],
    ...['a@y.X.Test', 'a@x.invalid', 'a@x.localhost', 'test@test.test'],
  ]
  const free = [
    ...['a@notexample.com', 'a@my-example.org', 'a@example.com.evil.org', 'a@example.evil.org', 'a@example.co'],
    ...['a@examplexcom.org', 'a@x.examplexcom', 'a@test.org', 'a@x.latest', 'a@x.test1', 'x.test@evil.org'],
  ]
  expect(reserved.filter((address) => !isReserved(addressOf(address)))).toEqual([])
  expect(free.filter((address) => isReserved(addressOf(address)))).toEqual([])
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

  test('a text is accepted if and only if it matches the published rule, and the trimmed text the rule in plain code', () => {
    fc.assert(
      fc.property(texts(), (text) => {
        const result = parseAddress(text)
        const accepted = result.ok
        expect(matchesContract(text)).toEqual(PATTERNS.map(() => accepted))
        expect(matchesRule(text.trim())).toBe(accepted)
        if (result.ok) expect<string>(result.value).toBe(text.trim())
      }),
      { numRuns: 1500 },
    )
  })

  test('an identity is the whole address with A to Z in lower case', () => {
    fc.assert(
      fc.property(addresses(), (text) => {
        const identity = toIdentity(addressOf(text))
        const folded = [...text].map((c) => (c >= 'A' && c <= 'Z' ? String.fromCharCode(c.charCodeAt(0) + 32) : c))
        expect(identity).toBe(folded.join(''))
      }),
      { numRuns: 300 },
    )
  })
})

// RE2 is the engine of Go. That of pydantic is alike: both refuse look-ahead. Their white space is that of ASCII.
test('an engine without backtracking compiles the pattern, and agrees', () => {
  const pattern = RE2JS.compile(ADDRESS_PATTERN)
  for (const { input, address } of VECTORS) {
    if (typeof input !== 'string' || input.length > 254) continue
    const text = input.trim()
    const accepted = pattern.matcher(text).find() && text.indexOf('@') <= 64
    expect({ text, accepted }).toEqual({ text, accepted: address !== undefined })
  }
})

// Work is not measured but bounded: a quadratic rule needs minutes for a text of 1 MiB, and a linear one milliseconds.
test('texts of 1 MiB that cause backtracking are parsed in linear time', async () => {
  const program = [process.execPath, join(import.meta.dir, 'addresses.ts')]
  const child = Bun.spawn(program, { stdout: 'pipe', timeout: 50_000, killSignal: 'SIGKILL' })
  const names = (await child.stdout.text()).trim().split('\n')
  const exitCode = await child.exited
  expect({ exitCode, last: names.at(-1) }, 'the last text took too long').toEqual({
    exitCode: 0,
    last: Object.keys(HOSTILE_TEXTS).at(-1),
  })
})

function hintFor(text: string): string {
  const result = parseAddress(text)
  if (result.ok) throw new Error(`${text} was accepted`)
  return toErrorBody(PROBLEMS[result.reason]).error.hint
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
