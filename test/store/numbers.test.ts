/** The numbers of the clock. That they never repeat: see the tests of the stores and test/commands/restored-list.test.ts. */

import { expect, test } from 'bun:test'
import { toClockSeq } from '../../src/store/numbers.ts'

test('the number of the clock is microseconds since 2026, or 0 if the clock is wrong', () => {
  expect(toClockSeq(Date.UTC(2026, 0, 1, 0, 0, 1))).toBe(1_000_000)
  expect(toClockSeq(Date.UTC(2168, 0, 1))).toBeLessThan(2 ** 52)
  for (const wrong of [Date.UTC(1970), Date.UTC(2025), Date.UTC(2170), Date.UTC(2400)])
    expect(toClockSeq(wrong)).toBe(0)
})
