/** When a list is compacted: by the service while it is idle, and by a command before it reads. */

import type { Database } from 'bun:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Compactor } from './compaction.ts'
import { isBusy } from './error.ts'
import { runLocked } from './lock.ts'
import { getRow } from './row.ts'

/** A command compacts this many addresses under one lock, so that new ones cannot keep it from finishing. */
const MAX_LOCKED = 20_000

/** Milliseconds for which a command compacts before it pauses. */
const COMMAND_SLICE_MS = 5

/** The pause as a share of the slice while no other process writes. Long enough to notice one that begins to. */
const QUIET_PAUSE = 0.25

/**
 * The backlog that must not wait, in addresses and as a share of the list. A run writes most pages of the index once,
 * however many addresses share them, so a longer list waits for a larger backlog. Measured with ten million
 * addresses: 4.1 to 5.6 µs per address for a backlog of 100,000, and 2.0 µs for 1,000,000.
 */
const LARGE_BACKLOG = { share: 0.1, min: 100_000, max: 1_000_000 }

export type CompactionSchedule = ReturnType<typeof createSchedule>

export function createSchedule(db: Database, compactor: Compactor) {
  const highest = db.query<{ seq: number }, []>('SELECT coalesce(max(seq), 0) AS seq FROM subscribers')
  const version = db.query<{ data_version: number }, []>('PRAGMA data_version')
  let run: Generator<void> | undefined

  /** Compacts for about this many milliseconds. Returns whether more is left. */
  function compactFor(milliseconds: number): boolean {
    const end = performance.now() + milliseconds
    try {
      while (performance.now() < end) {
        run ??= compactor.run()
        if (!run.next().done) continue
        run = undefined
        if (compactor.backlog() === 0) return false
      }
      return true
    } catch (error) {
      run = undefined
      throw error
    }
  }

  /** Compacts in slices until the rest fits under one lock. */
  async function reduceBacklog(): Promise<void> {
    let seen = getRow(version).data_version
    while (compactor.backlog() > MAX_LOCKED) {
      const start = performance.now()
      try {
        compactFor(COMMAND_SLICE_MS)
      } catch (error) {
        if (!isBusy(error)) throw error
      }
      const elapsed = performance.now() - start
      const before = seen
      seen = getRow(version).data_version
      // While a service writes, pause as long as the slice took, so that the service gets the lock as often.
      await sleep(seen === before ? elapsed * QUIET_PAUSE : elapsed)
    }
  }

  /** Compacts inside the transaction of the caller. */
  const compactAll = () => compactor.run().forEach(() => {})

  /** Compacts, and does work in the same transaction, so that nothing is accepted in between. */
  async function runCompacted<T>(work: () => T): Promise<T> {
    await reduceBacklog()
    return await runLocked(db, () => {
      compactAll()
      return work()
    })
  }

  return {
    compactFor,
    compactAll,
    runCompacted,

    /** Compacts all that was accepted before the call. Takes no lock when the inbox is empty. */
    async compact(): Promise<void> {
      if (compactor.backlog() > 0) await runCompacted(() => {})
    },

    /** Whether the backlog is too large for compaction to wait until the service is idle. */
    isBacklogLarge(): boolean {
      const { share, min, max } = LARGE_BACKLOG
      return compactor.backlog() > Math.min(Math.max(min, getRow(highest).seq * share), max)
    },
  }
}
