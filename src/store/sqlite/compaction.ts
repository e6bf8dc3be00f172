/**
 * Compaction moves accepted addresses from the inbox into the list.
 *
 * The store accepts an address by appending it to `inbox`, as to a log. The response is the same for a new and for a
 * known address, so nothing is looked up before it. Later, compaction merges the inbox into the sorted table
 * `identity_hashes` in large batches, which costs less per address than inserting them one by one. This is a
 * log-structured merge (O'Neil et al., "The Log-Structured Merge-Tree", Acta Informatica 33, 1996).
 *
 * The seq of an address is its place in the inbox: the seq of the row, plus the position in the row. A run makes two
 * passes over a part of the inbox:
 *
 *   index    Adds (hash, seq) of every address to `identity_hashes`, in the order of the hashes, so that it writes each
 *            page once. If another address has the hash already, adds a row to `hash_matches` instead.
 *   append   Copies the addresses to the end of `subscribers` in the order of seq, and deletes them from the inbox in
 *            the same transaction. Compares those in `hash_matches` with the earlier address. An equal identity is a
 *            repeat, and is left out. A different one gets its place in `collisions`, by its text.
 *
 * For example, the list has Ann@one.example with seq 1, and a row of the inbox has bob@one.example with seq 2 and
 * ann@ONE.example with seq 3. The index pass adds the hash for 2, and a match of 3 with 1. The append pass copies
 * bob@one.example with seq 2. Seq 3 stays unused.
 *
 * Both passes work in slices, so that other connections can commit in between. How long a slice takes does not depend
 * on the hashes: no address is compared with more than one other. `compaction` says how far the run is, and each
 * slice continues from there. So a run that stopped in a crash goes on, and several processes that compact at once do
 * the slices of one run together.
 */

import type { Database } from 'bun:sqlite'
import { prepareCompaction, type Run } from './compaction-statements.ts'
import type { Counts } from './counts.ts'
import type { IdentityHash } from './identity-hash.ts'
import { createInboxScan, type InboxScan } from './inbox-scan.ts'
import { createMatchList, type MatchList } from './match-list.ts'
import { getRow } from './row.ts'
import type { Suppressions } from './suppressions.ts'

/** A run has the rows of the inbox that begin in this many addresses. */
const RUN_SIZE = 1_000_000

/** A slice of the append pass has the rows that begin in this many addresses. */
const SLICE_SIZE = 512

/** A run of this many addresses is read under the lock, in a few milliseconds: one transaction instead of three. */
const SHORT_RUN = 4096

export interface StepOptions {
  /** The seq before which all addresses of the inbox are to be moved. */
  readonly until: number
  /** The milliseconds after which no more slices are done under the same lock. */
  readonly milliseconds: number
}

interface CompactorParts {
  readonly counts: Counts
  readonly suppressions: Suppressions
  readonly hashOf: IdentityHash
}

export type Compactor = ReturnType<typeof createCompactor>

export function createCompactor(db: Database, { counts, suppressions, hashOf }: CompactorParts) {
  const statements = prepareCompaction(db)
  let scan: InboxScan | undefined
  let matches: MatchList | undefined

  /** Adds a slice to the index. */
  function index({ start, cursor }: Run, entries: InboxScan): void {
    const slice = entries.after(cursor ?? -1)
    const { changes } = statements.addEntries.run(slice.entries, start)
    if (changes < slice.size) statements.addMatches.run(slice.entries, start)
    statements.setCursor.run(slice.last ?? null)
  }

  /** Moves a slice to the list, without the repeats. */
  function append({ start, end }: Run, list: MatchList): void {
    const { last, after } = getRow(statements.sliceEnd, start, Math.min(end, start + SLICE_SIZE))
    statements.move.run(start, last)
    const found = list.between(start, after)
    if (found) {
      statements.addCollisions.run(found)
      statements.deleteRepeats.run(found)
    }
    counts.add(start, after)
    // A new subscription is a new consent. An imported address is not, but the import has left out suppressed ones.
    if (!suppressions.isEmpty()) {
      suppressions.delete(statements.moved.all(start, after).map(({ email }) => email))
    }
    // The inbox is never empty: its last row carries the next seq, so that no seq is used twice.
    statements.addEmptyRow.run(after)
    statements.deleteRows.run(start, last)
    if (after === end) statements.clearMatches.run()
  }

  /** Reads for a while what the next slice needs. Returns false when it has that. */
  function read(run: Run, milliseconds: number): boolean {
    if (run.cursor !== null) {
      if (!scan?.isOf(run)) scan = createInboxScan(run, { statements, hashOf })
      return scan.read(milliseconds)
    }
    scan = undefined
    if (!matches?.isOf(run)) matches = createMatchList(run, statements)
    return matches.read(milliseconds)
  }

  /** Does the next slice. Returns false when it has to read first, which takes no lock, or when all is moved. */
  function runSlice(until: number): boolean {
    const run = getRow(statements.run)
    if (run.start >= until) return false
    if (run.start >= run.end) statements.begin.run(Math.min(until, run.start + RUN_SIZE))
    else if (run.cursor !== null && scan?.isReady(run)) index(run, scan)
    else if (run.cursor === null && matches?.isReady(run)) append(run, matches)
    else return isShort(run) && read(run, Number.POSITIVE_INFINITY)
    return true
  }

  const next = (): number => getRow(statements.next).seq

  /**
   * Reads a part of the inbox, or does slices under one lock. Goes on where any process has stopped.
   *
   * @returns whether addresses before `until` are left
   * @throws SQLiteError such as SQLITE_BUSY; the next call tries again
   */
  function step({ until, milliseconds }: StepOptions): boolean {
    const run = getRow(statements.run)
    if (run.start >= until) return false
    if (!isShort(run) && read(run, milliseconds)) return true
    transact(db, () => {
      const end = performance.now() + milliseconds
      while (runSlice(until) && performance.now() < end);
    })
    return getRow(statements.run).start < until
  }

  return {
    /**
     * Counts the addresses in the inbox, repeats included. More when numbers were skipped while some waited: then they
     * are compacted at once.
     */
    backlog: () => getRow(statements.backlog).size,

    /** Returns the seq of the next address that is accepted. */
    next,

    step,

    /** Moves the whole inbox, in the transaction of the caller. */
    compactAll(): void {
      const until = next()
      try {
        while (step({ until, milliseconds: Number.POSITIVE_INFINITY }));
      } finally {
        // The caller may roll back. Then other addresses get the same seqs.
        scan = undefined
        matches = undefined
      }
    },
  }
}

/** Whether a run is so short that reading it needs no step of its own. Also when there is no run. */
function isShort({ start, end }: Run): boolean {
  return end - start <= SHORT_RUN
}

/**
 * Runs slices as one transaction that does not wait for the disk. The inbox is on stable storage already. The log
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
