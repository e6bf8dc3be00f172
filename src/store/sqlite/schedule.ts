/** When a list is compacted: by the service while it is idle, and by a command before it reads. */

import type { Database } from 'bun:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Compactor } from './compaction.ts'
import { createCounts } from './counts.ts'
import { retryBusy, runLocked } from './lock.ts'
import { getRow } from './row.ts'

/** A command compacts this many addresses under one lock, so that new ones cannot keep it from finishing. */
const MAX_LOCKED = 20_000

/** Milliseconds for which a command compacts before it pauses. */
const COMMAND_SLICE_MS = 5

/** Milliseconds of the pause: while another process writes, and otherwise. Long enough to notice one that begins to. */
const PAUSE_MS = { busy: 5, quiet: 1 }

/**
 * The backlog that must not wait, in addresses and as a share of the list. A run writes most pages of the index once,
 * however many addresses share them, so a longer list waits for a larger backlog. Measured with ten million
 * addresses: 4.1 to 5.6 µs per address for a backlog of 100,000, and 2.0 µs for 1,000,000.
 */
const LARGE_BACKLOG = { share: 0.1, min: 100_000, max: 1_000_000 }

/** Returns the backlog that must not wait. @param subscribers the length of the list */
export function toLargeBacklog(subscribers: number): number {
  const { share, min, max } = LARGE_BACKLOG
  return Math.min(Math.max(min, subscribers * share), max)
}

export type CompactionSchedule = ReturnType<typeof createSchedule>

export function createSchedule(db: Database, compactor: Compactor) {
  const counts = createCounts(db)
  // The row that is left in an empty inbox has the time 0.
  const oldest = db.query<{ at: number }, []>(
    'SELECT accepted_at AS at FROM inbox WHERE accepted_at > 0 ORDER BY first_seq LIMIT 1',
  )
  const version = db.query<{ data_version: number }, []>('PRAGMA data_version')

  /** Compacts for about this many milliseconds. Returns whether more is left. */
  function compactFor(milliseconds: number): boolean {
    const end = performance.now() + milliseconds
    do {
      if (!compactor.step({ until: compactor.next(), milliseconds })) return false
    } while (performance.now() < end)
    return true
  }

  /** Compacts all that was accepted before the call. Takes no lock when the inbox is empty. */
  async function compact(): Promise<void> {
    if (compactor.backlog() === 0) return
    const until = compactor.next()
    let seen = getRow(version).data_version
    while (await retryBusy(db, () => compactor.step({ until, milliseconds: COMMAND_SLICE_MS }))) {
      const before = seen
      seen = getRow(version).data_version
      await sleep(seen === before ? PAUSE_MS.quiet : PAUSE_MS.busy)
    }
  }

  /** Compacts, and does work in the same transaction, so that nothing is accepted in between. */
  async function runCompacted<T>(work: () => T): Promise<T> {
    // While others write, as long as each round leaves half as much as the last one.
    for (let left = Number.POSITIVE_INFINITY; ; ) {
      const backlog = compactor.backlog()
      if (backlog <= MAX_LOCKED || backlog > left / 2) break
      left = backlog
      await compact()
    }
    return await runLocked(db, () => {
      compactor.compactAll()
      return work()
    })
  }

  return {
    compactFor,
    compactAll: compactor.compactAll,
    runCompacted,
    compact,

    /** Returns when the oldest address in the inbox was accepted, in milliseconds since 1970; undefined when it is empty. */
    inboxSince: () => oldest.get()?.at,

    /** Whether the backlog is too large for compaction to wait until the service is idle. */
    isBacklogLarge(): boolean {
      return compactor.backlog() > toLargeBacklog(counts.read().subscribers)
    },
  }
}
