/** Reads the compacted part of a SQLite list. */

import type { Database } from 'bun:sqlite'
import { type Address, RESERVED_DOMAINS, toIdentity } from '../../email.ts'
import type { Count, ListOptions, StoreStatus, Subscriber, SubscriptionState } from '../../subscriber.ts'
import { DAY_MS, type DayRow, toFirstDay, toStatus } from '../daily-counts.ts'
import { createIdentityHash } from './identity-hash.ts'
import { getRow } from './row.ts'
import type { Suppressions } from './suppressions.ts'

/** Rows in a page. Larger pages are no faster, and use more memory. */
const PAGE_SIZE = 1000

type SubscriberRow = Omit<Subscriber, 'subscribedAt'> & { subscribedAt: number }

export type SqliteReader = ReturnType<typeof createReader>

/** Creates the reader. Its methods are those of the store, and work with or without a transaction of the caller. */
export function createReader(db: Database, suppressions: Suppressions) {
  const hashOf = createIdentityHash(db)
  const statements = prepare(db)

  /** Returns the subscribers by the index of their address. */
  function findAll(addresses: readonly Address[]): ReadonlyMap<number, Subscriber> {
    const found = new Map<number, Subscriber>()
    for (const { index, ...row } of statements.find.all(JSON.stringify(addresses.map(hashOf)))) {
      const address = addresses[index]
      // Hashes are not unique.
      if (address && toIdentity(address) === toIdentity(row.email)) found.set(index, toSubscriber(row))
    }
    return found
  }

  return {
    count: (): Count => getRow(statements.count),

    find: (address: Address): Subscriber | undefined => findAll([address]).get(0),

    lookUp(addresses: readonly Address[]): SubscriptionState[] {
      const subscribed = findAll(addresses)
      const suppressed = suppressions.find(addresses)
      return addresses.map((_, index) => {
        if (subscribed.has(index)) return 'subscribed'
        return suppressed.has(index) ? 'suppressed' : 'absent'
      })
    },

    /** Yields pages. Each is a statement of its own. None is missed, because the list only grows at its end. */
    *list({ after = 0, limit = Number.POSITIVE_INFINITY }: ListOptions): Generator<readonly Subscriber[]> {
      let cursor = after
      for (let left = limit; left > 0; ) {
        const size = Math.min(PAGE_SIZE, left)
        const page = statements.list.all(cursor, size).map(toSubscriber)
        if (page.length > 0) yield page
        if (page.length < size) return
        cursor = page.at(-1)?.seq ?? cursor
        left -= size
      }
    },

    listSuppressions: () => suppressions.list(PAGE_SIZE),

    status(days: number): Omit<StoreStatus, 'bytes'> {
      const first = toFirstDay(days)
      // One scan of the list: all days before the first count as one day.
      const rows = statements.days.all(first - 1)
      return { ...toStatus(rows, { first, days }), ...getRow(statements.suppressed) }
    },
  }
}

function toSubscriber({ seq, email, subscribedAt }: SubscriberRow): Subscriber {
  return { seq, email, subscribedAt: new Date(subscribedAt) }
}

/** The rule of isReserved in SQL: an address ends in one of the domains, after an `@` or a dot. */
function toReservedSql(): string {
  const byLength = Map.groupBy(RESERVED_DOMAINS, ({ length }) => length + 1)
  return [...byLength]
    .map(([length, domains]) => {
      const endings = domains.flatMap((domain) => [`'@${domain}'`, `'.${domain}'`])
      return `substr(email, -${length}) COLLATE NOCASE IN (${endings})`
    })
    .join(' OR ')
}

function prepare(db: Database) {
  const reserved = toReservedSql()
  const suppressed = 'SELECT count(*) AS suppressed FROM suppressions'
  return {
    count: db.query<Count, []>(
      `SELECT count(*) AS subscribers, coalesce(sum(${reserved}), 0) AS reserved, (${suppressed}) AS suppressed
       FROM subscribers`,
    ),
    // CROSS JOIN fixes the order of the loops: the JSON array outside, the tables inside.
    find: db.query<SubscriberRow & { index: number }, [hashes: string]>(
      `SELECT e.key AS "index", s.seq, s.email, s.subscribed_at AS subscribedAt FROM json_each(?1) e
       CROSS JOIN identities i ON i.hash = e.value CROSS JOIN subscribers s ON s.seq = i.seq`,
    ),
    list: db.query<SubscriberRow, [after: number, limit: number]>(
      `SELECT seq, email, subscribed_at AS subscribedAt FROM subscribers
       WHERE seq > ?1 ORDER BY seq LIMIT ?2`,
    ),
    days: db.query<DayRow, [first: number]>(
      `SELECT max(subscribed_at / ${DAY_MS}, ?1) AS day, count(*) AS subscribers, sum(${reserved}) AS reserved,
              max(subscribed_at) AS last
       FROM subscribers GROUP BY 1`,
    ),
    suppressed: db.query<Pick<Count, 'suppressed'>, []>(suppressed),
  }
}
