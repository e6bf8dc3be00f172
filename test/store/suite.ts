/** One suite for all stores: it checks what SubscriberStore promises on real lists. */

import { afterEach, describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { parseListUrl } from '../../src/config/list-url.ts'
import { type Address, parseAddress, toIdentity } from '../../src/email.ts'
import { Failure } from '../../src/failure.ts'
import { toState } from '../../src/store/changes.ts'
import { toClockSeq } from '../../src/store/numbers.ts'
import { fillList, openStore } from '../../src/store/open.ts'
import type {
  Count,
  ListCopy,
  Subscriber,
  SubscriberStore,
  SubscriptionState,
  Suppression,
} from '../../src/subscriber.ts'
import { findMidnight } from '../support/wait.ts'

/** What the tests create their lists with. Every store is closed when its test ends. */
export interface Lists {
  /** Creates an empty list, and returns its URL and a function that opens it. */
  createList(): Promise<{ readonly url: string; open(): Promise<SubscriberStore> }>
  /** Creates an empty list and opens it. */
  createStore(): Promise<SubscriberStore>
}

/** A kind of store. */
interface Driver {
  readonly name: string
  /** Returns the URL of a new, empty list. */
  createUrl(): Promise<string>
  /** Declares tests of this kind alone. They create their lists as the suite does. */
  additionalTests?(lists: Lists): void
}

/** Declares the suite for a kind of store. */
export function describeStore({ name, createUrl, additionalTests }: Driver): void {
  let opened: SubscriberStore[] = []

  const createList: Lists['createList'] = async () => {
    const url = await createUrl()
    const open = async () => {
      const store = await openStore(parseListUrl('URL', url), { access: 'create' })
      opened.push(store)
      return store
    }
    return { url, open }
  }

  const lists: Lists = { createList, createStore: async () => (await createList()).open() }

  afterEach(async () => {
    for (const store of opened) await store.close()
    opened = []
  })

  describe(`${name}: add`, () => describeAdd(lists))
  describe(`${name}: lookUp, count and status`, () => describeQueries(lists))
  describe(`${name}: list`, () => describeList(lists))
  describe(`${name}: import`, () => describeImport(lists))
  describe(`${name}: remove`, () => describeRemove(lists))
  describe(`${name}: opt-outs of another list`, () => describeOptOuts(lists))
  describe(`${name}: fill`, () => describeFill(lists))
  additionalTests?.(lists)
}

function describeAdd({ createList, createStore }: Lists): void {
  test('every connection to a list has the id of the list', async () => {
    const [{ open }, other] = [await createList(), await createStore()]
    const [one, two] = [await open(), await open()]
    const [{ id, suppressionKey, lastSeq }, { id: otherId }] = [await one.head(), await other.head()]
    expect(await two.head()).toMatchObject({ id, suppressionKey, lastSeq })
    expect(otherId).not.toBe(id)
    expect(id).toMatch(/^[0-9a-f]{16}$/)
    expect(suppressionKey).toHaveLength(32)
    expect(lastSeq).toBe(0)
  })

  test('keeps the order and the spelling of the addresses, and gives out numbers of the clock', async () => {
    const store = await createStore()
    // The server of a database has a clock of its own.
    const [before, after] = [Date.now() - 60_000, Date.now() + 60_000]
    await store.probe()
    await store.add(toAddresses('Zoe@Site.example', 'adam@site.example'))
    const [zoe, adam] = await listAll(store)
    expect([zoe?.email, adam?.email]).toEqual(toAddresses('Zoe@Site.example', 'adam@site.example'))
    expect(zoe!.subscribedAt.getTime()).toBeWithin(before, after)
    expect(zoe!.seq).toBeWithin(toClockSeq(before), toClockSeq(after))
    expect(adam!.seq).toBe(zoe!.seq + 1)
    expect((await store.head()).lastSeq).toBe(adam!.seq)
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
}

function describeQueries({ createList, createStore }: Lists): void {
  const day = 86_400_000

  test('lookUp compares identities, and returns what it found in the order of the addresses', async () => {
    const store = await createStore()
    await store.add(toAddresses('Ann@one.example', 'bob@one.example'))
    await store.remove(toAddresses('bob@one.example'), { suppress: true })
    const [subscriber] = await listAll(store)
    const [{ suppressedAt } = { suppressedAt: undefined }] = await listSuppressions(store)
    const asked = toAddresses('an@one.example', 'Bob@one.example', 'aNN@ONE.example', 'an@one.example')
    expect(await store.lookUp(asked)).toEqual([{}, { suppressedAt }, { subscriber }, {}])
    expect(await store.lookUp([])).toEqual([])
  })

  test('count counts the reserved domains, with subdomains, and the suppressed addresses', async () => {
    const store = await createStore()
    const reserved = ['a@example.com', 'a@Example.ORG', 'a@sub.example.net', 'a@any.TEST', 'a@b.c.invalid']
    const others = ['a@myexample.com', 'a@example.de', 'example.com@a.io', 'a@contest.io', 'a@x.tests', 'b@test.io']
    await store.add(toAddresses(...reserved, 'a@x.localhost', ...others))
    await store.remove(toAddresses('a@x.localhost', 'b@test.io', 'never@site.io'), { suppress: true })
    expect(await store.count()).toEqual({ subscribers: 10, reserved: 5, suppressed: 3 })
  })

  test('an empty list', async () => {
    const midnight = await findMidnight()
    const store = await createStore()
    expect(await store.ready()).toBeUndefined()
    expect([await listAll(store), await listSuppressions(store)]).toEqual([[], []])
    const status = await store.status()
    expect(status.lastAcceptedAt).toBeUndefined()
    expect(status.days).toHaveLength(91)
    expect(status.days.slice(-3)).toEqual(
      [2, 1, 0].map((ago) => ({ date: toDate(midnight - ago * day), added: 0, total: 0 })),
    )
    expect(status).toMatchObject({ subscribers: 0, reserved: 0, suppressed: 0 })
    expect(status.bytes).toBeGreaterThan(0)
  })

  test('status counts by the UTC day of the dates, also for those who came today', async () => {
    const midnight = await findMidnight()
    const store = await createStore()
    const dates = [midnight + 1, midnight, midnight - 1, midnight - day, midnight - day - 1, midnight - 400 * day]
    const rows = createAddresses(dates.length).map((email, at) => ({ email, subscribedAt: new Date(dates[at]!) }))
    await store.import(rows)
    await store.add(toAddresses('ann@one.example'))
    const { days, ...status } = await store.status()
    expect(days.slice(-3).map(({ added, total }) => [added, total])).toEqual([
      [1, 2],
      [2, 4],
      [3, 7],
    ])
    expect(days.at(-1)?.date).toBe(toDate(midnight))
    // Those with a date of less than a day ago may have subscribed here.
    expect(status).toMatchObject({ subscribers: 7, imported: 3 })
    expect(status.lastAcceptedAt!.getTime()).toBeGreaterThan(midnight)
  })

  test('status knows the last reader apart from addresses in reserved domains', async () => {
    const midnight = await findMidnight()
    const store = await createStore()
    const at = new Date(midnight - 3 * day)
    await store.import(toAddresses('ada@site.io').map((email) => ({ email, subscribedAt: at })))
    await store.add(toAddresses('monitor@example.org'))
    expect((await store.status()).lastReaderAt).toEqual(at)
  })

  test('status counts the dates of those who came on earlier days', async () => {
    const midnight = await findMidnight()
    const [from, { url, open }] = [await createStore(), await createList()]
    const rows = [
      // Came 100 days ago; came 90 days ago; imported 2 days ago with dates of 95 and 90 days ago; a clock was ahead.
      [100, 100],
      [90, 90],
      [2, 95],
      [2, 90],
      [-3, 0],
    ].map(([came = 0, added = 0], at) => ({
      seq: toClockSeq(midnight - came * day) + at,
      email: toAddress(`user.${at}@site.io`),
      subscribedAt: new Date(midnight - added * day),
    }))
    await using snapshot = await from.snapshot()
    async function* readRows() {
      yield rows
    }
    await fill(url, { ...snapshot, subscribers: readRows() })
    const { days, imported } = await (await open()).status()
    expect([days[0], days[88], days[90]]).toEqual([
      { date: toDate(midnight - 90 * day), added: 2, total: 4 },
      { date: toDate(midnight - 2 * day), added: 0, total: 4 },
      { date: toDate(midnight), added: 1, total: 5 },
    ])
    expect(days.reduce((sum, { added }) => sum + added, 0)).toBe(3)
    expect(imported).toBe(3)
  })
}

function describeList({ createList, createStore }: Lists): void {
  test('numbers come from the clock, for addresses that are accepted and for those that are imported', async () => {
    const store = await createStore()
    for (const change of ['add', 'import'] as const) {
      const { clockSeq: before } = await store.head()
      const [email] = toAddresses(`${change}@one.example`) as [Address]
      await (change === 'add' ? store.add([email]) : store.import([{ email }]))
      const { clockSeq: after } = await store.head()
      expect((await listAll(store)).at(-1)!.seq).toBeWithin(before, after + 2)
    }
  })

  test('yields all subscribers in the order of the cursor, in pages; the caller may stop at any', async () => {
    const store = await createStore()
    const addresses = createAddresses(12_000)
    for (let start = 0; start < addresses.length; start += 3000) await store.add(addresses.slice(start, start + 3000))
    for await (const page of store.list(0)) {
      expect(page.length).toBeWithin(1, 12_000)
      break
    }
    const pages = await Array.fromAsync(store.list(0))
    expect(pages.every((page) => page.length > 0)).toBe(true)
    expect(emailsOf(pages.flat())).toEqual(addresses)
    expectAscending(pages.flat())
    expect(emailsOf(await listAll(store))).toEqual(addresses)
  })

  test('a snapshot is one state of the list, whatever changes meanwhile', async () => {
    const store = await createStore()
    const [ann, bob, cyd] = toAddresses('ann@one.example', 'bob@one.example', 'cyd@one.example')
    await store.add([ann!, bob!])
    await using snapshot = await store.snapshot()
    await store.remove([bob!], { suppress: true })
    await store.add([cyd!])
    await store.count()
    const subscribers = (await Array.fromAsync(snapshot.subscribers)).flat()
    expect(emailsOf(subscribers)).toEqual([ann!, bob!])
    expect(await Array.fromAsync(snapshot.suppressions)).toEqual([])
    expect(snapshot.head.lastSeq).toBe(subscribers[1]!.seq)
    expect(await readStates(store, [ann!, bob!, cyd!])).toEqual(['subscribed', 'suppressed', 'subscribed'])
  })

  test('starts after a cursor', async () => {
    const store = await createStore()
    await store.add(createAddresses(20))
    const all = await listAll(store)
    const [tenth, last] = [all[9]!.seq, all[19]!.seq]
    expect(await listAll(store, tenth)).toEqual(all.slice(10))
    for (const after of [last, last + 1000]) expect(await listAll(store, after)).toEqual([])
  })

  test('never uses a cursor twice, even when the last subscriber is removed', async () => {
    const { open } = await createList()
    const store = await open()
    const [ann, bob, carl] = toAddresses('ann@one.example', 'bob@one.example', 'carl@one.example')
    await store.add([ann!, bob!])
    const [, last] = await listAll(store)
    await store.remove([bob!], { suppress: false })
    await store.add([carl!, bob!])
    expect(emailsOf(await listAll(await open(), last!.seq))).toEqual([carl!, bob!])
  })
}

// Who is added, removed and suppressed is decided by pure functions: see test/store/changes.test.ts.

function describeImport({ createStore }: Lists): void {
  test('keeps order, spelling and dates to the millisecond, and dates other rows now', async () => {
    const store = await createStore()
    const [ann, bob, carl] = toAddresses('Ann@old.example', 'bob@old.example', 'carl@old.example')
    const dates = [new Date('2019-02-03T04:05:06.789Z'), new Date(0)]
    const before = Date.now()
    const rows = [{ email: bob!, subscribedAt: dates[0] }, { email: ann!, subscribedAt: dates[1] }, { email: carl! }]
    expect(await store.import(rows)).toEqual({ added: 3, alreadyListed: 0, leftOut: 0 })
    const all = await listAll(store)
    expect(emailsOf(all)).toEqual([bob!, ann!, carl!])
    expect(all.slice(0, 2).map(({ subscribedAt }) => subscribedAt)).toEqual(dates as Date[])
    expect(all[2]!.subscribedAt.getTime()).toBeWithin(before - 60_000, before + 60_000)
    expect(await store.import(rows)).toEqual({ added: 0, alreadyListed: 3, leftOut: 0 })
    expect(await listAll(store)).toEqual(all)
    expect(await store.import([])).toEqual({ added: 0, alreadyListed: 0, leftOut: 0 })
  })

  test('import, suppress and remove take any number of addresses, and suppressions are listed once', async () => {
    const store = await createStore()
    // Several batches, and several pages of suppressions.
    const addresses = createAddresses(11_000)
    const rows = addresses.map((email) => ({ email }))
    expect(await store.import(rows)).toEqual({ added: rows.length, alreadyListed: 0, leftOut: 0 })
    expect(await store.suppress(rows, { removeUndated: true })).toMatchObject({ removed: rows.length })
    expect(await store.count()).toMatchObject({ subscribers: 0, suppressed: rows.length })
    const hashes = (await listSuppressions(store)).map(({ hash }) => Buffer.from(hash).toString('hex'))
    expect([hashes.length, new Set(hashes).size]).toEqual([rows.length, rows.length])
    expect(new Set(await store.remove(addresses, { suppress: false }))).toEqual(new Set(['suppressed']))
    expect((await store.count()).suppressed).toBe(0)
  })
}

function describeRemove({ createList, createStore }: Lists): void {
  test('returns the state before, and an import leaves out removed addresses, also those that were never listed', async () => {
    const store = await createStore()
    await store.add(toAddresses('ann@one.example', 'bob@one.example'))
    const asked = toAddresses('Ann@one.example', 'nobody@one.example', 'ann@one.example')
    expect(await store.remove(asked, { suppress: true })).toEqual(['subscribed', 'absent', 'suppressed'])
    expect(await store.remove([], { suppress: true })).toEqual([])
    const rows = toAddresses('ANN@one.example', 'new@one.example', 'Nobody@one.example').map((email) => ({ email }))
    expect(await store.import(rows)).toEqual({ added: 1, alreadyListed: 0, leftOut: 2 })
    expect(emailsOf(await listAll(store))).toEqual(toAddresses('bob@one.example', 'new@one.example'))
  })

  test('a new subscription adds a removed address at the end, and deletes its suppression', async () => {
    const store = await createStore()
    const ann = toAddresses('Ann@one.example')
    await store.add(toAddresses('ann@one.example', 'bob@one.example'))
    for (let round = 0; round < 2; round++) {
      expect(await store.remove(ann, { suppress: true })).toEqual(['subscribed'])
      expect(await readStates(store, ann)).toEqual(['suppressed'])
      await store.add(ann)
      await store.add(ann)
      expect(emailsOf(await listAll(store))).toEqual(toAddresses('bob@one.example', 'Ann@one.example'))
      expect(await store.count()).toMatchObject({ subscribers: 2, suppressed: 0 })
    }
  })

  test('somebody who came back is subscribed in every way, and is removed, suppressed, forgotten and copied as others are', async () => {
    const [store, { url, open }] = [await createStore(), await createList()]
    const people = toAddresses(
      'ann@one.example',
      'bob@one.example',
      'cyd@one.example',
      'dan@one.example',
      'eve@one.example',
    )
    const [ann, bob, cyd, dan] = people as [Address, Address, Address, Address]
    const asRows = (...emails: readonly Address[]) => emails.map((email) => ({ email }))
    await store.remove(people, { suppress: true })
    await store.add([ann, bob, cyd, dan])
    expect(await readStates(store, people)).toEqual([...Array(4).fill('subscribed'), 'suppressed'])
    expect(await store.count()).toMatchObject({ subscribers: 4, suppressed: 1 })
    expect(await store.status()).toMatchObject({ subscribers: 4, suppressed: 1 })
    expect(await listSuppressions(store)).toHaveLength(1)
    expect(await copy(store, url)).toMatchObject({ subscribers: 4, suppressed: 1 })
    // Nothing of Ann stays, so an import may add her.
    expect(await store.remove([ann], { suppress: false })).toEqual(['subscribed'])
    expect(await store.import(asRows(ann))).toMatchObject({ added: 1 })
    expect(await store.remove([bob], { suppress: true })).toEqual(['subscribed'])
    expect(await store.import(asRows(bob, cyd))).toEqual({ added: 0, alreadyListed: 1, leftOut: 1 })
    const before = new Date(Date.now() - 3_600_000)
    expect(await store.suppress([{ email: dan, optedOutAt: before }], { removeUndated: true })).toMatchObject({
      kept: 1,
    })
    expect(await readStates(store, people)).toEqual([
      'subscribed',
      'suppressed',
      'subscribed',
      'subscribed',
      'suppressed',
    ])
    expect(await store.count()).toMatchObject({ subscribers: 3, suppressed: 2 })
    // The copy has the same people.
    const other = await open()
    expect(await other.remove([ann, cyd], { suppress: false })).toEqual(['subscribed', 'subscribed'])
    expect(await other.import(asRows(ann, ...people.slice(4)))).toMatchObject({ added: 1, leftOut: 1 })
    expect(await other.count()).toMatchObject({ subscribers: 3, suppressed: 1 })
  })

  test('suppressions are HMAC-SHA-256 of the identity, under a key of the list', async () => {
    const [one, other] = [await createStore(), await createStore()]
    for (const store of [one, other]) await store.remove(toAddresses('Ann@One.example'), { suppress: true })
    const [mine, theirs] = [await listSuppressions(one), await listSuppressions(other)]
    const { suppressionKey } = await one.head()
    const hash = createHmac('sha256', suppressionKey).update('ann@one.example').digest()
    expect(mine.map((row) => Buffer.from(row.hash))).toEqual([hash])
    expect(mine[0]!.suppressedAt.getTime()).toBeWithin(Date.now() - 60_000, Date.now() + 60_000)
    expect(hash.equals(theirs[0]!.hash)).toBe(false)
  })
}

function describeOptOuts({ createStore }: Lists): void {
  const [older, newer] = [new Date('2020-01-01T00:00:00Z'), new Date('2024-01-01T00:00:00.123Z')]

  test('suppress people with the date on which they left, or now, and an import leaves them out', async () => {
    const store = await createStore()
    const [ann, bob] = toAddresses('Ann@one.example', 'bob@one.example')
    const before = Date.now()
    const rows = [{ email: ann!, optedOutAt: newer }, { email: bob! }]
    expect(await store.suppress(rows, { removeUndated: false })).toEqual({ suppressed: 2, removed: 0, kept: 0 })
    const dates = (await listSuppressions(store)).map(({ suppressedAt }) => suppressedAt.getTime()).toSorted()
    expect(dates[0]).toBe(newer.getTime())
    expect(dates[1]).toBeWithin(before - 60_000, before + 60_000)
    const imported = toAddresses('ann@ONE.example', 'bob@one.example').map((email) => ({ email }))
    expect(await store.import(imported)).toMatchObject({ leftOut: 2 })
    await store.add([ann!])
    expect(await readStates(store, [ann!, bob!])).toEqual(['subscribed', 'suppressed'])
  })

  test('give somebody who left before the later date, and no earlier one', async () => {
    const store = await createStore()
    const [ann, bob] = toAddresses('ann@one.example', 'bob@one.example')
    const leave = (optedOutAt: Date) => [ann!, bob!].map((email) => ({ email, optedOutAt }))
    await store.suppress(leave(older).slice(1), { removeUndated: false })
    await store.suppress(leave(newer), { removeUndated: false })
    expect(await store.suppress(leave(older), { removeUndated: false })).toEqual({ suppressed: 2, removed: 0, kept: 0 })
    expect((await listSuppressions(store)).map(({ suppressedAt }) => suppressedAt)).toEqual([newer, newer])
  })
}

function describeFill({ createList, createStore }: Lists): void {
  test('makes an empty list a copy, with its id, key, numbers, dates and suppressions', async () => {
    const [from, { url, open }] = [await createStore(), await createList()]
    // An empty list may be there already.
    await (await open()).close()
    await from.import(createAddresses(2500).map((email, index) => ({ email, subscribedAt: new Date(index * 1000) })))
    await from.add(toAddresses('Ann@one.example'))
    await from.remove(toAddresses('gone@one.example', 'User.7@mail-0.io'), { suppress: true })
    expect(await copy(from, url)).toMatchObject(await from.count())
    const to = await open()
    expect(await listAll(to)).toEqual([...(await listAll(from))])
    expect(await listSuppressions(to)).toEqual([...(await listSuppressions(from))])
    const [{ lastSeq, id, suppressionKey }, { lastSeq: target, ...copied }] = [await from.head(), await to.head()]
    expect(copied).toMatchObject({ id, suppressionKey })
    expect(target).toBeGreaterThanOrEqual(lastSeq)
    expect(await to.import(toAddresses('GONE@one.example', 'ann@one.example').map((email) => ({ email })))).toEqual({
      added: 0,
      alreadyListed: 1,
      leftOut: 1,
    })
    await to.add(toAddresses('later@one.example', 'ann@ONE.example'))
    expect(emailsOf(await listAll(to, target))).toEqual(toAddresses('later@one.example'))
  })

  test('refuses a list that has a subscriber, a suppression or an address in its inbox, and changes nothing', async () => {
    const from = await createStore()
    await from.add(toAddresses('ann@one.example'))
    for (const change of [
      (to: SubscriberStore) => to.add(toAddresses('bob@one.example')),
      (to: SubscriberStore) => to.import([{ email: toAddress('bob@one.example') }]),
      (to: SubscriberStore) => to.remove(toAddresses('bob@one.example'), { suppress: true }),
    ]) {
      const { url, open } = await createList()
      const to = await open()
      await change(to)
      const { id } = await to.head()
      await expect(copy(from, url)).rejects.toThrow(/is not empty.*rollcall import/)
      expect((await to.head()).id).toBe(id)
      expect(await readStates(to, toAddresses('ann@one.example'))).toEqual(['absent'])
    }
  })

  test('leaves nothing when the source fails', async () => {
    const [from, { url, open }] = [await createStore(), await createList()]
    await from.add(createAddresses(1))
    await using snapshot = await from.snapshot()
    async function* fail() {
      yield* snapshot.subscribers
      throw new Failure('the source is damaged')
    }
    await expect(fill(url, { ...snapshot, subscribers: fail() })).rejects.toThrow('damaged')
    const to = await open()
    expect(await to.count()).toEqual({ subscribers: 0, reserved: 0, suppressed: 0 })
    await to.close()
    expect(await copy(from, url)).toMatchObject({ subscribers: 1 })
  })
}

async function copy(from: SubscriberStore, to: string): Promise<Count> {
  await using snapshot = await from.snapshot()
  return await fill(to, snapshot)
}

const fill = (url: string, copied: ListCopy): Promise<Count> =>
  fillList(parseListUrl('URL', url), copied, new AbortController().signal)

/** Returns the state of each address. */
async function readStates(
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

/** Reads the whole list, or what is after a cursor. */
export async function listAll(store: SubscriberStore, after?: number): Promise<readonly Subscriber[]> {
  if (after !== undefined) return (await Array.fromAsync(store.list(after))).flat()
  await using snapshot = await store.snapshot()
  return (await Array.fromAsync(snapshot.subscribers)).flat()
}

export async function listSuppressions(store: SubscriberStore): Promise<readonly Suppression[]> {
  await using snapshot = await store.snapshot()
  return (await Array.fromAsync(snapshot.suppressions)).flat()
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
