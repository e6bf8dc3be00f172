/** Domains that look like a typing error of a big provider. */

import { expect, test } from 'bun:test'
import { findLikelyAddress } from '../src/likely-address.ts'

test.each([
  ['ann@gmial.com', 'ann@gmail.com'],
  ['Ann@Gmail.con', 'Ann@gmail.com'],
  ['ann@gmail.co', 'ann@gmail.com'],
  ['ann@hotmai.com', 'ann@hotmail.com'],
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
  'ann@htmaill.com',
  'ann@web.de',
  'ann@wp.com',
  'ann@news.example',
])('%s is taken as it is', (address) => {
  expect(findLikelyAddress(address)).toBeUndefined()
})
