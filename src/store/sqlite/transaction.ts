/** Transactions of a SQLite list, and how a command gets the write lock that a service uses all the time. */

import type { Database, SQLQueryBindings, Statement } from 'bun:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { LOCK_TIMEOUT_MS, STORE_DEADLINE_MS } from '../../limits.ts'
import { isBusy } from './error.ts'

/** SQLite's busy handler soon asks for the lock only every 100 ms, and loses to a busy service. So it is restarted. */
const ATTEMPT_MS = 20

/**
 * Repeats work that takes the write lock, until it gets it.
 *
 * @throws what the work throws; SQLITE_BUSY when the lock is not free within LOCK_TIMEOUT_MS
 */
export async function retryBusy<T>(db: Database, work: () => T): Promise<T> {
  const end = performance.now() + LOCK_TIMEOUT_MS
  for (;;) {
    db.run(`PRAGMA busy_timeout = ${ATTEMPT_MS}`)
    try {
      return work()
    } catch (error) {
      if (!isBusy(error) || performance.now() > end) throw error
    } finally {
      db.run(`PRAGMA busy_timeout = ${STORE_DEADLINE_MS}`)
    }
    // A random pause: several waiting processes must not ask in step.
    await sleep(1 + Math.random() * 4)
  }
}

/** Runs a query that always has one row. Throws when it has none. */
export function getRow<Row, Params extends SQLQueryBindings[]>(
  statement: Statement<Row, Params>,
  ...params: Params
): Row {
  const row = statement.get(...params)
  if (row === null) throw new Error(`no row: ${statement}`)
  return row
}
