/** When the service compacts a PostgreSQL list: while it is idle, or when the backlog is large. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../../log.ts'
import { compactWhileFree } from './compaction.ts'
import type { Pool } from './pool.ts'

/** Compaction starts after this many milliseconds without a group. It waits as long when another process has the lock. */
const IDLE_DELAY_MS = 250

/** Milliseconds until compaction is tried again after a failure. */
const RETRY_MS = 2_000

/** Accepted addresses for which compaction does not wait until the service is idle. */
const LARGE_BACKLOG = 100_000

export interface CompactionSchedule {
  /** Counts addresses that this process appended to the inbox. */
  accepted(addresses: number): void
  /** Starts no more compaction. */
  stop(): void
}

/**
 * @param pool connections of its own, so that compaction never keeps an acceptance waiting
 * @param log gets a line when compaction begins to fail, and when it works again
 */
export function createSchedule(pool: Pool, log?: Log): CompactionSchedule {
  let backlog = 0
  let isRunning = false
  let isStopped = false
  let isFailing = false
  let timer: Timer | undefined

  function schedule(milliseconds: number): void {
    clearTimeout(timer)
    if (!isStopped) timer = setTimeout(() => void run(), milliseconds)
  }

  async function run(): Promise<void> {
    isRunning = true
    const before = backlog
    try {
      if (await compactWhileFree(pool)) backlog -= before
      else await sleep(IDLE_DELAY_MS, undefined, { ref: false })
      if (isFailing) log?.info('compaction works again')
      isFailing = false
    } catch (error) {
      // Nothing is lost: the addresses stay in the inbox, on stable storage.
      if (!isFailing && !isStopped) log?.warn({ err: error }, 'compaction fails: addresses wait in the inbox')
      isFailing = true
      await sleep(RETRY_MS, undefined, { ref: false })
    }
    isRunning = false
    if (backlog > 0) schedule(toDelay())
  }

  const toDelay = () => (backlog < LARGE_BACKLOG ? IDLE_DELAY_MS : 0)

  return {
    accepted(addresses) {
      backlog += addresses
      if (!isRunning) schedule(toDelay())
    },
    stop() {
      isStopped = true
      clearTimeout(timer)
    },
  }
}
