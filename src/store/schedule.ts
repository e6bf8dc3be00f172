/** The schedule of compaction: the service compacts while it is idle, and a command before it reads or writes. */

/** The outcome of a slice of compaction. */
export interface Slice {
  /** Addresses that it took from the inbox, repeats included. */
  readonly moved: number
  /** Whether the inbox has more for the caller to move. */
  readonly left: boolean
}

/**
 * Runs a slice of compaction in one transaction, so that others can write between two slices. The list has no state of it:
 * a crash repeats what is not moved, and several processes may compact at once.
 *
 * @param until moves only what was accepted up to this number. Default: no limit.
 */
export type Compact = (until?: number) => Slice | Promise<Slice>

export interface Schedule {
  /** Call it after a commit. Compaction waits until there is no commit for IDLE_MS, or the backlog is large. */
  committed(addresses: number): void
  /** Stops compaction. Resolves when no slice is running. */
  stop(): Promise<void>
}

/** Compaction starts after this many milliseconds without a commit. */
const IDLE_MS = 250

/**
 * With more addresses than this in the inbox, a slice follows each commit. Compaction writes each page of an index once for
 * many addresses, so a large backlog costs less per address.
 */
export const LARGE_BACKLOG = 1_000_000

/** Milliseconds until compaction is tried again after a failure. */
const RETRY_MS = 2_000

/** Creates the schedule of a service. The first slice comes after IDLE_MS, for what an earlier process left. */
export function createSchedule(compact: Compact): Schedule {
  let timer: Timer | undefined
  let running: Promise<void> | undefined
  let isStopped = false
  let waiting = 0
  let retryAt = 0

  function wait(milliseconds: number): void {
    clearTimeout(timer)
    if (isStopped) return
    timer = setTimeout(start, Math.max(milliseconds, retryAt - performance.now()))
  }

  const waitForIdle = () => wait(waiting > LARGE_BACKLOG ? 0 : IDLE_MS)

  function start(): void {
    running = run().finally(() => (running = undefined))
  }

  async function run(): Promise<void> {
    const before = waiting
    try {
      const { moved, left } = await compact()
      const added = waiting - before
      waiting = left ? Math.max(0, waiting - moved) : added
      if (added > 0) waitForIdle()
      else if (left) wait(0)
    } catch {
      // Nothing is lost: the addresses stay in the inbox, on stable storage.
      retryAt = performance.now() + RETRY_MS
      wait(0)
    }
  }

  waitForIdle()

  return {
    committed(addresses) {
      waiting += addresses
      if (!running) waitForIdle()
    },
    async stop() {
      isStopped = true
      clearTimeout(timer)
      await running
    },
  }
}

/** Milliseconds between two slices of a command, so that others can write. */
const PAUSE_MS = 1

/**
 * Compacts what the inbox holds at the call, in slices, so that others can write in between. So a command sees all that
 * was confirmed before it. One that writes then takes the lock, and compacts the rest under it.
 *
 * @param lastSeq the last number that was given out before the call
 */
export async function compactUntil(lastSeq: number, compact: Compact): Promise<void> {
  while ((await compact(lastSeq)).left) await Bun.sleep(PAUSE_MS)
}
