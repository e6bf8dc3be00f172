/** The sizes of batches follow the time that they take, so the tests give times and compare sizes. */

import { expect, test } from 'bun:test'
import { createPace } from '../../src/store/pace.ts'

const LIMITS = { milliseconds: 100, first: 500, least: 50, most: 4_000 }

test('a size at most doubles, shrinks at once, and stays within its limits', () => {
  const pace = createPace(LIMITS)
  const record = (milliseconds: number) => {
    pace.record(pace.size(), milliseconds)
    return pace.size()
  }
  expect([pace.size(), record(1), record(1), record(0)]).toEqual([500, 1_000, 2_000, 4_000])
  expect([record(10), record(200), record(100), record(1_000), record(5_000)]).toEqual([4_000, 2_000, 2_000, 200, 50])
})

test('a small rest that is fast changes nothing, and one that is slow does', () => {
  const pace = createPace(LIMITS)
  pace.record(3, 20)
  expect(pace.size()).toBe(500)
  pace.record(400, 200)
  expect(pace.size()).toBe(200)
})
