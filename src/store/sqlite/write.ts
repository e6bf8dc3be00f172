/** What the owner changes in a SQLite list: imports, removals and merged suppressions. */

import type { Database } from 'bun:sqlite'
import type { Address } from '../../email.ts'
import {
  type ImportRow,
  type ImportTally,
  isResubscription,
  type OptOut,
  type Subscriber,
  type Suppression,
} from '../../subscriber.ts'
import { createMatch, type MayReturn, selectRows } from '../suppression-hash.ts'
import type { IdentityIndex } from './identity-index.ts'
import type { SqliteReader } from './read.ts'
import type { Removal } from './removal.ts'
import { getRow } from './row.ts'
import type { CompactionSchedule } from './schedule.ts'
import type { Suppressions } from './suppressions.ts'

/** Imported addresses in one row of the inbox, so that rows are no larger than those of a busy service. */
const ROW_SIZE = 256

/** One of so many rows of an import is looked up before the others. */
const SAMPLED = 16

/** The share of known rows from which on a look-up of all rows costs less than the compaction of the known ones. */
const MANY = 0.25

interface WriterParts {
  readonly removal: Removal
  readonly reader: SqliteReader
  readonly suppressions: Suppressions
  readonly index: IdentityIndex
  readonly schedule: CompactionSchedule
}

/** Creates the writer. Its methods are those of the store. */
export function createWriter(db: Database, { removal, reader, suppressions, index, schedule }: WriterParts) {
  const statements = prepare(db)

  /** Returns the addresses that are on the list if they are many; if they are few, compaction finds them at a lower cost. */
  function findKnown(addresses: readonly Address[]): ReadonlyMap<number, Subscriber> {
    const sample = addresses.filter((_, at) => at % SAMPLED === 0)
    return index.find(sample).size < sample.length * MANY ? new Map() : index.find(addresses)
  }

  /**
   * Appends rows to the inbox and compacts them in the transaction of the caller: one lock and one sync. Compaction
   * deletes the suppressions of those that may return. Leaves out what `findKnown` has found; nobody on the list is
   * suppressed.
   */
  function importRows<Row extends ImportRow>(rows: readonly Row[], mayReturn: MayReturn<Row>): ImportTally {
    const now = Date.now()
    const found = findKnown(rows.map(({ email }) => email))
    const others = found.size === 0 ? rows : rows.filter((_, at) => !found.has(at))
    const suppressed = suppressions.find(others.map(({ email }) => email))
    const addresses = selectRows(others, suppressed, mayReturn).map(({ email, subscribedAt }) => [
      email,
      subscribedAt?.getTime() ?? now,
    ])
    if (addresses.length === 0) return { added: 0, known: found.size, suppressed: others.length }
    const { seq } = getRow(statements.next)
    for (let start = 0; start < addresses.length; start += ROW_SIZE) {
      statements.append.run(now, JSON.stringify(addresses.slice(start, start + ROW_SIZE)))
    }
    schedule.compactAll()
    const { added } = getRow(statements.countFrom, seq)
    const known = found.size + addresses.length - added
    return { added, known, suppressed: others.length - addresses.length }
  }

  /** Removes subscribers from before their suppression. Returns the suppressions of the others: they are outdated. */
  function removeMatches(matches: readonly (readonly [Subscriber, Suppression])[]): Set<Suppression> {
    const outdated = new Set<Suppression>()
    for (const [{ email }, suppression] of matches) {
      // Read again: since the match, the address may have left the list and come back.
      const subscriber = reader.find(email)
      if (!subscriber) continue
      if (isResubscription(subscriber, suppression.suppressedAt)) outdated.add(suppression)
      else removal.removeSubscriber(subscriber)
    }
    return outdated
  }

  return {
    import: (rows: readonly ImportRow[]) => schedule.runCompacted(() => importRows(rows, () => false)),

    mergeSubscribers: (subscribers: readonly Subscriber[]) =>
      schedule.runCompacted(() => importRows(subscribers, isResubscription)),

    remove: (addresses: readonly Address[], { suppress }: { readonly suppress: boolean }) =>
      schedule.runCompacted(() => removal.removeAddresses(addresses, suppress)),

    suppress: (rows: readonly OptOut[], { removeUndated }: { readonly removeUndated: boolean }) =>
      schedule.runCompacted(() => removal.suppressOptOuts(rows, removeUndated)),

    async mergeSuppressions(merged: readonly Suppression[], signal?: AbortSignal): Promise<void> {
      await schedule.compact()
      const added = suppressions.filterNew(merged)
      if (added.length === 0) return
      const match = createMatch(added)
      const matches: [Subscriber, Suppression][] = []
      let last = 0
      // Most of the list is compared before the lock is taken. The pauses let other work of this process run.
      for (const page of reader.list({})) {
        matches.push(...match(page))
        last = page.at(-1)?.seq ?? last
        await Bun.sleep(0)
        signal?.throwIfAborted()
      }
      await schedule.runCompacted(() => {
        for (const page of reader.list({ after: last })) matches.push(...match(page))
        const outdated = removeMatches(matches)
        suppressions.merge(added.filter((suppression) => !outdated.has(suppression)))
      })
    },
  }
}

/** Appends a batch to the inbox, at the next seq. An empty last row has that seq already, and is replaced. */
export function prepareAppend(db: Database) {
  return db.query<never, [acceptedAt: number, addresses: string]>(
    `INSERT OR REPLACE INTO inbox SELECT first_seq + json_array_length(addresses), ?1, ?2
     FROM inbox ORDER BY first_seq DESC LIMIT 1`,
  )
}

function prepare(db: Database) {
  return {
    append: prepareAppend(db),
    next: db.query<{ seq: number }, []>(
      'SELECT first_seq + json_array_length(addresses) AS seq FROM inbox ORDER BY first_seq DESC LIMIT 1',
    ),
    countFrom: db.query<{ added: number }, [seq: number]>('SELECT count(*) AS added FROM subscribers WHERE seq >= ?1'),
  }
}
