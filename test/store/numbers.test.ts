/** Numbers come from the clock, and never repeat, with any clock and after any restore. */

import { afterAll, afterEach, expect, setSystemTime, test } from 'bun:test'
import { copyFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { toClockSeq } from '../../src/store/head.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { checkCursor } from '../../src/transfer/cursor-file.ts'
import { createFolder } from '../support/service.ts'
import { emailsOf, listAll, toAddresses } from '../support/store-suite.ts'

const folder = await createFolder()
afterAll(() => rm(folder, { recursive: true }))
afterEach(() => {
  setSystemTime()
})

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

test('a list that continues from an older state gives out no number again, and a cursor skips nobody', async () => {
  const [file, backup] = [join(folder, 'list.db'), join(folder, 'backup.db')]
  const store = openSqliteStore(file)
  await store.add(toAddresses('ann@one.example'))
  await store.count()
  await store.close()
  copyFileSync(file, backup)
  const later = openSqliteStore(file)
  await later.add(toAddresses('bob@one.example', 'cyd@one.example'))
  const { lastSeq: cursor } = await later.head()
  await later.close()

  const restored = openSqliteStore(backup)
  // The cursor is above the last number of this state, and not above the clock.
  expect(await checkCursor(restored, { seq: cursor })).toMatchObject({ seq: cursor })
  await restored.add(toAddresses('dan@one.example'))
  expect(emailsOf(await listAll(restored, { after: cursor }))).toEqual(toAddresses('dan@one.example'))
  await expect(checkCursor(restored, { seq: toClockSeq() + 60_000_000 })).rejects.toThrow('is higher than the last')
  await restored.close()
})
