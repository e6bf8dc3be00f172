/** One suite for all stores: it checks what SubscriberStore promises on real lists. */

import { afterAll, afterEach, describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { type Address, parseAddress, toIdentity } from '../../src/email.ts'
import { Failure } from '../../src/failure.ts'
import { CHANGE_BATCH } from '../../src/limits.ts'
import { toState } from '../../src/store/changes.ts'
import { toClockSeq } from '../../src/store/head.ts'
import type {
  ListCopy,
  ListHead,
  Subscriber,
  SubscriberStore,
  SubscriptionState,
  Suppression,
} from '../../src/subscriber.ts'
import { until } from './wait.ts'

/** Creates the lists of a suite. */
export interface StoreHome {
  /** Creates an empty list. */
  create(): Promise<ListHandle>
  /** Deletes all lists. */
  remove(): Promise<void>
}

/** A list that can be opened any number of times. */
export interface ListHandle {
  open(): Promise<SubscriberStore>
}

/** What the tests create their lists with. Every store is closed when its test ends. */
interface Lists {
  /** Creates an empty list, and returns a function that opens it. */
  createList(): Promise<() => Promise<SubscriberStore>>
  /** Creates an empty list and opens it. */
  createStore(): Promise<SubscriberStore>
}

/**
 * Declares the suite for a kind of store.
 *
 * @param createHome called once, for the first list
 */
export function describeStore(name: string, createHome: () => Promise<StoreHome>): void {
  let home: Promise<StoreHome> | undefined
  let opened: SubscriberStore[] = []

  const createList: Lists['createList'] = async () => {
    home ??= createHome()
    const list = await (await home).create()
    return async () => {
      const store = await list.open()
      opened.push(store)
      return store
    }
  }

  const lists: Lists = { createList, createStore: async () => (await createList())() }

  afterEach(async () => {
    for (const store of opened) await store.close()
    opened = []
  })
  afterAll(async () => (await home)?.remove())

  describe(`${name}: add`, () => describeAdd(lists))
  describe(`${name}: lookUp`, () => describeLookUp(lists))
  describe(`${name}: count and status`, () => describeCounts(lists))
  describe(`${name}: list`, () => describeList(lists))
  describe(`${name}: import`, () => describeImport(lists))
  describe(`${name}: remove`, () => describeRemove(lists))
  describe(`${name}: suppressions`, () => describeSuppressions(lists))
  describe(`${name}: opt-outs of another list`, () => describeOptOuts(lists))
  describe(`${name}: fill`, () => describeFill(lists))
}

function describeAdd({ createList, createStore }: Lists): void {
  test('every connection to a list has the id of the list', async () => {
    const [open, other] = [await createList(), await createStore()]
    const [one, two] = [await open(), await open()]
    const [{ id, suppressionKey, lastSeq }, { id: otherId }] = [await one.head(), await other.head()]
    expect(await two.head()).toEqual({ id, suppressionKey, lastSeq })
    expect(otherId).not.toBe(id)
    expect(id).toMatch(/^[0-9a-f]{16}$/)
    expect(suppressionKey).toHaveLength(32)
    expect(lastSeq).toBe(0)
  })

  test('gives out numbers of the clock, and says which one is the last', async () => {
    const store = await createStore()
    const before = toClockSeq(Date.now() - 60_000)
    await store.add(toAddresses('ann@one.example', 'bob@one.example'))
    const [ann, bob] = await listAll(store)
    expect(ann!.seq).toBeGreaterThan(before)
    expect(ann!.seq).toBeLessThan(toClockSeq(Date.now() + 60_000))
    expect(bob!.seq).toBe(ann!.seq + 1)
    expect((await store.head()).lastSeq).toBe(bob!.seq)
  })

  test('keeps the order and the spelling of the addresses, and dates them now', async () => {
    const store = await createStore()
    const before = Date.now()
    await store.add(toAddresses('Zoe@Site.example', 'adam@site.example'))
    const [zoe, adam] = await listAll(store)
    expect([zoe?.email, adam?.email]).toEqual(toAddresses('Zoe@Site.example', 'adam@site.example'))
    expect(adam!.seq).toBeGreaterThan(zoe!.seq)
    // The server of a database has a clock of its own.
    expect(Math.abs(zoe!.subscribedAt.getTime() - before)).toBeLessThan(60_000)
  })

  test('keeps an address once, in its first spelling and with its first date', async () => {
    const store = await createStore()
    await store.add(toAddresses('Ann@one.example', 'bob@one.example', 'ANN@ONE.EXAMPLE'))
    const first = await listAll(store)
    await store.add(toAddresses('ann@one.example', 'Carl@one.example', 'carl@one.example'))
    await store.add(toAddresses('BOB@one.example'))
    expect(emailsOf(first)).toEqual(toAddresses('Ann@one.example', 'bob@one.example'))
    const all = await listAll(store)
    expect(all.slice(0, 2)).toEqual([...first])
    expect(emailsOf(all.slice(2))).toEqual(toAddresses('Carl@one.example'))
  })

  test('does not fold tags, dots or any character of atext', async () => {
    const store = await createStore()
    const addresses = toAddresses(
      'a.b@one.example',
      'ab@one.example',
      'ab+x@one.example',
      "o'neil@one.example",
      '!#$%&*+/=?^_`{|}~-@one.example',
      'ab@xn--bcher-kva.example',
      `${'l'.repeat(64)}@${'d'.repeat(63)}.${'e'.repeat(63)}.${'f'.repeat(53)}.example`,
    )
    await store.add(addresses)
    expect(emailsOf(await listAll(store))).toEqual(addresses)
  })

  test('accepts an empty array', async () => {
    const store = await createStore()
    await store.add([])
    expect(await store.count()).toEqual({ subscribers: 0, reserved: 0, suppressed: 0 })
  })

  test('keeps each address once when several connections add it at the same time', async () => {
    const open = await createList()
    const stores = await Promise.all([open(), open(), open(), open()])
    const addresses = createAddresses(50)
    await Promise.all(
      stores.flatMap((store) => [store.add(addresses), ...addresses.map((address) => store.add([address]))]),
    )
    const all = await listAll(await open())
    expect(emailsOf(all).toSorted()).toEqual(addresses.toSorted())
  })

  test('is visible to the next call of any connection', async () => {
    const open = await createList()
    const [writer, reader] = [await open(), await open()]
    const [ann, bob] = [toAddress('ann@one.example'), toAddress('bob@one.example')]
    await writer.add([ann])
    expect((await reader.lookUp([ann]))[0]?.subscriber?.email).toBe(ann)
    await writer.add([bob])
    expect((await reader.count()).subscribers).toBe(2)
    expect(await readStates(reader, [bob])).toEqual(['subscribed'])
  })

  test('stays when the list is opened again', async () => {
    const open = await createList()
    const store = await open()
    await store.add(createAddresses(3))
    const all = await listAll(store)
    expect(await listAll(await open())).toEqual(all)
  })
}

function describeLookUp({ createStore }: Lists): void {
  test('compares identities, and returns what it found in the order of the addresses', async () => {
    const store = await createStore()
    await store.add(toAddresses('Ann@one.example', 'bob@one.example'))
    await store.remove(toAddresses('bob@one.example'), { suppress: true })
    const [subscriber] = await listAll(store)
    const [{ suppressedAt } = { suppressedAt: undefined }] = await listSuppressions(store)
    const asked = toAddresses('an@one.example', 'Bob@one.example', 'aNN@ONE.example', 'an@one.example')
    expect(await store.lookUp(asked)).toEqual([{}, { suppressedAt }, { subscriber }, {}])
    expect(await store.lookUp([])).toEqual([])
  })

  test('takes thousands of addresses', async () => {
    const store = await createStore()
    const addresses = createAddresses(5000)
    await store.add(addresses.filter((_, index) => index % 3 === 0))
    const states = await readStates(store, addresses)
    expect(states.every((state, index) => (state === 'subscribed') === (index % 3 === 0))).toBe(true)
    expect(states).toHaveLength(5000)
  })
}

function describeCounts({ createStore }: Lists): void {
  const midnight = new Date(new Date().setUTCHours(0, 0, 0, 0)).getTime()
  const day = 86_400_000

  test('count counts the reserved domains, with subdomains', async () => {
    const store = await createStore()
    await store.add(
      toAddresses(
        'a@example.com',
        'a@Example.ORG',
        'a@sub.example.net',
        'a@any.TEST',
        'a@b.c.invalid',
        'a@x.localhost',
      ),
    )
    await store.add(
      toAddresses('a@myexample.com', 'a@example.de', 'example.com@a.io', 'a@contest.io', 'a@x.tests', 'b@test.io'),
    )
    expect(await store.count()).toEqual({ subscribers: 12, reserved: 6, suppressed: 0 })
  })

  test('count counts the suppressed addresses', async () => {
    const store = await createStore()
    await store.add(toAddresses('a@example.com', 'b@site.io', 'c@site.io'))
    await store.remove(toAddresses('a@example.com', 'b@site.io', 'never@site.io'), { suppress: true })
    expect(await store.count()).toEqual({ subscribers: 1, reserved: 0, suppressed: 3 })
  })

  test('status of an empty list', async () => {
    const store = await createStore()
    const status = await store.status()
    expect(status.lastAcceptedAt).toBeUndefined()
    expect(status.days).toHaveLength(30)
    expect(status.days.slice(-3)).toEqual([2, 1, 0].map((ago) => ({ date: toDate(midnight - ago * day), added: 0 })))
    expect(status).toMatchObject({ subscribers: 0, reserved: 0, suppressed: 0 })
    expect(status.bytes).toBeGreaterThan(0)
  })

  test('status counts by UTC day, and has the latest date', async () => {
    const store = await createStore()
    const dates = [midnight + 1, midnight, midnight - 1, midnight - day, midnight - day - 1, midnight - 400 * day]
    await store.import(
      createAddresses(dates.length).map((email, index) => ({
        email,
        subscribedAt: new Date(dates[index]!),
      })),
    )
    const status = await store.status()
    expect(status.days.slice(-3).map(({ added }) => added)).toEqual([1, 2, 2])
    expect(status.days.at(-1)?.date).toBe(toDate(midnight))
    expect(status.lastAcceptedAt).toEqual(new Date(midnight + 1))
    expect(status.subscribers).toBe(6)
  })

  test('check resolves for a list that can be written', async () => {
    const store = await createStore()
    expect(await store.check()).toBeUndefined()
  })
}

function describeList({ createList, createStore }: Lists): void {
  test('an empty list has no pages', async () => {
    const store = await createStore()
    expect(await Array.fromAsync(store.list())).toEqual([])
  })

  test('yields all subscribers in the order of the cursor, and no empty page', async () => {
    const store = await createStore()
    const addresses = createAddresses(12_000)
    for (let start = 0; start < addresses.length; start += 3000) await store.add(addresses.slice(start, start + 3000))
    const pages = await Array.fromAsync(store.list())
    expect(pages.length).toBeGreaterThan(1)
    expect(pages.every((page) => page.length > 0)).toBe(true)
    expect(emailsOf(pages.flat())).toEqual(addresses)
    expectAscending(pages.flat())
  })

  test('starts after a cursor, and stops at a limit', async () => {
    const store = await createStore()
    const addresses = createAddresses(20)
    await store.add(addresses)
    const all = await listAll(store)
    const [tenth, last] = [all[9]!.seq, all[19]!.seq]
    expect(await listAll(store, { after: tenth })).toEqual(all.slice(10))
    expect(await listAll(store, { limit: 7 })).toEqual(all.slice(0, 7))
    expect(await listAll(store, { after: tenth, limit: 3 })).toEqual(all.slice(10, 13))
    expect(await listAll(store, { limit: 20 })).toEqual([...all])
    expect(await listAll(store, { limit: 21 })).toEqual([...all])
    expect(await listAll(store, { limit: 0 })).toEqual([])
    expect(await listAll(store, { after: last })).toEqual([])
    expect(await listAll(store, { after: last + 1000 })).toEqual([])
  })

  test('takes a limit of more than one page', async () => {
    const store = await createStore()
    const addresses = createAddresses(9000)
    await store.add(addresses)
    expect(emailsOf(await listAll(store, { limit: 8500 }))).toEqual(addresses.slice(0, 8500))
  })

  test('may stop in the middle', async () => {
    const store = await createStore()
    await store.add(createAddresses(6000))
    for await (const page of store.list()) {
      expect(page.length).toBeGreaterThan(0)
      break
    }
    expect((await store.count()).subscribers).toBe(6000)
  })

  test('never uses a cursor twice, even when the last subscriber is removed', async () => {
    const open = await createList()
    const store = await open()
    const [ann, bob] = [toAddress('ann@one.example'), toAddress('bob@one.example')]
    const carl = toAddress('carl@one.example')
    await store.add([ann, bob])
    const [, last] = await listAll(store)
    await store.remove([bob], { suppress: false })
    await store.add([carl, bob])
    const after = await listAll(await open(), { after: last!.seq })
    expect(emailsOf(after)).toEqual([carl, bob])
  })

  test('a reader with a cursor misses no subscriber and gets none twice while four connections write', async () => {
    const open = await createList()
    const writers = await Promise.all([open(), open(), open(), open()])
    const reader = await open()
    const addresses = createAddresses(1500)
    const writing = new Set(writers)
    const work = writers.map(async (store, writer) => {
      // Each starts elsewhere, so that they add the same addresses at different times.
      for (let step = 0; step < 100; step++) {
        const start = (writer * 375 + step * 15) % addresses.length
        await store.add(addresses.slice(start, start + 15))
      }
      writing.delete(store)
    })
    const seen: Subscriber[] = []
    for (let isLast = false; !isLast; ) {
      isLast = writing.size === 0
      const after = seen.at(-1)?.seq ?? 0
      for await (const page of reader.list({ after })) seen.push(...page)
    }
    await Promise.all(work)
    expectAscending(seen)
    expect(seen).toEqual([...(await listAll(reader))])
    expect(emailsOf(seen).toSorted()).toEqual(addresses.toSorted())
  }, 30_000)
}

function describeImport({ createList, createStore }: Lists): void {
  test('keeps order, spelling and dates to the millisecond, and dates other rows now', async () => {
    const store = await createStore()
    const [ann, bob] = [toAddress('Ann@old.example'), toAddress('bob@old.example')]
    const carl = toAddress('carl@old.example')
    const before = Date.now()
    const tally = await store.import([
      { email: bob, subscribedAt: new Date('2019-02-03T04:05:06.789Z') },
      { email: ann, subscribedAt: new Date(0) },
      { email: carl },
    ])
    expect(tally).toEqual({ added: 3, known: 0, suppressed: 0 })
    const all = await listAll(store)
    expect(emailsOf(all)).toEqual([bob, ann, carl])
    expect(all.slice(0, 2).map(({ subscribedAt }) => subscribedAt)).toEqual([
      new Date('2019-02-03T04:05:06.789Z'),
      new Date(0),
    ])
    expect(Math.abs(all[2]!.subscribedAt.getTime() - before)).toBeLessThan(60_000)
  })

  test('counts new and known addresses, and does not change known ones', async () => {
    const store = await createStore()
    await store.add(toAddresses('Ann@old.example'))
    const before = await listAll(store)
    const subscribedAt = new Date('2001-01-01T00:00:00Z')
    const rows = toAddresses('ann@old.example', 'Bob@old.example', 'bob@old.example', 'carl@old.example')
    const tally = await store.import(rows.map((email) => ({ email, subscribedAt })))
    expect(tally).toEqual({ added: 2, known: 2, suppressed: 0 })
    const all = await listAll(store)
    expect(all.slice(0, 1)).toEqual([...before])
    expect(emailsOf(all.slice(1))).toEqual(toAddresses('Bob@old.example', 'carl@old.example'))
  })

  test('counts each row once when most of them are known', async () => {
    const store = await createStore()
    const known = createAddresses(60)
    const [gone, ...others] = toAddresses('gone@one.example', 'new@one.example', 'NEW@one.example', 'newer@one.example')
    await store.add(known)
    await store.remove([gone!], { suppress: true })
    const before = await listAll(store)
    const rows = [...known.map((email) => toAddress(email.toUpperCase())), gone!, ...others, ...known.slice(0, 9)]
    const tally = await store.import(rows.map((email) => ({ email })))
    expect(tally).toEqual({ added: 2, known: 70, suppressed: 1 })
    const after = await listAll(store)
    expect(after.slice(0, 60)).toEqual([...before])
    expect(emailsOf(after.slice(60))).toEqual(toAddresses('new@one.example', 'newer@one.example'))
  })

  test('a second import of the same rows changes nothing', async () => {
    const store = await createStore()
    const rows = createAddresses(3000).map((email, index) => ({
      email,
      subscribedAt: new Date(index * 1000),
    }))
    expect(await store.import(rows)).toEqual({ added: 3000, known: 0, suppressed: 0 })
    const all = await listAll(store)
    expect(await store.import(rows)).toEqual({ added: 0, known: 3000, suppressed: 0 })
    expect(await listAll(store)).toEqual(all)
    expect(await store.import([])).toEqual({ added: 0, known: 0, suppressed: 0 })
  })

  test('takes CHANGE_BATCH rows', async () => {
    const store = await createStore()
    const rows = createAddresses(CHANGE_BATCH).map((email) => ({ email }))
    expect(await store.import(rows)).toEqual({ added: rows.length, known: 0, suppressed: 0 })
    expect((await store.count()).subscribers).toBe(rows.length)
  }, 30_000)

  test('keeps each address once while another connection adds it', async () => {
    const open = await createList()
    const [importer, writer] = [await open(), await open()]
    const addresses = createAddresses(2000)
    const add = async () => {
      for (let start = 0; start < 2000; start += 100) await writer.add(addresses.slice(start, start + 100))
    }
    const [tally] = await Promise.all([importer.import(addresses.map((email) => ({ email }))), add()])
    expect(tally.added + tally.known).toBe(2000)
    expect(emailsOf(await listAll(importer)).toSorted()).toEqual(addresses.toSorted())
  })
}

function describeRemove({ createStore }: Lists): void {
  test('returns the state before, and removes the address', async () => {
    const store = await createStore()
    await store.add(toAddresses('ann@one.example', 'bob@one.example'))
    const asked = toAddresses('Ann@one.example', 'nobody@one.example', 'ann@one.example')
    expect(await store.remove(asked, { suppress: true })).toEqual(['subscribed', 'absent', 'suppressed'])
    expect(emailsOf(await listAll(store))).toEqual(toAddresses('bob@one.example'))
    expect(await store.remove([], { suppress: true })).toEqual([])
  })

  test('an import leaves out removed addresses, even those that were never on the list', async () => {
    const store = await createStore()
    await store.add(toAddresses('ann@one.example'))
    await store.remove(toAddresses('ann@one.example', 'never@one.example'), { suppress: true })
    const rows = toAddresses('ANN@one.example', 'new@one.example', 'Never@one.example')
    expect(await store.import(rows.map((email) => ({ email })))).toEqual({
      added: 1,
      known: 0,
      suppressed: 2,
    })
    expect(emailsOf(await listAll(store))).toEqual(toAddresses('new@one.example'))
  })

  test('a new subscription adds a removed address at the end, and deletes its suppression', async () => {
    const store = await createStore()
    await store.add(toAddresses('ann@one.example', 'bob@one.example'))
    await store.remove(toAddresses('ann@one.example'), { suppress: true })
    await store.add(toAddresses('Ann@one.example'))
    expect(emailsOf(await listAll(store))).toEqual(toAddresses('bob@one.example', 'Ann@one.example'))
    expect(await store.count()).toMatchObject({ subscribers: 2, suppressed: 0 })
    await store.remove(toAddresses('ann@one.example'), { suppress: false })
    expect(await store.import([{ email: toAddress('ann@one.example') }])).toMatchObject({ added: 1 })
  })

  test('an import counts a removed address as known after it subscribed again', async () => {
    const store = await createStore()
    const ann = toAddresses('ann@one.example')
    await store.remove(ann, { suppress: true })
    await store.add(ann)
    expect(await store.import(ann.map((email) => ({ email })))).toEqual({ added: 0, known: 1, suppressed: 0 })
  })

  test('the last of several calls of add and remove wins', async () => {
    const store = await createStore()
    const ann = toAddresses('ann@one.example')
    for (let round = 0; round < 3; round++) {
      await store.add(ann)
      await store.add(ann)
      expect(await store.remove(ann, { suppress: true })).toEqual(['subscribed'])
      expect(await readStates(store, ann)).toEqual(['suppressed'])
    }
    expect(await store.count()).toEqual({ subscribers: 0, reserved: 0, suppressed: 1 })
  })

  test('without suppress, keeps no hash and deletes an old one', async () => {
    const store = await createStore()
    await store.add(toAddresses('ann@one.example', 'bob@one.example'))
    await store.remove(toAddresses('bob@one.example'), { suppress: true })
    const both = toAddresses('ann@one.example', 'BOB@one.example', 'nobody@one.example')
    expect(await store.remove(both, { suppress: false })).toEqual(['subscribed', 'suppressed', 'absent'])
    expect(await store.count()).toEqual({ subscribers: 0, reserved: 0, suppressed: 0 })
    expect(await store.import(both.map((email) => ({ email })))).toMatchObject({ added: 3 })
  })

  test('takes thousands of addresses', async () => {
    const store = await createStore()
    const addresses = createAddresses(3000)
    await store.add(addresses.slice(0, 2000))
    const states = await store.remove(addresses, { suppress: true })
    expect(states.filter((state) => state === 'subscribed')).toHaveLength(2000)
    expect(await store.count()).toEqual({ subscribers: 0, reserved: 0, suppressed: 3000 })
  })
}

function describeSuppressions({ createStore }: Lists): void {
  test('are HMAC-SHA-256 of the identity, under a key of the list', async () => {
    const [one, other] = [await createStore(), await createStore()]
    const before = Date.now()
    for (const store of [one, other]) await store.remove(toAddresses('Ann@One.example'), { suppress: true })
    const [mine, theirs] = [await listSuppressions(one), await listSuppressions(other)]
    expect(mine).toHaveLength(1)
    const { hash, suppressedAt } = mine[0]!
    const { suppressionKey } = await one.head()
    expect(Buffer.from(hash)).toEqual(createHmac('sha256', suppressionKey).update('ann@one.example').digest())
    expect(Math.abs(suppressedAt.getTime() - before)).toBeLessThan(60_000)
    expect(Buffer.from(theirs[0]!.hash).equals(hash)).toBe(false)
  })

  test('are listed in pages, each once', async () => {
    const store = await createStore()
    const addresses = createAddresses(2500)
    await store.remove(addresses, { suppress: true })
    const suppressions = await listSuppressions(store)
    expect(new Set(suppressions.map(({ hash }) => Buffer.from(hash).toString('hex'))).size).toBe(2500)
    expect(suppressions).toHaveLength(2500)
  })

  test('have the date of the last removal', async () => {
    const store = await createStore()
    const ann = toAddresses('ann@one.example')
    const readDate = async () => (await listSuppressions(store))[0]!.suppressedAt.getTime()
    await store.remove(ann, { suppress: true })
    const first = await readDate()
    await until(() => Date.now() > first)
    await store.remove(ann, { suppress: true })
    expect(await readDate()).toBeGreaterThan(first)
  })

  test('are not older than the subscription that was removed, even when the clock was set back', async () => {
    const store = await createStore()
    const subscribedAt = new Date(Date.now() + 3_600_000)
    await store.import(toAddresses('ann@one.example').map((email) => ({ email, subscribedAt })))
    for (let round = 0; round < 2; round++) {
      await store.remove(toAddresses('ann@one.example'), { suppress: true })
      expect((await listSuppressions(store)).map(({ suppressedAt }) => suppressedAt)).toEqual([subscribedAt])
    }
  })
}

function describeOptOuts({ createStore }: Lists): void {
  const [older, newer] = [new Date('2020-01-01T00:00:00Z'), new Date('2024-01-01T00:00:00.123Z')]

  test('suppress people with the date on which they left, or now', async () => {
    const store = await createStore()
    const [ann, bob] = [toAddress('Ann@one.example'), toAddress('bob@one.example')]
    const before = Date.now()
    const rows = [{ email: ann, optedOutAt: newer }, { email: bob }]
    expect(await store.suppress(rows, { removeUndated: false })).toEqual({ added: 2, removed: 0, kept: 0, known: 0 })
    const dates = (await listSuppressions(store)).map(({ suppressedAt }) => suppressedAt.getTime()).toSorted()
    expect(dates[0]).toBe(newer.getTime())
    expect(Math.abs(dates[1]! - before)).toBeLessThan(60_000)
    expect(await store.import([{ email: toAddress('ann@ONE.example') }, { email: bob }])).toMatchObject({
      suppressed: 2,
    })
    await store.add([ann])
    expect(await readStates(store, [ann, bob])).toEqual(['subscribed', 'suppressed'])
  })

  test('remove an earlier subscriber, and keep a later one and one whose date is unknown', async () => {
    const store = await createStore()
    const addresses = toAddresses('a@one.example', 'b@one.example', 'c@one.example')
    const [a, b, c] = addresses
    await store.import(addresses.map((email) => ({ email, subscribedAt: new Date('2022-01-01T00:00:00Z') })))
    const rows = [{ email: a!, optedOutAt: newer }, { email: b!, optedOutAt: older }, { email: c! }]
    expect(await store.suppress(rows, { removeUndated: false })).toEqual({ added: 0, removed: 1, kept: 2, known: 0 })
    expect(await readStates(store, addresses)).toEqual(['suppressed', 'subscribed', 'subscribed'])
    expect(await store.suppress(rows, { removeUndated: true })).toEqual({ added: 0, removed: 1, kept: 1, known: 1 })
    expect(await readStates(store, addresses)).toEqual(['suppressed', 'subscribed', 'suppressed'])
    expect(await store.count()).toMatchObject({ subscribers: 1, suppressed: 2 })
  })

  test('keep the date of a suppression, and count an address once', async () => {
    const store = await createStore()
    const ann = toAddress('ann@one.example')
    await store.import([{ email: ann, subscribedAt: new Date('2022-01-01T00:00:00Z') }])
    const rows = [
      { email: ann, optedOutAt: older },
      { email: toAddress('ANN@one.example'), optedOutAt: newer },
    ]
    expect(await store.suppress(rows, { removeUndated: false })).toEqual({ added: 0, removed: 1, kept: 0, known: 1 })
    expect(await store.suppress([{ email: ann }], { removeUndated: true })).toMatchObject({ known: 1 })
    expect((await listSuppressions(store)).map(({ suppressedAt }) => suppressedAt)).toEqual([newer])
    expect(await store.suppress([], { removeUndated: true })).toEqual({ added: 0, removed: 0, kept: 0, known: 0 })
  })

  test('of the same date as a subscription count', async () => {
    const store = await createStore()
    const email = toAddress('ann@one.example')
    await store.import([{ email, subscribedAt: newer }])
    expect(await store.suppress([{ email, optedOutAt: newer }], { removeUndated: false })).toMatchObject({ removed: 1 })
  })

  test('give somebody who left before the later date, and no earlier one', async () => {
    const store = await createStore()
    const [ann, bob] = toAddresses('ann@one.example', 'bob@one.example')
    const leave = (optedOutAt: Date) => [ann!, bob!].map((email) => ({ email, optedOutAt }))
    await store.suppress(leave(older).slice(1), { removeUndated: false })
    await store.suppress(leave(newer), { removeUndated: false })
    expect(await store.suppress(leave(older), { removeUndated: false })).toMatchObject({ known: 2 })
    expect((await listSuppressions(store)).map(({ suppressedAt }) => suppressedAt)).toEqual([newer, newer])
  })

  test('are not older than the subscription that they remove, even when the clock was set back', async () => {
    const store = await createStore()
    const [email, subscribedAt] = [toAddress('ann@one.example'), new Date(Date.now() + 3_600_000)]
    await store.import([{ email, subscribedAt }])
    expect(await store.suppress([{ email }], { removeUndated: true })).toMatchObject({ removed: 1 })
    expect((await listSuppressions(store)).map(({ suppressedAt }) => suppressedAt)).toEqual([subscribedAt])
  })

  test('suppress CHANGE_BATCH people', async () => {
    const store = await createStore()
    const rows = createAddresses(CHANGE_BATCH).map((email) => ({ email }))
    expect(await store.suppress(rows, { removeUndated: false })).toMatchObject({ added: rows.length })
    expect((await store.count()).suppressed).toBe(rows.length)
  }, 30_000)
}

function describeFill({ createStore }: Lists): void {
  test('makes an empty list a copy, with its id, key, numbers, dates and suppressions', async () => {
    const [from, to] = [await createStore(), await createStore()]
    await from.import(createAddresses(2500).map((email, index) => ({ email, subscribedAt: new Date(index * 1000) })))
    await from.add(toAddresses('Ann@one.example'))
    await from.remove(toAddresses('gone@one.example', 'User.7@mail-0.io'), { suppress: true })
    expect(await to.fill(toCopy(await from.head(), from))).toEqual(await from.count())
    expect(await listAll(to)).toEqual([...(await listAll(from))])
    expect(await listSuppressions(to)).toEqual([...(await listSuppressions(from))])
    const [{ lastSeq, ...head }, { lastSeq: target, ...copied }] = [await from.head(), await to.head()]
    expect(copied).toEqual(head)
    expect(target).toBeGreaterThanOrEqual(lastSeq)
    expect(await to.import(toAddresses('GONE@one.example', 'ann@one.example').map((email) => ({ email })))).toEqual({
      added: 0,
      known: 1,
      suppressed: 1,
    })
    await to.add(toAddresses('later@one.example', 'ann@ONE.example'))
    expect(emailsOf(await listAll(to, { after: target }))).toEqual(toAddresses('later@one.example'))
  })

  test('refuses a list that has a subscriber, a suppression or an address in its inbox, and changes nothing', async () => {
    const from = await createStore()
    await from.add(toAddresses('ann@one.example'))
    const head = await from.head()
    for (const change of [
      (to: SubscriberStore) => to.add(toAddresses('bob@one.example')),
      (to: SubscriberStore) => to.import([{ email: toAddress('bob@one.example') }]),
      (to: SubscriberStore) => to.remove(toAddresses('bob@one.example'), { suppress: true }),
    ]) {
      const to = await createStore()
      await change(to)
      const { id } = await to.head()
      await expect(to.fill(toCopy(head, from))).rejects.toThrow(/is not empty.*rollcall import/)
      expect((await to.head()).id).toBe(id)
      expect(await readStates(to, toAddresses('ann@one.example'))).toEqual(['absent'])
    }
  })

  test('leaves the list empty when the source fails', async () => {
    const [from, to] = [await createStore(), await createStore()]
    await from.add(createAddresses(1))
    async function* fail() {
      yield* from.list()
      throw new Failure('the source is damaged')
    }
    await expect(to.fill({ ...toCopy(await from.head(), from), subscribers: fail() })).rejects.toThrow('damaged')
    expect(await to.count()).toEqual({ subscribers: 0, reserved: 0, suppressed: 0 })
    expect(await to.fill(toCopy(await from.head(), from))).toMatchObject({ subscribers: 1 })
  })
}

function toCopy(head: ListHead, from: SubscriberStore): ListCopy {
  return { head, subscribers: from.list(), suppressions: from.listSuppressions() }
}

/** Returns the state of each address. */
export async function readStates(
  store: SubscriberStore,
  addresses: readonly Address[],
): Promise<readonly SubscriptionState[]> {
  return (await store.lookUp(addresses)).map(toState)
}

/** Parses a valid address. */
export function toAddress(text: string): Address {
  const parsed = parseAddress(text)
  if (!parsed.ok) throw new Error(`${text}: ${parsed.reason}`)
  return parsed.value
}

export function toAddresses(...texts: readonly string[]): Address[] {
  return texts.map(toAddress)
}

/** Creates distinct addresses, none of them in a reserved domain. */
export function createAddresses(size: number): Address[] {
  return Array.from({ length: size }, (_, index) => toAddress(`User.${index}@mail-${index % 7}.io`))
}

export async function listAll(
  store: SubscriberStore,
  options?: Parameters<SubscriberStore['list']>[0],
): Promise<readonly Subscriber[]> {
  return (await Array.fromAsync(store.list(options))).flat()
}

export async function listSuppressions(store: SubscriberStore): Promise<readonly Suppression[]> {
  return (await Array.fromAsync(store.listSuppressions())).flat()
}

export function emailsOf(subscribers: readonly Subscriber[]): Address[] {
  return subscribers.map(({ email }) => email)
}

/** Expects that the cursors increase and that the identities differ. */
export function expectAscending(subscribers: readonly Subscriber[]): void {
  expect(subscribers.every(({ seq }, index) => index === 0 || seq > subscribers[index - 1]!.seq)).toBe(true)
  expect(new Set(subscribers.map(({ email }) => toIdentity(email))).size).toBe(subscribers.length)
}

function toDate(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 10)
}
