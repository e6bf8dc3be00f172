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
  // A name of four letters: swapped, and missing.
  ['ann@liev.com', 'ann@live.com'],
  ['ann@mal.com', 'ann@mail.com'],
  // No top-level domain, after the name of a provider, of anybody, and with a second error.
  ['ann@live.con', 'ann@live.com'],
  ['ann@gazette.cpm', 'ann@gazette.com'],
  ['ann@gazette.cim', 'ann@gazette.com'],
  ['ann@mail.gazette.vom', 'ann@mail.gazette.com'],
  ['ann@gazette.xom', 'ann@gazette.com'],
  ['ann@gazette.cmo', 'ann@gazette.com'],
  ['ann@gazette.ocm', 'ann@gazette.com'],
  ['ann@gazette.comm', 'ann@gazette.com'],
  ['ann@gmial.cok', 'ann@gmail.com'],
  ['ann@mailo.con', 'ann@mailo.com'],
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
  // Real ones, and names that differ from one of four letters by another letter or by one more.
  'ann@mailo.com',
  'ann@y7mail.com',
  'ann@love.com',
  'ann@cloud.com',
  'ann@libera.it',
  'ann@line.com',
  'ann@olive.com',
  'ann@gail.net',
  'ann@gol.com.br',
  // Top-level domains.
  'ann@gazette.co',
  'ann@gazette.cm',
  'ann@gazette.cam',
  'ann@gazette.mom',
  'ann@gazette.bom',
  'ann@gazette.coop',
  'ann@news.example',
])('%s is taken as it is', (address) => {
  expect(findLikelyAddress(address)).toBeUndefined()
})
