/** The schedule of compaction: when a service compacts, and what it says when that fails. A command compacts before it works. */

import { setTimeout as sleep } from 'node:timers/promises'
import { MigratingError } from '../subscriber.ts'

/**
 * Runs a slice of compaction in one transaction, so that others can write between two slices. Returns whether there may be more.
 * The list has no state of it: a crash repeats what is not moved, and several processes may compact at once.
 */
type Compact = () => boolean | Promise<boolean>

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
  const stopping = new AbortController()
  const { signal } = stopping
  let isFailing = false
  let committedAt = performance.now()
  /** When the next run begins at the latest; undefined when no commit waits for one. */
  let dueAt: number | undefined = committedAt + IDLE_MS
  /** Set while `runAll` waits or works. */
  let runs: Promise<void> | undefined = runAll()

  /** A stop ends a pause. Even the shortest is a turn of the event loop, so that others are served. */
  async function pause(milliseconds: number): Promise<void> {
    await sleep(milliseconds, undefined, { signal }).catch(() => {})
  }

  async function runAll(): Promise<void> {
    while (dueAt !== undefined && !signal.aborted) {
      const wait = Math.min(committedAt + IDLE_MS, dueAt) - performance.now()
      if (wait > 0) {
        await pause(wait)
      } else {
        dueAt = undefined
        await runSlices()
      }
    }
    // In the same turn as the last look at `dueAt`: a commit after that begins runs of its own.
    runs = undefined
  }

  async function runSlices(): Promise<void> {
    for (let hasMore = true; hasMore && !signal.aborted; ) {
      const startedAt = performance.now()
      try {
        hasMore = await compact()
      } catch (error) {
        // A stop may cut a slice off.
        if (signal.aborted) return
        // A migration is no failure, and says itself how it goes.
        if (!(error instanceof MigratingError)) fail(error)
        await pause(RETRY_MS)
        continue
      }
      const now = performance.now()
      // While commits come in, compaction takes at most half of the time.
      if (hasMore) await pause(now - committedAt < IDLE_MS ? now - startedAt : 0)
    }
    if (isFailing && !signal.aborted) log('info', 'compaction works again')
    isFailing = false
  }

  /** Nothing is lost: the addresses stay in the inbox, on stable storage. */
  function fail(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error)
    if (!isFailing) log('warn', `compaction fails: addresses stay in the inbox until it works: ${reason}`)
    isFailing = true
  }

  return {
    committed() {
      committedAt = performance.now()
      dueAt ??= committedAt + MAX_WAIT_MS
      runs ??= runAll()
    },
    isFailing: () => isFailing,
    async stop() {
      stopping.abort()
      await runs
    },
  }
}

/** Milliseconds between two slices of a command, so that others can write. */
export const SLICE_PAUSE_MS = 2

/** Compacts for a command. @param compact must move only what was accepted before the call: otherwise this may not end */
export async function compactAll(compact: Compact): Promise<void> {
  while (await compact()) await Bun.sleep(SLICE_PAUSE_MS)
}
