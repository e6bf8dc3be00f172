/**
 * How a new store is held to the suite: this one keeps its lists in memory, in as few lines as the promises
 * allow. It is for tests alone, for nothing in it is on stable storage.
 */

import { createHmac, randomBytes } from 'node:crypto'
import { type Address, isReserved, toIdentity } from '../../src/email.ts'
import type { Removal, Standing, Subscriber, SubscriberStore } from '../../src/subscriber.ts'
import { describeStore } from '../support/store-suite.ts'

describeStore('memory', async () => ({
  async create() {
    const state = createState()
    return { open: async () => createMemoryStore(state) }
  },
  async remove() {},
}))

const PAGE = 1000

function createState() {
  return {
    seq: 0,
    /** By identity; a Map keeps the order in which they came. */
    subscribers: new Map<string, Subscriber>(),
    /** By key and hash. */
    removals: new Map<string, Removal>(),
    keys: [randomBytes(32)] as Buffer[],
  }
}

function createMemoryStore(state: ReturnType<typeof createState>): SubscriberStore {
  const { subscribers, removals, keys } = state

  const toName = (key: Uint8Array, hash: Uint8Array) =>
    `${Buffer.from(key).toString('hex')} ${Buffer.from(hash).toString('hex')}`
  const toHash = (key: Uint8Array, identity: string) => createHmac('sha256', key).update(identity).digest()
  const toNames = (address: Address) => keys.map((key) => toName(key, toHash(key, toIdentity(address))))

  function toStanding(address: Address): Standing {
    if (subscribers.has(toIdentity(address))) return 'listed'
    return toNames(address).some((name) => removals.has(name)) ? 'removed' : 'absent'
  }

  function put(email: Address, subscribedAt: Date): void {
    if (subscribers.has(toIdentity(email))) return
    for (const name of toNames(email)) removals.delete(name)
    state.seq++
    subscribers.set(toIdentity(email), { seq: state.seq, email, subscribedAt })
  }

  function keep(removal: Removal): void {
    if (!keys.some((key) => key.equals(removal.key))) keys.push(Buffer.from(removal.key))
    for (const { email, subscribedAt } of [...subscribers.values()]) {
      if (!toHash(removal.key, toIdentity(email)).equals(removal.hash)) continue
      if (subscribedAt >= removal.removedAt) return
      subscribers.delete(toIdentity(email))
    }
    removals.set(toName(removal.key, removal.hash), removal)
  }

  async function* toPages<T>(rows: readonly T[]): AsyncGenerator<readonly T[]> {
    for (let start = 0; start < rows.length; start += PAGE) yield rows.slice(start, start + PAGE)
  }

  const count = () => ({
    subscribers: subscribers.size,
    reserved: [...subscribers.values()].filter(({ email }) => isReserved(email)).length,
    removed: removals.size,
  })

  return {
    importSize: PAGE,
    async add(addresses) {
      for (const address of addresses) put(address, new Date())
    },
    async check() {},
    count: async () => count(),
    find: async (address) => subscribers.get(toIdentity(address)),
    lookUp: async (addresses) => addresses.map(toStanding),
    list: ({ after = 0, limit } = {}) =>
      toPages([...subscribers.values()].filter(({ seq }) => seq > after).slice(0, limit)),
    async import(rows) {
      const tally = { added: 0, known: 0, removed: 0 }
      const outcomes = { absent: 'added', listed: 'known', removed: 'removed' } as const
      for (const { email, subscribedAt = new Date() } of rows) {
        const standing = toStanding(email)
        if (standing === 'absent') put(email, subscribedAt)
        tally[outcomes[standing]]++
      }
      return tally
    },
    async remove(addresses, { forget }) {
      return addresses.map((address) => {
        const standing = toStanding(address)
        subscribers.delete(toIdentity(address))
        const [key] = keys as [Buffer]
        const hash = toHash(key, toIdentity(address))
        if (forget) for (const name of toNames(address)) removals.delete(name)
        else if (standing !== 'removed') removals.set(toName(key, hash), { key, hash, removedAt: new Date() })
        return standing
      })
    },
    listRemovals: () => toPages([...removals.values()]),
    async importRemovals(given) {
      for (const removal of given) keep(removal)
    },
    async status(days) {
      const dates = [...subscribers.values()].map(({ subscribedAt }) => subscribedAt.getTime())
      const today = Math.floor(Date.now() / 86_400_000)
      return {
        ...count(),
        lastAcceptedAt: dates.length > 0 ? new Date(Math.max(...dates)) : undefined,
        days: Array.from({ length: days }, (_, index) => {
          const day = today - days + 1 + index
          return {
            date: new Date(day * 86_400_000).toISOString().slice(0, 10),
            added: dates.filter((date) => Math.floor(date / 86_400_000) === day).length,
          }
        }),
        bytes: 1,
      }
    },
    async close() {},
  }
}
