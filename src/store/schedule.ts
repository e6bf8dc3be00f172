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
  let committedAt = performance.now()
  /** End a wait: for the next commit, and any. */
  let [onCommit, onStop] = [() => {}, () => {}]

  async function sleep(milliseconds: number): Promise<void> {
    if (isStopped) return
    const { promise, resolve } = Promise.withResolvers<void>()
    onStop = resolve
    const timer = setTimeout(resolve, milliseconds)
    await promise
    clearTimeout(timer)
  }

  async function waitForCommit(): Promise<void> {
    if (isStopped) return
    const { promise, resolve } = Promise.withResolvers<void>()
    onCommit = onStop = resolve
    await promise
  }

  /** Waits until no commit comes for IDLE_MS, or an address has waited for MAX_WAIT_MS. @param oldestAt none came earlier */
  async function waitForRun(oldestAt: number): Promise<void> {
    const dueIn = () => Math.min(committedAt + IDLE_MS, oldestAt + MAX_WAIT_MS) - performance.now()
    while (!isStopped && dueIn() > 0) await sleep(dueIn())
  }

  async function run(): Promise<void> {
    for (let hasMore = true; hasMore && !isStopped; ) {
      const startedAt = performance.now()
      try {
        hasMore = (await compact()).hasMore
        const now = performance.now()
        // While commits come in, compaction takes at most half of the time.
        if (hasMore) await sleep(now - committedAt < IDLE_MS ? now - startedAt : 0)
      } catch (error) {
        // A stop may cut a slice off.
        if (isStopped) return
        // Nothing is lost: the addresses stay in the inbox, on stable storage.
        const reason = error instanceof Error ? error.message : String(error)
        if (!isFailing) log('warn', `compaction fails: addresses wait in the inbox: ${reason}`)
        isFailing = true
        await sleep(RETRY_MS)
      }
    }
    if (isFailing && !isStopped) log('info', 'compaction works again')
    isFailing = false
  }

  async function runAll(): Promise<void> {
    await sleep(IDLE_MS)
    while (!isStopped) {
      const startedAt = performance.now()
      await run()
      const hasNew = committedAt >= startedAt
      if (!hasNew) await waitForCommit()
      await waitForRun(hasNew ? startedAt : committedAt)
    }
  }

  const end = runAll()

  return {
    committed() {
      committedAt = performance.now()
      onCommit()
    },
    isFailing: () => isFailing,
    async stop() {
      isStopped = true
      onStop()
      await end
    },
  }
}

/** Milliseconds between two slices of a command, so that others can write. */
const PAUSE_MS = 2

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
