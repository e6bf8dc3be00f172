/** Two addresses whose identities have the same hash. A list finds identities by hashes of 32 bits, so it must compare the text. */

import { expect, onTestFinished, test } from 'bun:test'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Address } from '../../../src/email.ts'
import { openSqliteFile } from '../../../src/store/sqlite/file.ts'
import { createIdentityHash } from '../../../src/store/sqlite/identity-hash.ts'
import { openSqliteStore } from '../../../src/store/sqlite/store.ts'
import { createFolder } from '../../support/service.ts'

/** Finds two addresses with the same hash; among 300,000 there are about ten pairs. */
function findCollision(hashOf: ReturnType<typeof createIdentityHash>): [Address, Address] {
  const byHash = new Map<number, Address>()
  for (let index = 0; ; index++) {
    const email = `ada${index}@mail.io` as Address
    const hash = hashOf(email)
    const earlier = byHash.get(hash)
    if (earlier !== undefined) return [earlier, email]
    byHash.set(hash, email)
  }
}

async function openList() {
  const folder = await createFolder()
  const file = join(folder, 'list.db')
  const db = openSqliteFile(file)
  const pair = findCollision(createIdentityHash(db))
  db.close()
  const store = openSqliteStore(file)
  onTestFinished(async () => {
    await store.close()
    await rm(folder, { recursive: true })
  })
  return { store, pair }
}

test('both are on the list, whether they arrive together or one after the other', async () => {
  const { store, pair } = await openList()
  await store.add(pair)
  expect(await store.lookUp(pair)).toEqual(['subscribed', 'subscribed'])
  const { store: other, pair: two } = await openList()
  for (const address of two) {
    await other.add([address])
    await other.count()
  }
  expect(await other.count()).toMatchObject({ subscribers: 2 })
})

test('one is not found in place of the other', async () => {
  const { store, pair } = await openList()
  await store.add([pair[0]])
  expect(await store.lookUp(pair)).toEqual(['subscribed', 'absent'])
  expect(await store.find(pair[1])).toBeUndefined()
})

test('removing one leaves the other', async () => {
  const { store, pair } = await openList()
  await store.add(pair)
  expect(await store.remove([pair[1]], { suppress: true })).toEqual(['subscribed'])
  expect(await store.lookUp(pair)).toEqual(['subscribed', 'suppressed'])
})
