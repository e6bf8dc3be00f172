/** The rows of the deliberate breaks match the source, so that `npm run test:mutants` can apply each of them. */

import { expect, test } from 'bun:test'
import { applyBreak, BREAKS, findMismatch } from './runners/mutants/table.ts'

test('every break matches the source', () => {
  expect(BREAKS.length).toBeGreaterThan(0)
  const mismatches = BREAKS.map((entry) => [entry.name, findMismatch(entry)]).filter(([, reason]) => reason)
  expect(mismatches).toEqual([])
})

test('a break matches however a formatter wraps the lines', () => {
  const entry = { text: 'call(one, two)', replacement: 'call()' }
  for (const source of ['if (call(one, two)) end()', 'if (call(\n  one,\n  two,\n)) end()'])
    expect(applyBreak(source, entry)).toBe('if (call()) end()')
})
