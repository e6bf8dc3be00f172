/** Reads the compacted part of a SQLite list. */

import type { Database } from 'bun:sqlite'
import type { Address } from '../../email.ts'
import type { ListOptions, StoreStatus, Subscriber, SubscriptionState } from '../../subscriber.ts'
import { DAY_MS, type DayRow, toFirstDay, toStatus } from '../daily-counts.ts'
import { type Counts, RESERVED } from './counts.ts'
import type { IdentityIndex } from './identity-index.ts'
import { getRow, type SubscriberRow, toSubscriber } from './row.ts'
import type { Suppressions } from './suppressions.ts'

/** Rows in a page. Larger pages are no faster, and use more memory. */
export const PAGE_SIZE = 1000

export type SqliteReader = ReturnType<typeof createReader>

interface ReaderParts {
  readonly counts: Counts
  readonly suppressions: Suppressions
  readonly index: IdentityIndex
}

/** Creates the reader. Its methods are those of the store, and work with or without a transaction of the caller. */
export function createReader(db: Database, { counts, suppressions, index }: ReaderParts) {
  const statements = prepare(db)

  return {
    count: counts.read,

    find: (address: Address): Subscriber | undefined => index.find([address]).get(0),

    lookUp(addresses: readonly Address[]): SubscriptionState[] {
      const subscribed = index.find(addresses)
      const suppressed = suppressions.find(addresses)
      return addresses.map((_, at) => {
        if (subscribed.has(at)) return 'subscribed'
        return suppressed.has(at) ? 'suppressed' : 'absent'
      })
    },

    /**
     * Yields pages. Each is a statement of its own. None is missed, because the list only grows at its end. Ends where
     * the list ends at the first page, so that it does not follow a busy service.
     */
    *list({ after = 0, limit = Number.POSITIVE_INFINITY }: ListOptions): Generator<readonly Subscriber[]> {
      const { seq: end } = getRow(statements.last)
      let cursor = after
      for (let left = limit; left > 0; ) {
        const size = Math.min(PAGE_SIZE, left)
        const page = statements.list.all(cursor, end, size).map(toSubscriber)
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
      return { ...toStatus(rows, { first, days }), suppressed: counts.read().suppressed }
    },
  }
}

function prepare(db: Database) {
  return {
    last: db.query<{ seq: number }, []>('SELECT coalesce(max(seq), 0) AS seq FROM subscribers'),
    list: db.query<SubscriberRow, [after: number, end: number, limit: number]>(
      `SELECT seq, email, subscribed_at AS subscribedAt FROM subscribers
       WHERE seq > ?1 AND seq <= ?2 ORDER BY seq LIMIT ?3`,
    ),
    days: db.query<DayRow, [first: number]>(
      `SELECT max(subscribed_at / ${DAY_MS}, ?1) AS day, count(*) AS subscribers, sum(${RESERVED}) AS reserved,
              max(subscribed_at) AS last
       FROM subscribers GROUP BY 1`,
    ),
  }
}
