/**
 * Compaction moves accepted addresses from the inbox into the list.
 *
 * The store accepts an address by appending it to `inbox`, as to a log. The response is the same for a new and for a
 * known address, so nothing is looked up before it. Later, compaction merges the inbox into the sorted table
 * `identities` in large batches, which costs less per address than inserting them one by one. This is a
 * log-structured merge (O'Neil et al., "The Log-Structured Merge-Tree", Acta Informatica 33, 1996).
 *
 * The seq of an address is its place in the inbox: the seq of the row, plus the position in the row. A run makes two
 * passes over the inbox:
 *
 *   index    Adds (hash, seq) of every address to `identities`, in the order of the hashes, so that it writes each page
 *            once. If an earlier seq has the same identity, the address is a repeat: its entry is deleted again.
 *   append   Copies the addresses, without the repeats, to the end of `subscribers` in the order of seq, and deletes
 *            them from the inbox in the same transaction.
 *
 * For example, the list has Ann@one.example with seq 1, and a row of the inbox has bob@one.example with seq 2 and
 * ann@ONE.example with seq 3. The index pass adds entries for 2 and 3, and deletes the one for 3. The append pass
 * copies bob@one.example with seq 2. Seq 3 stays unused.
 *
 * Both passes work in slices, one transaction each, so that other connections can commit in between. A crash between
 * two slices loses nothing: an address stays in the inbox until it is in `subscribers`, and the next run repeats the
 * index pass with the same result. Several processes may compact at once: each slice first checks that the inbox
 * still starts where the run left it. If it does not, another process has moved rows, and the run ends.
 */

import type { Database } from 'bun:sqlite'
import { type Address, toIdentity } from '../../email.ts'
import { createBuckets } from './buckets.ts'
import { prepareCompaction } from './compaction-statements.ts'
import { createIdentityHash } from './identity-hash.ts'
import { getRow } from './row.ts'
import type { Suppressions } from './suppressions.ts'

/** A run stops reading the inbox after the row that reaches this many addresses. */
const RUN_SIZE = 1_000_000

/** Rows of the inbox in a slice of the scan and of the append pass. */
const SLICE_ROWS = 32

/** A run keeps this many addresses in memory to compare with. It reads others again, at 15 µs each. */
const CACHED_ADDRESSES = 131_072

/** An address in the inbox. Imported ones have their own date, in milliseconds since 1970. */
type InboxAddress = Address | readonly [email: Address, subscribedAt: number]

export type Compactor = ReturnType<typeof createCompactor>

export function createCompactor(db: Database, suppressions: Suppressions) {
  const hashOf = createIdentityHash(db)
  const statements = prepareCompaction(db)
  const readStart = () => getRow(statements.start).seq

  /** Reads the inbox: all hashes, the first addresses, and the seq of the last row. */
  function* scan(start: number) {
    const buckets = createBuckets()
    const cached: Address[] = []
    let last = start - 1
    for (let size = 0; size < RUN_SIZE; ) {
      const rows = statements.scan.all(last, SLICE_ROWS)
      for (const { seq, addresses } of rows) {
        const batch: InboxAddress[] = JSON.parse(addresses)
        // An empty row is the last one, and the next commit replaces it.
        if (batch.length === 0) return { start, last, buckets, cached }
        batch.forEach((item, index) => {
          const email = typeof item === 'string' ? item : item[0]
          const position = seq + index - start
          buckets.add(hashOf(email), position)
          if (position < CACHED_ADDRESSES) cached[position] = email
        })
        size += batch.length
        last = seq
      }
      if (rows.length === 0) break
      yield
    }
    return { start, last, buckets, cached }
  }

  /** Adds a slice to the index, without the repeats. Returns the seqs of the repeats. */
  function index(entries: string, start: number, cached: readonly Address[]): number[] {
    const repeats: number[] = []
    const identityOf = (seq: number) => {
      const email = cached[seq - start] ?? getRow(statements.email, seq).email
      return email && toIdentity(email)
    }
    statements.addEntries.run(entries, start)
    // In the order of seq. Deleting a repeat at once leaves few entries to compare the next one with.
    for (const { hash, seq } of statements.sameHash.all(entries, start)) {
      const identity = identityOf(seq)
      if (!statements.earlier.all(hash, seq).some((earlier) => identityOf(earlier.seq) === identity)) continue
      statements.deleteEntry.run(hash, seq)
      repeats.push(seq)
    }
    return repeats
  }

  /** Moves a slice to the list, without the repeats. Takes these from `repeats`. Returns the next seq. */
  function append(start: number, last: number, repeats: number[]): number {
    const { end, after } = getRow(statements.sliceEnd, start, last, SLICE_ROWS)
    const skipped = takeBelow(after, repeats)
    statements.move.run(start, end, JSON.stringify(skipped))
    // A new subscription is a new consent. An imported address is not, but the import has left out suppressed ones.
    if (!suppressions.isEmpty()) {
      suppressions.delete(statements.moved.all(start, after).map(({ email }) => email))
    }
    // The inbox is never empty: its last row carries the next seq, so that no seq is used twice.
    statements.addEmptyRow.run(after)
    statements.deleteRows.run(start, end)
    return after
  }

  /** Runs a slice, unless another process has moved rows of the inbox since. */
  const runSlice = <T>(start: number, work: () => T): T | undefined =>
    transact(db, () => (readStart() === start ? work() : undefined))

  /**
   * Compacts what is in the inbox now, at most about a million addresses. Yields after each slice. Inside a
   * transaction of the caller, all slices are part of it.
   */
  function* run(): Generator<void> {
    const { start, last, buckets, cached } = yield* scan(readStart())
    if (last < start) return

    const repeats: number[] = []
    for (const entries of buckets.slices()) {
      const found = runSlice(start, () => index(entries, start, cached))
      if (!found) return
      repeats.push(...found)
      yield
    }

    // From the highest to the lowest, for takeBelow.
    repeats.sort((a, b) => b - a)
    let next: number | undefined = start
    while (next !== undefined && next <= last) {
      const from: number = next
      next = runSlice(from, () => append(from, last, repeats))
      yield
    }
  }

  return {
    /** Counts the addresses in the inbox, repeats included. */
    backlog: () => getRow(statements.backlog).size,
    run,
  }
}

/** Removes the numbers below a limit from the end of a descending array. Returns them. */
function takeBelow(limit: number, descending: number[]): number[] {
  const end = descending.findLastIndex((seq) => seq >= limit) + 1
  return descending.splice(end)
}

/**
 * Runs a slice as one transaction that does not wait for the disk. The inbox is on stable storage already. The log
 * keeps the order of commits, so a power cut undoes the last slices as a whole.
 */
function transact<T>(db: Database, work: () => T): T {
  if (db.inTransaction) return work()
  db.run('PRAGMA synchronous = NORMAL')
  try {
    return db.transaction(work).immediate()
  } finally {
    db.run('PRAGMA synchronous = FULL')
  }
}
