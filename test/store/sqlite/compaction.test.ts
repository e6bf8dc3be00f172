/** Several slices of compaction, with people who are on the list already. Kills and other processes: see the store suite. */

import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { openSqliteStore } from '../../../src/store/sqlite/store.ts'
import { createFolder } from '../../support/service.ts'
import { createAddresses, emailsOf, listAll, toAddress } from '../suite.ts'

test('an inbox of several slices is on the list once and in its order, also when a row is larger than a slice', async () => {
  const folder = await createFolder()
  const store = openSqliteStore(join(folder, 'list.db'))
  const addresses = createAddresses(120_000)
  // Each row repeats the one before in upper case.
  let repeated: readonly string[] = []
  for (const [first, last] of [
    [0, 60_000],
    [60_000, 61_000],
    [61_000, 80_000],
    [80_000, 120_000],
  ] as const) {
    const row = addresses.slice(first, last)
    await store.add([...row, ...repeated.map((address) => toAddress(address.toUpperCase()))])
    repeated = row
  }
  expect(emailsOf(await listAll(store))).toEqual(addresses)
  await store.close()
})
