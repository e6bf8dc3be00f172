/**
 * Parses texts that are slow for a rule with backtracking: prints the name of each before it parses it. A quadratic
 * rule needs about 10^12 steps for one of them, which is minutes; a linear rule needs milliseconds.
 */

import { ADDRESS_PATTERN, parseAddress } from '../../src/email.ts'
import { MAX_ADDRESS_LENGTH } from '../../src/limits.ts'

/** Builds a text of about this length. */
type Build = (length: number) => string

export const HOSTILE_TEXTS: Readonly<Record<string, Build>> = {
  'one letter': (length) => 'a'.repeat(length),
  dots: (length) => 'a.'.repeat(length / 2),
  'at signs': (length) => '@'.repeat(length),
  'an at sign, then commas': (length) => `@${','.repeat(length)}`,
  'an at sign, then spaces': (length) => `a@${' '.repeat(length)}b`,
  'an angle bracket, then at signs': (length) => `<${'@'.repeat(length)}`,
  'angle brackets': (length) => '<'.repeat(length),
  'open addresses': (length) => '<a@b'.repeat(length / 4),
  'a local part without a domain': (length) => `${'a'.repeat(length)}@`,
  labels: (length) => `a@${'a.'.repeat(length / 2)}!`,
  'one label': (length) => `a@${'a'.repeat(length)}!`,
  hyphens: (length) => `a@a${'-'.repeat(length)}`,
  'digits at the end': (length) => `a@a.${'1'.repeat(length)}`,
  'many addresses': (length) => 'a@b,'.repeat(length / 4),
  'spaces around a letter': (length) => `${' '.repeat(length)}x${' '.repeat(length)}`,
  'spaces between letters': (length) => `x${' '.repeat(length)}x`,
  'an address, then spaces and a letter': (length) => `a@b.org${' '.repeat(length)}x`,
  'spaces, then an address that is too long': (length) => `${' '.repeat(length)}${'a'.repeat(300)}@b.org`,
  'non-ASCII letters': (length) => `a@${'é'.repeat(length)}`,
}

const LENGTH = 2 ** 20

if (import.meta.main) {
  const patterns = ['u', '', 'v'].map((flags) => new RegExp(ADDRESS_PATTERN, flags))
  for (const [name, build] of Object.entries(HOSTILE_TEXTS)) {
    console.log(name)
    parseAddress(build(LENGTH))
    for (const text of [build(LENGTH), build(MAX_ADDRESS_LENGTH)]) {
      for (const pattern of patterns) pattern.test(text)
    }
  }
}
