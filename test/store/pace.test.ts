/** The sizes of batches follow the time that they take, so the tests give times and compare sizes. */

import { expect, test } from 'bun:test'
import type { Address } from '../../src/email.ts'
import { CHANGE_BATCH } from '../../src/limits.ts'
import { createPace, sortParts, toBatches } from '../../src/store/pace.ts'

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

test('a command begins with 500 rows, and holds the lock for less than 0.1 s', () => {
  const pace = createPace()
  expect(pace.size()).toBe(500)
  pace.record(500, 60)
  expect(pace.size()).toBe(500)
  pace.record(500, 120)
  expect(pace.size()).toBe(250)
})

test('a service gets the lock between two batches', async () => {
  const ends: number[] = []
  for await (const _ of toBatches([1, 2, 3], { size: () => 1 })) ends.push(performance.now())
  const pauses = ends.slice(1).map((end, index) => end - (ends[index] ?? 0))
  // A timer may fire a little early.
  expect(Math.min(...pauses)).toBeGreaterThan(8)
})

test('batches have the size that the pace says when each begins, and all rows in their order', async () => {
  const rows = Array.from({ length: 10 }, (_, index) => index)
  const sizes = [1, 2, 4, 8]
  const batches = await Array.fromAsync(toBatches(rows, { size: () => sizes.shift()! }))
  expect(batches).toEqual([[0], [1, 2], [3, 4, 5, 6], [7, 8, 9]])
})

test('the rows of a large file are sorted in parts, and those of a small one keep their order', () => {
  const toRows = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ email: `User${count - index}@site.io` as Address }))
  const small = toRows(CHANGE_BATCH)
  expect(sortParts(small)).toEqual(small)
  const large = toRows(CHANGE_BATCH + 3)
  const parts = [large.slice(0, CHANGE_BATCH), large.slice(CHANGE_BATCH)]
  const sorted = parts.flatMap((part) =>
    part.toSorted((one, other) => (one.email.toLowerCase() < other.email.toLowerCase() ? -1 : 1)),
  )
  expect(sortParts(large)).toEqual(sorted)
})
