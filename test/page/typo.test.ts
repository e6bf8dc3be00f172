/** Domains that look like a typing error of a big provider. */

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { distance } from 'fastest-levenshtein'
import { findLikelyAddress } from '../../src/page/assets/typo.ts'

test.each([
  ['ann@gmial.com', 'ann@gmail.com'],
  ['Ann@Gmail.con', 'Ann@gmail.com'],
  ['ann@gmail.co', 'ann@gmail.com'],
  ['ann@hotmai.co', 'ann@hotmail.com'],
  ['ann@iclould.com', 'ann@icloud.com'],
  ['ann@yaho.com', 'ann@yahoo.com'],
])('%s is probably %s', (address, likely) => {
  expect(findLikelyAddress(address)).toBe(likely)
})

test.each([
  'ann@gmail.com',
  'ann@GMAIL.com',
  'ann@ymail.com',
  'ann@outlook.es',
  'ann@hotmail.it',
  'ann@web.de',
  'ann@wp.com',
  'ann@news.example',
])('%s is taken as it is', (address) => {
  expect(findLikelyAddress(address)).toBeUndefined()
})

test('up to two wrong letters are close: the distance of a library agrees', () => {
  const edit = fc.tuple(fc.integer({ min: 0, max: 6 }), fc.constantFrom('', 'x', 'l', 'xt'), fc.nat(1))
  fc.assert(
    fc.property(fc.array(edit, { maxLength: 3 }), (edits) => {
      const domain = edits.reduce(
        (text, [at, added, cut]) => text.slice(0, at) + added + text.slice(at + cut),
        'hotmail.com',
      )
      const errors = distance(domain, 'hotmail.com')
      // gmail.com is asked about first.
      fc.pre(distance(domain, 'gmail.com') > 2)
      expect(findLikelyAddress(`a@${domain}`)).toBe(errors === 1 || errors === 2 ? 'a@hotmail.com' : undefined)
    }),
  )
})
