/**
 * How much a process does under the lock of a list: as many rows as take a short time. So nobody waits for a command, whether
 * the list is empty or has ten million subscribers on a slow disk. The same for every store.
 */

import { type Address, toIdentity } from '../email.ts'
import { CHANGE_BATCH } from '../limits.ts'

/** Counts how long work held the lock, and says how much to do next time. */
export interface Pace {
  /** Rows of the next piece of work. */
  size(): number
  /** Call it after a piece of work. @param milliseconds for which it held the lock */
  record(rows: number, milliseconds: number): void
}

export interface PaceLimits {
  /** Milliseconds for which a piece of work should hold the lock. */
  readonly milliseconds: number
  /** Rows of the first piece. */
  readonly first: number
  readonly least: number
  readonly most: number
}

/**
 * The pace of imports, opt-outs and removals. A request may wait for two batches, so each is shorter than 0.1 s. It begins small:
 * the first batch must not be too long either.
 */
const CHANGES: PaceLimits = { milliseconds: 60, first: 500, least: 50, most: CHANGE_BATCH }

/** Creates the pace of one process on one list. A size at most doubles, because one fast piece says little about the next. */
export function createPace({ milliseconds: goal, first, least, most }: PaceLimits = CHANGES): Pace {
  let next = first
  return {
    size: () => next,
    record(rows, milliseconds) {
      // The rest of a list is small and fast, and says nothing about a full piece.
      if (rows < next && milliseconds <= goal) return
      const wanted = Math.min((rows * goal) / Math.max(milliseconds, 1), 2 * next)
      next = Math.round(Math.min(Math.max(wanted, least), most))
    },
  }
}

/** Milliseconds between two batches. A service that waits for the lock asks for it several times in between. */
const PAUSE_MS = 10

/** Cuts the rows of a command into batches for one change each, and pauses between two. */
export async function* toBatches<Row>(rows: readonly Row[], pace: Pick<Pace, 'size'>): AsyncGenerator<readonly Row[]> {
  for (let start = 0; start < rows.length; ) {
    if (start > 0) await Bun.sleep(PAUSE_MS)
    const batch = rows.slice(start, start + pace.size())
    start += batch.length
    yield batch
  }
}

/**
 * Sorts the rows of a file by identity, CHANGE_BATCH rows at a time, so that a batch changes few pages of the list, next to
 * those of the batch before. A file of at most so many rows keeps its order, which an owner sees in exports.
 */
export function sortParts<Row extends { readonly email: Address }>(rows: readonly Row[]): readonly Row[] {
  if (rows.length <= CHANGE_BATCH) return rows
  const starts = Array.from({ length: Math.ceil(rows.length / CHANGE_BATCH) }, (_, part) => part * CHANGE_BATCH)
  return starts.flatMap((start) => sortByIdentity(rows.slice(start, start + CHANGE_BATCH)))
}

/** Returns rows in the order of their identities, in which each page of an index is written once. */
export function sortByIdentity<Row extends { readonly email: Address }>(rows: readonly Row[]): readonly Row[] {
  return rows
    .map((row) => ({ row, identity: toIdentity(row.email) }))
    .sort((one, other) => (one.identity < other.identity ? -1 : Number(one.identity > other.identity)))
    .map(({ row }) => row)
}
