/** The batches of a change, one transaction each, with pauses in which others get the lock; and the count of what an import would do. */

import { type Address, toIdentity } from '../email.ts'
import type {
  ChangeOptions,
  Found,
  ImportRow,
  ImportTally,
  OptOut,
  OptOutRule,
  OptOutTally,
  SubscriberStore,
  SubscriptionState,
} from '../subscriber.ts'
import {
  type ChangePlan,
  importRow,
  optOutRow,
  planRows,
  type RowChange,
  removeRow,
  toImportTally,
  toOptOutTally,
} from './changes.ts'
import { createPace } from './pace.ts'

/** The most rows of a batch. Imports and opt-outs are sorted so many at a time, but an import of no more is not sorted. */
const PART = 50_000

/** The pace of batches, in rows. */
const PACE = {
  // A request may have to wait for two batches.
  milliseconds: 60,
  // Nothing is measured yet.
  first: 500,
  // Each batch has a sync. And where a process gets little of the processor, a small batch takes long too.
  least: 500,
  most: PART,
} as const

/** Milliseconds between two batches. A service that waits for the lock asks for it several times in between. */
const BATCH_PAUSE_MS = 10

/** What a store does in one transaction: it looks the addresses up under its lock, and writes what is planned. */
export interface Batch<Outcome> {
  readonly addresses: readonly Address[]
  /** Gets what the list holds of each address, and the time by the clock of the list. */
  readonly plan: (found: readonly Found[], now: Date) => ChangePlan<Outcome>
}

export interface Written<Outcome> extends Pick<ChangePlan<Outcome>, 'outcomes'> {
  /**
   * When the store had the lock, by `performance.now()`. The pace counts from here: PostgreSQL moves the inbox before, and that does not
   * count.
   */
  readonly lockedAt: number
}

/** Creates the methods of a store that change it. @param write writes a batch durably, under the lock and when the inbox is empty */
export function createBatches(
  write: <Outcome>(batch: Batch<Outcome>) => Promise<Written<Outcome>>,
): Pick<SubscriberStore, 'import' | 'suppress' | 'remove'> {
  const pace = createPace(PACE)

  /** Writes all rows, and returns the outcome of each. */
  async function writeRows<Row extends { readonly email: Address }, Outcome>(
    rows: readonly Row[],
    change: RowChange<Row, Outcome>,
    { signal, onProgress }: ChangeOptions,
  ): Promise<Outcome[]> {
    const written: (readonly Outcome[])[] = []
    for (let done = 0; done < rows.length; ) {
      if (done > 0) await Bun.sleep(BATCH_PAUSE_MS)
      signal?.throwIfAborted()
      const batch = rows.slice(done, done + pace.size())
      const { outcomes, lockedAt } = await write<Outcome>({
        addresses: batch.map(({ email }) => email),
        plan: (found, now) => planRows(batch, change, found, now),
      })
      pace.record(batch.length, performance.now() - lockedAt)
      written.push(outcomes)
      done += batch.length
      onProgress?.(done)
    }
    return written.flat() as Outcome[]
  }

  return {
    import: async (rows, options = {}) => {
      // Up to PART rows keep their order, which an owner sees in exports.
      const sorted = rows.length <= PART ? rows : sortParts(rows)
      return toImportTally(await writeRows(sorted, importRow, options))
    },
    suppress: async (rows, { removeUndated, upTo, ...options }) =>
      toOptOutTally(await writeRows(sortParts(rows), optOutRow({ removeUndated, upTo }), options)),
    async remove(addresses, { suppress, ...options }) {
      // All of them together: a removal gives no numbers, so the order of the addresses is only needed for the result.
      const sorted = sortByIdentity(addresses.map((email) => ({ email })))
      const rows = sorted.map(({ row }) => row)
      const states = await writeRows(rows, removeRow({ suppress }), options)
      const inOrder = Array.from<SubscriptionState>({ length: states.length })
      for (const [index, { position }] of sorted.entries()) {
        const state = states[index]
        if (state) inOrder[position] = state
      }
      return inOrder
    },
  }
}

/**
 * Sorts rows by identity, PART rows at a time, so that a batch changes few pages of the identities, next to those of the batch before. A
 * batch that changes many pages writes and syncs more, and requests wait for that.
 */
function sortParts<Row extends { readonly email: Address }>(rows: readonly Row[]): readonly Row[] {
  const starts = Array.from({ length: Math.ceil(rows.length / PART) }, (_, part) => part * PART)
  return starts.flatMap((start) => sortByIdentity(rows.slice(start, start + PART)).map(({ row }) => row))
}

