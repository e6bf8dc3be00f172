/** Numbers come from the clock, and never repeat, with any clock. After a restore: see test/commands/restored-list.test.ts. */

import { afterEach, expect, setSystemTime, test } from 'bun:test'
import { join } from 'node:path'
import { toClockSeq } from '../../src/store/numbers.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { createFolder } from '../support/workspace.ts'
import { emailsOf, listAll, toAddresses } from './suite.ts'

const folder = await createFolder()
afterEach(() => setSystemTime())

test('the number of the clock is microseconds since 2026, or 0 if the clock is wrong', () => {
  expect(toClockSeq(Date.UTC(2026, 0, 1, 0, 0, 1))).toBe(1_000_000)
  expect(toClockSeq(Date.UTC(2168, 0, 1))).toBeLessThan(2 ** 52)
  for (const wrong of [Date.UTC(1970), Date.UTC(2025), Date.UTC(2170), Date.UTC(2400)])
    expect(toClockSeq(wrong)).toBe(0)
})

test.each([1970, 2026, 2030, 2400, 9999])(
  'with a clock in %d, numbers increase by one at least, and are safe',
  async (year) => {
    const store = openSqliteStore(join(folder, `${year}.db`))
    await store.add(toAddresses('ann@one.example', 'bob@one.example'))
    setSystemTime(new Date(Date.UTC(year, 5)))
    await store.add(toAddresses('cyd@one.example'))
    await store.import([{ email: toAddresses('dan@one.example')[0]! }])
    setSystemTime()
    await store.add(toAddresses('eve@one.example'))
    const all = await listAll(store)
    expect(emailsOf(all).map((email) => email[0])).toEqual(['a', 'b', 'c', 'd', 'e'])
    expect(all.every(({ seq }, at) => Number.isSafeInteger(seq) && seq > (all[at - 1]?.seq ?? 0))).toBe(true)
    await store.close()
  },
)
