/** Identities with equal hashes are different addresses. The store suite runs with equal hashes as well. */

import { expect, onTestFinished, test } from 'bun:test'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { openSqliteStore } from '../../../src/store/sqlite/store.ts'
import { createFolder } from '../../support/service.ts'
import { toAddresses } from '../../support/store-suite.ts'

const ADDRESSES = toAddresses('ann@mail.io', 'bob@mail.io', 'cyd@mail.io')

async function openList() {
  const folder = await createFolder()
  const store = openSqliteStore(join(folder, 'list.db'), { hashOf: () => 7 })
  onTestFinished(async () => {
    await store.close()
    await rm(folder, { recursive: true })
  })
  return store
}

test('all are on the list, whether they arrive together or one after the other', async () => {
  const [together, apart] = [await openList(), await openList()]
  await together.add(ADDRESSES)
  expect(await together.lookUp(ADDRESSES)).toEqual(['subscribed', 'subscribed', 'subscribed'])
  for (const address of ADDRESSES) {
    await apart.add([address])
    await apart.count()
  }
  expect(await apart.lookUp(ADDRESSES)).toEqual(['subscribed', 'subscribed', 'subscribed'])
})

test('one is not found in place of another', async () => {
  const store = await openList()
  await store.add(ADDRESSES.slice(0, 1))
  expect(await store.lookUp(ADDRESSES)).toEqual(['subscribed', 'absent', 'absent'])
  expect(await store.find(ADDRESSES[1]!)).toBeUndefined()
})

test.each([0, 1, 2])('removing number %d leaves the others, and they are found as repeats', async (removed) => {
  const store = await openList()
  await store.add(ADDRESSES)
  expect(await store.remove(ADDRESSES.slice(removed, removed + 1), { suppress: true })).toEqual(['subscribed'])
  const others = ADDRESSES.filter((_, index) => index !== removed)
  const expected = ADDRESSES.map((_, index) => (index === removed ? 'suppressed' : 'subscribed'))
  expect(await store.lookUp(ADDRESSES)).toEqual(expected)
  await store.add(others)
  expect((await store.count()).subscribers).toBe(2)

  await store.remove(others, { suppress: true })
  expect(await store.lookUp(ADDRESSES)).toEqual(['suppressed', 'suppressed', 'suppressed'])
  await store.add(ADDRESSES)
  expect((await store.count()).subscribers).toBe(3)
})
