/** An attacker cannot prepare addresses that are costly to compact. */

import { afterAll, expect, test } from 'bun:test'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Address } from '../../../src/email.ts'
import { openSqliteFile } from '../../../src/store/sqlite/file.ts'
import { createIdentityHash } from '../../../src/store/sqlite/identity-hash.ts'
import { openSqliteStore, type StoreOptions } from '../../../src/store/sqlite/store.ts'
import { createCollidingAddresses } from '../../support/colliding-addresses.ts'
import { createFolder } from '../../support/service.ts'
import { createAddresses, toAddress } from '../../support/store-suite.ts'

const folder = await createFolder()
afterAll(() => rm(folder, { recursive: true }))

const SIZE = 4000

test('the prepared addresses have the same xxHash32 under any seed', () => {
  const addresses = createCollidingAddresses(SIZE)
  expect(new Set(addresses).size).toBe(SIZE)
  // A difference is lost for about one seed in five thousand, for each of the 12 bits of an index.
  const hashes = Array.from(crypto.getRandomValues(new Uint32Array(20)), (seed) => [
    ...new Set(addresses.map((address) => Bun.hash.xxHash32(address, seed))),
  ])
  expect(hashes.filter(({ length }) => length === 1).length).toBeGreaterThanOrEqual(18)
  expect(new Set(hashes.flat()).size).toBeGreaterThanOrEqual(20)
})

test('they have different hashes under the hash of a list', () => {
  using db = openSqliteFile(join(folder, 'hashes.db'))
  const hashes = createCollidingAddresses(SIZE).map(createIdentityHash(db))
  // Of 4,000 random numbers below 2 ** 32, more than a few are equal once in 10 ** 10 lists.
  expect(new Set(hashes).size).toBeGreaterThan(SIZE - 5)
})

test('compacting them costs no more than compacting ordinary addresses', async () => {
  const colliding = createCollidingAddresses(SIZE)
  const ordinary = colliding.map(({ length }, index) => createOrdinary(index, length))
  const ratios: number[] = []
  for (let round = 0; round < 3; round++) {
    const base = await measureCompaction(ordinary, `ordinary-${round}`)
    ratios.push((await measureCompaction(colliding, `colliding-${round}`)) / base)
  }
  expect(Math.min(...ratios)).toBeLessThan(3)
})

test('the cost does not depend on the hashes', async () => {
  const addresses = createAddresses(5 * SIZE)
  const ratios: number[] = []
  for (let round = 0; round < 3; round++) {
    const base = await measureCompaction(addresses, `different-${round}`)
    ratios.push((await measureCompaction(addresses, `equal-${round}`, { hashOf: () => 7 })) / base)
  }
  expect(Math.min(...ratios)).toBeLessThan(6)
})

/** Creates an address of the same shape, with some other text of the same length. */
function createOrdinary(index: number, length: number): Address {
  const domain = ['@', '.', '.', '.'].map((sign) => sign.padEnd(31, 'domain')).join('')
  return toAddress(`${`user.${index * 7919}.`.padEnd(length - domain.length - 8, 'x').slice(0, 64)}${domain}.example`)
}

/** Returns the CPU time of the compaction of an inbox, in microseconds. */
async function measureCompaction(addresses: readonly Address[], name: string, options?: StoreOptions): Promise<number> {
  const store = openSqliteStore(join(folder, `${name}.db`), options)
  for (let start = 0; start < addresses.length; start += 64) {
    store.append(JSON.stringify(addresses.slice(start, start + 64)))
  }
  const before = process.cpuUsage()
  while (store.compactFor(2));
  const { user, system } = process.cpuUsage(before)
  await store.close()
  return user + system
}
