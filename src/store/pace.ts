/** How much a process does at a time, mostly under the lock of a list: as many rows as take a short time. The same for every store. */

interface PaceLimits {
  /** Milliseconds that a piece of work should take, and hold the lock if it needs it. */
  readonly milliseconds: number
  /** Rows of the first piece. */
  readonly first: number
  readonly least: number
  readonly most: number
}

/**
 * Creates the pace of one process on one list, whether it is empty or has ten million subscribers on a slow disk. A size at most
 * doubles, because one fast piece says little about the next.
 */
export function createPace({ milliseconds: goal, first, least, most }: PaceLimits) {
  let next = first
  return {
    /** Rows of the next piece of work. */
    size: () => next,
    /** Call it after a piece of work. @param milliseconds for which it held the lock */
    record(rows: number, milliseconds: number): void {
      // The last piece of some work is small and fast, and says nothing about a full one.
      if (rows < next && milliseconds <= goal) return
      const wanted = Math.min((rows * goal) / Math.max(milliseconds, 1), 2 * next)
      next = Math.round(Math.min(Math.max(wanted, least), most))
    },
  }
}