/** Sorts rows by identity, with their positions. Rows of one person keep their order. */
function sortByIdentity<Row extends { readonly email: Address }>(rows: readonly Row[]) {
  return withIdentities(rows).sort((one, other) => compare(one.identity, other.identity))
}

function withIdentities<Row extends { readonly email: Address }>(rows: readonly Row[]) {
  return rows.map((row, position) => ({ row, identity: toIdentity(row.email), position }))
}

/** Compares letter by letter, as the stores do. The comparison of a language is slow, and has another order. */
function compare(one: string, other: string): number {
  if (one < other) return -1
  if (one > other) return 1
  return 0
}

/** Addresses that a count looks up at a time. All are sorted, so most pages of the identities of a large list are read by one look-up. */
const PAGE = 10_000

/** What an import would do to a list, row by row. */
export interface ImportCount {
  readonly tally: OptOutTally & ImportTally
  /** Subscribers of the list before; 0 when nobody would be removed. */
  readonly size: number
  /** The outcome of each row, in their order. */
  readonly optOuts: readonly (keyof OptOutTally)[]
  readonly subscribers: readonly (keyof ImportTally)[]
  /**
   * The outcome of each skipped row as if it were an opt-out, with or without a date, on the list before the import. `removed` or `kept`: a
   * subscriber. `suppressed`: anybody else.
   */
  readonly skipped: readonly (keyof OptOutTally)[]
}

/** The rows of an import. Those that are skipped are only looked up. */
interface ImportRows {
  readonly optOuts: readonly OptOut[]
  readonly subscribers: readonly ImportRow[]
  readonly skipped?: readonly OptOut[]
}

/**
 * Counts what an import would do: opt-outs first, then subscribers. It changes nothing, except that the inbox is compacted, as for
 * everybody who reads. It gives way to others after each page.
 *
 * @param store undefined when there is no list yet
 */
export async function countImport(
  store: Pick<SubscriberStore, 'lookUp' | 'count'> | undefined,
  { optOuts, subscribers, skipped = [] }: ImportRows,
  { removeUndated, upTo, signal, onProgress }: ChangeOptions & OptOutRule,
): Promise<ImportCount> {
  const now = new Date()
  /** What the rows before changed, by identity. */
  const changed = new Map<string, Found>()
  let done = 0

  async function countRows<Row extends { readonly email: Address }, Outcome>(
    rows: readonly Row[],
    change: RowChange<Row, Outcome>,
  ): Promise<readonly Outcome[]> {
    // Without a list, nothing is read, and a large file takes seconds to sort.
    const sorted = store ? sortByIdentity(rows) : withIdentities(rows)
    const outcomes = Array.from<Outcome>({ length: rows.length })
    for (let start = 0; start < sorted.length; start += PAGE) {
      // A signal of the system arrives in a turn of the event loop, and the work of a SQLite list is all microtasks.
      await Bun.sleep(0)
      signal?.throwIfAborted()
      const page = sorted.slice(start, start + PAGE)
      const found = await store?.lookUp(page.map(({ row }) => row.email))
      for (const [index, { row, identity, position }] of page.entries()) {
        const before = changed.get(identity) ?? found?.[index] ?? NOT_FOUND
        const [after, outcome] = change(row, before, now)
        // Only that somebody would be on the list counts for a later row. So one object stands for all who would be: a large file has
        // many of them.
        if (after !== before) changed.set(identity, after.subscriber ? LISTED : after)
        outcomes[position] = outcome
      }
      done += page.length
      onProgress?.(done)
    }
    return outcomes
  }

  const optOut = optOutRow({ removeUndated: true, upTo })
  const onlyLookUp: typeof optOut = (row, state, at) => [state, optOut(row, state, at)[1]]
  const skippedOutcomes = await countRows(skipped, onlyLookUp)
  const optOutOutcomes = await countRows(optOuts, optOutRow({ removeUndated, upTo }))
  const importOutcomes = await countRows(subscribers, importRow)
  const tally = { ...toOptOutTally(optOutOutcomes), ...toImportTally(importOutcomes) }
  // Only a removal is compared with the size, and to count takes a second on a large list.
  const size = store && tally.removed > 0 ? (await store.count()).subscribers : 0
  return { tally, size, optOuts: optOutOutcomes, subscribers: importOutcomes, skipped: skippedOutcomes }
}

const NOT_FOUND: Found = {}

/** Stands for everybody who would be on the list. Nobody reads whose address it is. */
const LISTED: Found = { subscriber: { seq: 0, email: 'added@example.org' as Address, subscribedAt: new Date(0) } }
