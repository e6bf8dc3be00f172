/** What is asked of a SQLite list: read from what has been compacted. */

import type { Database } from 'bun:sqlite'
import { type Address, RESERVED_DOMAINS, toIdentity } from '../../email.ts'
import type {
  Count,
  ListOptions,
  StoreStatus,
  Subscriber,
  SubscriptionState,
  Suppression,
} from '../../subscriber.ts'
import { DAY_MS, type DayRow, toFirstDay, toStatus } from '../daily-counts.ts'
import { readSeed, toHash } from './compaction.ts'
import type { SuppressionRow, Suppressions } from './suppressions.ts'

/** Subscribers and suppressions in a page: larger ones are no faster, and leave more for the collector. */
const PAGE = 1000

/** Addresses that are looked up with one statement. */
const LOOK_UP = 1000

/** Works inside the transaction of its caller, or as statements of its own. */
export interface SqliteReader {
  count(): Count
  find(address: Address): Subscriber | undefined
  lookUp(addresses: readonly Address[]): SubscriptionState[]
  /** The pages of the list, each read on its own: the list only grows at its end. */
  list(options: ListOptions): Generator<readonly Subscriber[]>
  listSuppressions(): Generator<readonly Suppression[]>
  /** All of the status but the size. */
  status(days: number): Omit<StoreStatus, 'bytes'>
}

type Row = [seq: number, email: Address, subscribedAt: number]

/** Prepares the reading of an open file. */
export function createReader(db: Database, suppressed: Suppressions): SqliteReader {
  const seed = readSeed(db)
  const statements = prepare(db)

  /** Finds those that are on the list, by their index. */
  function findAll(addresses: readonly Address[]): ReadonlyMap<number, Subscriber> {
    const hashes = JSON.stringify(addresses.map((address) => toHash(toIdentity(address), seed)))
    const found = new Map<number, Subscriber>()
    for (const [index, ...row] of statements.find.values(hashes) as [index: number, ...Row][]) {
      const asked = addresses[index]
      // Hashes are not unique.
      if (asked && toIdentity(asked) === toIdentity(row[1])) found.set(index, toSubscriber(row))
    }
    return found
  }

  function lookUpSome(addresses: readonly Address[]): SubscriptionState[] {
    const listed = findAll(addresses)
    const gone = suppressed.isEmpty() ? new Set<number>() : suppressed.find(addresses)
    return addresses.map((_, index) =>
      listed.has(index) ? 'subscribed' : gone.has(index) ? 'suppressed' : 'absent',
    )
  }

  return {
    count: () => statements.count.get() as Count,
    find: (address) => findAll([address]).get(0),
    lookUp: (addresses) => inParts(addresses, LOOK_UP).flatMap(lookUpSome),

    *list({ after = 0, limit = Number.POSITIVE_INFINITY }) {
      let cursor = after
      for (let left = limit; left > 0; ) {
        const size = Math.min(PAGE, left)
        const page = (statements.list.values(cursor, size) as Row[]).map(toSubscriber)
        if (page.length > 0) yield page
        if (page.length < size) return
        cursor = page.at(-1)?.seq ?? cursor
        left -= size
      }
    },

    *listSuppressions() {
      let last: SuppressionRow | undefined
      for (;;) {
        const page = suppressed.page(last, PAGE)
        if (page.length === 0) return
        yield page.map(({ key, hash, suppressedAt }) => ({ key, hash, suppressedAt }))
        last = page.at(-1)
      }
    },

    status(days) {
      const first = toFirstDay(days)
      // One walk over the list for all of it: the days asked for, and one in front that stands for the rest.
      const rows = statements.days.all(first - 1) as DayRow[]
      const suppressions = statements.suppressed.get() as Pick<Count, 'suppressed'>
      return { ...toStatus(rows, { first, days }), ...suppressions }
    },
  }
}

/** Cuts a list into parts of at most a size. */
export function inParts<T>(all: readonly T[], size: number): readonly T[][] {
  const parts: T[][] = []
  for (let start = 0; start < all.length; start += size) parts.push(all.slice(start, start + size))
  return parts
}

function toSubscriber([seq, email, subscribedAt]: Row): Subscriber {
  return { seq, email, subscribedAt: new Date(subscribedAt) }
}

/** The same rule as isReserved, in SQL: an address ends in one of the domains, behind an `@` or a dot. */
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
  const suppressed = 'SELECT count(*) AS suppressed FROM removed'
  return {
    count: db.query(
      `SELECT count(*) AS subscribers, coalesce(sum(${reserved}), 0) AS reserved, (${suppressed}) AS suppressed
       FROM subscribers`,
    ),
    // CROSS JOIN fixes the order of the loops: what is asked outside, the index inside.
    find: db.query(
      `SELECT e.key, s.seq, s.email, s.subscribed_at FROM json_each(?1) e
       CROSS JOIN identities i ON i.hash = e.value CROSS JOIN subscribers s ON s.seq = i.seq`,
    ),
    list: db.query('SELECT seq, email, subscribed_at FROM subscribers WHERE seq > ?1 ORDER BY seq LIMIT ?2'),
    days: db.query(
      `SELECT max(subscribed_at / ${DAY_MS}, ?1) AS day, count(*) AS subscribers, sum(${reserved}) AS reserved,
              max(subscribed_at) AS last
       FROM subscribers GROUP BY 1`,
    ),
    suppressed: db.query(suppressed),
  }
}
