/** The statistics of the endurance suite find what is there, and nothing else. */

import { expect, test } from 'bun:test'
import { createRandom } from '../../endurance/random.ts'
import { compareSamples, growthOf } from '../../endurance/statistics.ts'

const random = createRandom(1)
const sample = (length: number, toValue: () => number) => Array.from({ length }, toValue)

test('the growth is that of the trend, in spite of a few outliers', () => {
  const trend = Array.from({ length: 31 }, (_, index) => 100 + 2 * index)
  expect(growthOf(trend)).toBe(60)
  expect(growthOf(trend.map((value, index) => (index % 6 === 0 ? 10_000 - value : value)))).toBeCloseTo(60, -1)
  expect(Math.abs(growthOf(sample(31, () => 100 + random.next())))).toBeLessThan(1)
  expect(growthOf([5])).toBe(0)
})

test('the AUC is 0.5 for samples of one distribution, ties included', () => {
  const { auc, error } = compareSamples(sample(5_000, random.next), sample(5_000, random.next))
  expect(Math.abs(auc - 0.5)).toBeLessThan(4 * error)
  expect(error).toBeCloseTo(0.0058, 4)
  expect(compareSamples([1, 1, 1], [1, 1]).auc).toBe(0.5)
})

test('the AUC is the probability that a value of the second sample is larger', () => {
  expect(compareSamples([1, 2, 3], [4, 5]).auc).toBe(1)
  expect(compareSamples([4, 5], [1, 2, 3]).auc).toBe(0)
  expect(compareSamples([1, 3], [2, 4]).auc).toBe(0.75)
})
