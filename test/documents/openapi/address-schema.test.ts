/**
 * The published schema of the request and the server accept the same bodies, up to 254 characters as they are sent. The
 * contract fixes that limit in the schema and lets the server trim first: so only the server accepts white space around
 * an address that is nearly as long.
 */

import { describe, expect, test } from 'bun:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import type { oas31 } from 'openapi3-ts'
import { parseAddress } from '../../../src/email.ts'
import { texts, VECTORS } from '../../addresses.ts'
import { GOLDEN } from '../../support/contract.ts'
import { createAjv } from '../../support/response-check.ts'
import { startService } from '../../support/service.ts'

const schema = GOLDEN.components!.schemas!.Subscription as oas31.SchemaObject

// In the dialect of OpenAPI 3.1 `format` is an annotation (JSON Schema 2020-12, Validation, section 7.2.1).
const isValid = new Ajv2020({ strict: true, validateFormats: false }).compile(schema)
const isValidWithFormat = createAjv().compile(schema)

const NAME = 'name@example.org'

/** The white space of ECMA-262, and characters that are white space only elsewhere. */
const SPACES = ' \t\n\v\f\r\u00A0\u1680\u2000\u200A\u2028\u2029\u202F\u205F\u3000\uFEFF'
const NO_SPACES = '\0\x1C\x1F\x85\u180E\u200B\u2060'

describe('the schema accepts what the server accepts', () => {
  test('for the vectors', () => {
    for (const { input, address } of VECTORS) {
      const valid = address !== undefined && String(input).length <= 254
      expect({ input, valid: isValid({ email: input }) }).toEqual({ input, valid })
    }
  })

  test('for generated texts and lengths around the maximum, with and without white space around them', () => {
    const someTexts = fc.oneof({ arbitrary: texts(), weight: 4 }, longTexts())
    fc.assert(fc.property(surroundings(), someTexts, surroundings(), expectAgreement), { numRuns: 1800 })
  })

  test('with each of the 65,536 code units before and after an address', () => {
    const accepted = Array.from({ length: 65_536 }, (_, code) => String.fromCharCode(code)).filter((unit) => {
      expectAgreement(unit, NAME, '')
      expectAgreement('', NAME, unit)
      return isValid({ email: NAME + unit })
    })
    expect(accepted).toEqual(expect.arrayContaining([...SPACES]))
  })

  test('for other values, and without the member', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (email) => expect(isValid({ email })).toBe(parseAddress(email).ok)),
      { numRuns: 300 },
    )
    expect(isValid({})).toBe(false)
  })
})

// ajv-formats refuses white space around an address.
test('a validator that asserts the format accepts the same texts without white space around them', () => {
  fc.assert(
    fc.property(surroundings(), fc.oneof(texts(), longTexts()), (space, text) => {
      expect(isValidWithFormat({ email: text.trim() })).toBe(parseAddress(text).ok)
      if (!parseAddress(text).ok) expect(isValidWithFormat({ email: space + text })).toBe(false)
    }),
    { numRuns: 1500 },
  )
})

test('the service accepts white space of all kinds, and alone accepts more of it than the schema allows', async () => {
  const service = await startService()
  for (const [email, valid] of [
    [SPACES + NAME + SPACES, true],
    [NAME.padEnd(254), true],
    [` ${toAddress(254)}\n`, false],
    [NAME.padEnd(255), false],
  ] as const) {
    expect([(await service.subscribe(email)).status, isValid({ email })]).toEqual([200, valid])
  }
  await service.stop()
})

function expectAgreement(before: string, text: string, after: string): void {
  const email = before + text + after
  const valid = isValid({ email })
  if (valid !== (email.length <= 254 && parseAddress(email).ok)) {
    throw new Error(`the schema says ${valid} for ${JSON.stringify(email)}`)
  }
}

/** Text around an address: nothing, white space, or characters that only look like it. */
function surroundings(): fc.Arbitrary<string> {
  const unit = fc.oneof({ arbitrary: fc.constantFrom(...SPACES), weight: 20 }, fc.constantFrom(...NO_SPACES))
  return fc.string({ unit, maxLength: 6 })
}

/** Texts with the shape of an address, a little shorter and longer than the maximum. */
function longTexts(): fc.Arbitrary<string> {
  return fc.integer({ min: 250, max: 258 }).map(toAddress)
}

/** Builds an address of this length, at least 68. It has a local part of 64 characters, and labels of at most 63. */
function toAddress(length: number): string {
  const domain = 'd'.repeat(length - 65).replace(/d{61}(?=dd)/g, (label) => `${label.slice(1)}.`)
  return `${'l'.repeat(64)}@${domain}`
}
