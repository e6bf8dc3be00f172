/** The schedule of compaction: when a service compacts, and what it says when that fails. A command compacts before it works. */

import type { StoreOptions } from '../subscriber.ts'

/** The outcome of a slice of compaction. */
export interface Slice {
  /** By how many addresses the run is further, repeats included. Each counts once. */
  readonly done: number
  /** Whether there may be more: then another slice follows. */
  readonly hasMore: boolean
}

/**
 * Runs a slice of compaction in one transaction, so that others can write between two slices. The list has no state of it:
 * a crash repeats what is not moved, and several processes may compact at once.
 */
export type Compact = () => Slice | Promise<Slice>

export interface Schedule {
  /** Call it after each commit of addresses. */
  committed(): void
  /** Whether a slice failed, and no run has ended since. */
  isFailing(): boolean
  /** Stops compaction. Resolves when no slice is running. */
  stop(): Promise<void>
}

/** Compaction starts after this many milliseconds without a commit. */
const IDLE_MS = 250

/** It starts also while commits come in, when an address has waited for this many milliseconds. */
const MAX_WAIT_MS = 10_000

/** An address that is in the inbox for this many milliseconds shows that compaction fails, or that no process compacts. */
export const STALLED_MS = 5 * 60_000

/** Milliseconds until compaction is tried again after a failure. */
const RETRY_MS = 2_000

/**
 * Creates the schedule of a service. A run moves the inbox in slices, until a slice finds no more. The first run comes after
 * IDLE_MS, for what an earlier process left.
 */
export function createSchedule(compact: Compact, log: (level: 'info' | 'warn', text: string) => void): Schedule {
  let [isFailing, isStopped] = [false, false]
  /** When the run goes on; undefined between two runs. */
  let sliceAt: number | undefined = performance.now() + IDLE_MS
  let committedAt = Number.NEGATIVE_INFINITY
  /** The first commit that no run has followed; undefined when there is none. */
  let oldestAt: number | undefined
  /** Ends a wait early. */
  let wake = () => {}

  function toDueAt(): number {
    if (sliceAt !== undefined) return sliceAt
    return oldestAt === undefined ? Number.POSITIVE_INFINITY : Math.min(committedAt + IDLE_MS, oldestAt + MAX_WAIT_MS)
  }

  /** Waits until a slice is due, or a stop: at least for one turn of the event loop, so that others are served. */
  async function waitUntilDue(): Promise<void> {
    do {
      const awake = Promise.withResolvers<void>()
      wake = awake.resolve
      await sleep(Math.max(toDueAt() - performance.now(), 0), awake)
    } while (!isStopped && toDueAt() > performance.now())
  }

  async function runSlice(): Promise<void> {
    const startedAt = performance.now()
    if (sliceAt === undefined) oldestAt = undefined
    try {
      const { hasMore } = await compact()
      const now = performance.now()
      // While commits come in, compaction takes at most half of the time.
      const pause = now - committedAt < IDLE_MS ? now - startedAt : 0
      sliceAt = hasMore ? now + pause : undefined
      if (!hasMore && isFailing) log('info', 'compaction works again')
      isFailing &&= hasMore
    } catch (error) {
      // A stop may cut a slice off.
      if (isStopped) return
      // Nothing is lost: the addresses stay in the inbox, on stable storage.
      const reason = error instanceof Error ? error.message : String(error)
      if (!isFailing) log('warn', `compaction fails: addresses wait in the inbox: ${reason}`)
      isFailing = true
      sliceAt = performance.now() + RETRY_MS
    }
  }

  async function runAll(): Promise<void> {
    while (!isStopped) {
      await waitUntilDue()
      if (!isStopped) await runSlice()
    }
  }

  const end = runAll()

  return {
    committed() {
      committedAt = performance.now()
      if (oldestAt !== undefined) return
      oldestAt = committedAt
      wake()
    },
    isFailing: () => isFailing,
    async stop() {
      isStopped = true
      wake()
      await end
    },
  }
}

/** Resolves a promise after some milliseconds, from 0 to infinity, unless another one does before. */
async function sleep(milliseconds: number, { promise, resolve }: PromiseWithResolvers<void>): Promise<void> {
  const timer = Number.isFinite(milliseconds) ? setTimeout(resolve, milliseconds) : undefined
  await promise
  clearTimeout(timer)
}

/** Milliseconds between two slices of a command, so that others can write. */
export const PAUSE_MS = 2

/**
 * Compacts for a command, in slices, so that others can write in between. One that writes then takes the lock, and compacts
 * the rest under it.
 *
 * @param compact must move only what was accepted before the call: otherwise this may not end
 * @param total addresses in the inbox
 */
export async function compactAll(
  compact: Compact,
  total: number,
  onProgress: StoreOptions['onCompaction'],
): Promise<void> {
  let sum = 0
  for (;;) {
    const { done, hasMore } = await compact()
    sum += done
    onProgress?.(sum, total)
    if (!hasMore) return
    await Bun.sleep(PAUSE_MS)
  }
}
