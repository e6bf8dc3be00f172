/** The table of breaks fits the sources. Whether the tests notice the breaks is checked by `npm run test:mutants`. */

import { expect, test } from 'bun:test'
import { findMismatch } from './break.ts'
import { BREAKS } from './breaks.ts'

test('there are at least 60 breaks, each with a name of its own', () => {
  expect(BREAKS.length).toBeGreaterThanOrEqual(60)
  expect(new Set(BREAKS.map(({ name }) => name)).size).toBe(BREAKS.length)
})

test.each(BREAKS.map((entry) => [entry.name, entry] as const))('%s', (_, entry) => {
  expect(entry.replacement).not.toBe(entry.text)
  expect(findMismatch(entry)).toBeUndefined()
})
