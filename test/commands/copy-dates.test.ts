/** A copy compares dates: what happened later, on either list, counts. */

import { expect, test } from 'bun:test'
import type { SubscriberStore } from '../../src/subscriber.ts'
import { createCliFixture, toAddressAndDate } from '../support/cli-fixture.ts'
import { getServer, withStore } from '../support/postgres.ts'
import { startService } from '../support/service.ts'
import { listAll, listSuppressions, toAddresses } from '../support/store-suite.ts'
import { until } from '../support/wait.ts'

type Kind = 'sqlite' | 'postgres'
type Side = 'from' | 'to'

/** Creates a list and another that it is copied to. Nothing that happens to them has the same millisecond. */
async function createLists(from: Kind, to: Kind) {
  const { folder, print, rows } = await createCliFixture()
  const createList = async (kind: Kind, side: Side) =>
    kind === 'sqlite' ? `sqlite:${folder}/${side}.db` : await (await getServer()).createUrl()
  const urls = { from: await createList(from, 'from'), to: await createList(to, 'to') }
  for (const url of Object.values(urls)) await withStore(url, (store) => store.add([]))

  async function change(side: Side, work: (store: SubscriberStore) => Promise<unknown>): Promise<void> {
    const start = Date.now()
    await until(() => Date.now() > start + 1)
    await withStore(urls[side], work)
  }

  return {
    folder,
    urls,
    subscribe: (side: Side, ...texts: string[]) => change(side, (store) => store.add(toAddresses(...texts))),
    remove: (side: Side, ...texts: string[]) =>
      change(side, (store) => store.remove(toAddresses(...texts), { suppress: true })),
    copy: async () => JSON.parse(await print(['copy', '--from', urls.from, '--to', urls.to, '--json'])),
    rows: (side: Side) => rows(urls[side]),
    count: (side: Side) => withStore(urls[side], (store) => store.count()),
    /** Everything on the target. */
    read: () => withStore(urls.to, async (store) => [await listAll(store), await listSuppressions(store)]),
  }
}

const PAIRS = [
  ['sqlite', 'sqlite'],
  ['sqlite', 'postgres'],
  ['postgres', 'sqlite'],
] as const

for (const [from, to] of PAIRS) {
  test(`${from} to ${to}: a subscription or a removal counts if it is the later one`, async () => {
    const lists = await createLists(from, to)
    await lists.subscribe('from', 'back@site.io', 'gone@site.io', 'moved@site.io', 'left@site.io')
    await lists.copy()
    await lists.remove('from', 'back@site.io', 'gone@site.io', 'moved@site.io')
    await lists.remove('to', 'left@site.io', 'new@site.io')
    expect(await lists.copy()).toMatchObject({ added: 0, known: 0, suppressed: 1, suppressions: 3 })
    expect(await lists.count('to')).toMatchObject({ subscribers: 0, suppressed: 5 })

    await lists.subscribe('from', 'Back@Site.io', 'New@Site.io')
    await lists.subscribe('to', 'moved@site.io')
    expect(await lists.copy()).toMatchObject({ added: 2, known: 0, suppressed: 1, suppressions: 2 })
    const [moved, ...returned] = await lists.rows('to')
    expect(moved?.email).toBe('moved@site.io')
    // In the spelling and with the date of the new subscription. "left" stays away, and "gone" too.
    expect(returned.map(toAddressAndDate)).toEqual((await lists.rows('from')).slice(1).map(toAddressAndDate))
    expect(returned.map(({ email }) => email)).toEqual(['Back@Site.io', 'New@Site.io'])
    expect(await lists.count('to')).toMatchObject({ subscribers: 3, suppressed: 2 })

    const before = await lists.read()
    expect(await lists.copy()).toMatchObject({ added: 0, known: 2, suppressed: 1 })
    expect(await lists.read()).toEqual(before)
  })
}

test('a removal that is repeated keeps away who subscribed to the other list in between', async () => {
  const lists = await createLists('sqlite', 'sqlite')
  await lists.remove('to', 'ann@site.io')
  await lists.subscribe('from', 'ann@site.io')
  await lists.remove('to', 'ann@site.io')
  expect(await lists.copy()).toMatchObject({ added: 0, suppressed: 1 })
})

for (const [from, to] of PAIRS.slice(1)) {
  test(`${from} to ${to}: people return on both lists while they are copied, and nobody is lost`, async () => {
    const lists = await createLists(from, to)
    const emails = Array.from({ length: 300 }, (_, index) => `user.${index}@site.io`)
    await lists.subscribe('from', ...emails)
    await lists.remove('from', ...emails)
    await lists.copy()
    const services = {
      from: await startService({ env: { DATABASE_URL: lists.urls.from }, folder: lists.folder }),
      to: await startService({ env: { DATABASE_URL: lists.urls.to }, folder: lists.folder }),
    }
    const post = async (side: Side, posted: readonly string[]) => {
      for (const email of posted) expect((await services[side].subscribe(email)).status).toBe(200)
    }
    let isPosting = true
    const posts = [post('from', emails.slice(0, 200)), post('to', emails.slice(100).toReversed())]
    const posted = Promise.all(posts).finally(() => (isPosting = false))
    while (isPosting) await lists.copy()
    await posted
    await lists.copy()
    for (const service of Object.values(services)) expect(await service.stop()).toBe(0)
    expect((await lists.rows('to')).map(({ email }) => email).toSorted()).toEqual(emails.toSorted())
    expect(await lists.count('to')).toMatchObject({ suppressed: 0 })
    expect(await lists.count('from')).toMatchObject({ subscribers: 200, suppressed: 100 })
  })
}
