/** What the owner changes of a SQLite list: imports and suppressions. */

import type { Database } from 'bun:sqlite'
import { type Address, toIdentity } from '../../email.ts'
import type {
  ImportRow,
  ImportTally,
  Subscriber,
  SubscriberStore,
  SubscriptionState,
  Suppression,
} from '../../subscriber.ts'
import { createMatch } from '../suppression-hash.ts'
import { readSeed, toHash } from './compaction.ts'
import type { Locked } from './lock.ts'
import { inParts, type SqliteReader } from './read.ts'
import type { Suppressions } from './suppressions.ts'

/** Rows that an import takes under one lock and one fsync. */
const LOCKED = 8192

/** Rows in one arrival of an import: settling takes some 30 of them under one lock. */
const ARRIVAL = 256

export interface SqliteWriterOptions {
  readonly reader: SqliteReader
  readonly suppressed: Suppressions
  readonly locked: Locked
  /** Settles, as long as there is much to do in turns that let others in. */
  readonly settle: () => Promise<void>
  /** Settles, does the work under the lock under which nothing can arrive, and commits both. */
  readonly exclusively: <T>(work: () => T) => Promise<T>
}

export type SqliteWriter = Pick<SubscriberStore, 'import' | 'remove' | 'mergeSuppressions'>

/** Prepares the changing of an open file. */
export function createWriter(db: Database, options: SqliteWriterOptions): SqliteWriter {
  const { reader, suppressed, locked, settle, exclusively } = options
  const seed = readSeed(db)
  const statements = prepare(db)

  /** Appends rows as inbox, without those that have been removed, and tells which numbers they have got. */
  function append(rows: readonly ImportRow[]): { first: number; after: number } {
    const gone = suppressed.isEmpty() ? new Set<number>() : suppressed.find(rows.map(({ email }) => email))
    const now = Date.now()
    const inbox = rows
      .filter((_, index) => !gone.has(index))
      .map(({ email, subscribedAt }) => [email, subscribedAt?.getTime() ?? now])
    const { seq: first } = statements.next.get() as { seq: number }
    for (const part of inParts(inbox, ARRIVAL)) statements.append.run(now, JSON.stringify(part))
    return { first, after: first + inbox.length }
  }

  function takeOff({ seq, email }: Subscriber): void {
    statements.dropEntry.run(toHash(toIdentity(email), seed), seq)
    statements.drop.run(seq)
  }

  function removeOne(address: Address, suppress: boolean): SubscriptionState {
    const subscriber = reader.find(address)
    const state = subscriber ? 'subscribed' : suppressed.find([address]).size > 0 ? 'suppressed' : 'absent'
    if (subscriber) takeOff(subscriber)
    if (!suppress) suppressed.drop([address])
    else if (state !== 'suppressed') suppressed.keep([address], Date.now())
    return state
  }

  return {
    async import(rows): Promise<ImportTally> {
      const ranges = []
      for (const part of inParts(rows, LOCKED)) ranges.push(await locked(() => append(part)))
      await settle()
      const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
      const appended = sum(ranges.map(({ first, after }) => after - first))
      const added = sum(
        ranges.map(({ first, after }) => (statements.between.get(first, after) as { size: number }).size),
      )
      return { added, known: appended - added, suppressed: rows.length - appended }
    },

    remove: (addresses, { suppress }) =>
      exclusively(() => addresses.map((address) => removeOne(address, suppress))),

    async mergeSuppressions(suppressions): Promise<void> {
      await settle()
      const fresh = suppressed.filterNew(suppressions)
      if (fresh.length === 0) return
      const match = createMatch(fresh)
      const matches: [Subscriber, Suppression][] = []
      let last = 0
      // Almost all of the list is held against them before the lock is taken, in turns that let others in.
      for (const page of reader.list({})) {
        matches.push(...match(page))
        last = page.at(-1)?.seq ?? last
        await Bun.sleep(0)
      }
      await exclusively(() => {
        for (const page of reader.list({ after: last })) matches.push(...match(page))
        const outdated = new Set<Suppression>()
        for (const [{ email }, suppression] of matches) {
          // It may have left the list and come back since.
          const subscriber = reader.find(email)
          if (!subscriber) continue
          if (subscriber.subscribedAt < suppression.suppressedAt) takeOff(subscriber)
          else outdated.add(suppression)
        }
        suppressed.mergeSuppressions(fresh.filter((suppression) => !outdated.has(suppression)))
      })
    },
  }
}

function prepare(db: Database) {
  return {
    next: db.query(
      'SELECT first + json_array_length(addresses) AS seq FROM arrivals ORDER BY first DESC LIMIT 1',
    ),
    append: db.query(APPEND),
    between: db.query('SELECT count(*) AS size FROM subscribers WHERE seq >= ?1 AND seq < ?2'),
    drop: db.query('DELETE FROM subscribers WHERE seq = ?1'),
    dropEntry: db.query('DELETE FROM identities WHERE hash = ?1 AND seq = ?2'),
  }
}

/** Appends a batch to `inbox`. The empty row that may end the table gives its number to the batch. */
export const APPEND = `
  INSERT OR REPLACE INTO arrivals SELECT first + json_array_length(addresses), ?1, ?2
  FROM arrivals ORDER BY first DESC LIMIT 1`
