/** A seed repeats every choice. */

import { expect, test } from 'bun:test'
import { createRandom } from '../../endurance/random.ts'

const take = (random: { next(): number }) => Array.from({ length: 1_000 }, () => random.next())

test('a seed repeats the numbers, and another seed has others', () => {
  expect(take(createRandom(7))).toEqual(take(createRandom(7)))
  expect(take(createRandom(7))).not.toEqual(take(createRandom(8)))
})

test('a fork does not depend on what was taken before, and differs by its label', () => {
  const random = createRandom(7)
  const before = take(random.fork('one'))
  take(random)
  expect(take(random.fork('one'))).toEqual(before)
  expect(take(random.fork('two'))).not.toEqual(before)
})

test('the numbers cover their range', () => {
  const random = createRandom(7)
  const numbers = take({ next: () => random.between(3, 5) })
  expect([...new Set(numbers)].sort()).toEqual([3, 4, 5])
  expect(take({ next: () => Number(random.chance(0.25)) }).reduce((sum, hit) => sum + hit)).toBeCloseTo(250, -2)
  expect(() => random.pick([])).toThrow(RangeError)
})
