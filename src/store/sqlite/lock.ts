/** How a command gets the lock of a SQLite list, beside a service that takes it again and again. */

import type { Database } from 'bun:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { STORE_DEADLINE_MS } from '../../limits.ts'
import { isBusy } from './file.ts'

/** For this long the lock is waited for, in milliseconds. */
const TIMEOUT_MS = 30_000

/** SQLite asks after 1, 3, 8 and 18 ms, and later only every 100 ms; so it is made to begin again. */
const ATTEMPT_MS = 20

/** Does work in a transaction of its own that has the lock from its beginning. */
export type Locked = <T>(work: () => T) => Promise<T>

/**
 * Prepares the waiting on an open file.
 *
 * The wait between attempts differs, so that several processes do not keep in step.
 */
export function createLocked(db: Database): Locked {
  return async (work) => {
    const end = performance.now() + TIMEOUT_MS
    for (;;) {
      try {
        return attempt(db, work)
      } catch (error) {
        if (!isBusy(error) || performance.now() > end) throw error
      }
      await sleep(1 + Math.random() * 4)
    }
  }
}

function attempt<T>(db: Database, work: () => T): T {
  db.run(`PRAGMA busy_timeout = ${ATTEMPT_MS}`)
  try {
    return db.transaction(work).immediate()
  } finally {
    db.run(`PRAGMA busy_timeout = ${STORE_DEADLINE_MS}`)
  }
}
