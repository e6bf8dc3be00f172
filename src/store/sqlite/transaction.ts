/**
 * Transactions of a SQLite list, and how a process gets the write lock that others use all the time. A list that is open for writing has a
 * `busy_timeout` of 0, because SQLite's own handler soon asks only every 100 ms, and misses each gap that a busy process leaves.
 */

import type { Database, SQLQueryBindings } from 'bun:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { GIVE_UP_MS, LOCK_TIMEOUT_MS } from '../../limits.ts'
import { isBusy } from './error.ts'

const cell = new Int32Array(new SharedArrayBuffer(4))

/** Blocks the thread. `Bun.sleepSync` takes whole milliseconds. */
export function block(milliseconds: number): void {
  if (milliseconds > 0) Atomics.wait(cell, 0, 0, milliseconds)
}

/**
 * Milliseconds for which the service waits for the lock. To put a list into WAL mode, each process that opens it waits so long too. The
 * wait of the service ends before the intake gives up, so that its reason is logged.
 */
const WAIT_MS = GIVE_UP_MS - 300

/** Repeats work that takes the write lock until it gets it, and blocks the thread. @throws SQLITE_BUSY after WAIT_MS */
export function waitForLock<T>(work: () => T): T {
  const end = performance.now() + WAIT_MS
  for (;;) {
    try {
      return work()
    } catch (error) {
      if (!isBusy(error) || performance.now() > end) throw error
    }
    // At random: several waiting processes must not ask in step.
    block(0.3 + Math.random())
  }
}

/**
 * The same for a command. Its pauses are longer, so that requests go first, and do not block the thread, so that signals arrive.
 * @throws SQLITE_BUSY after LOCK_TIMEOUT_MS
 */
export async function retryBusy<T>(work: () => T): Promise<T> {
  const end = performance.now() + LOCK_TIMEOUT_MS
  for (;;) {
    try {
      return work()
    } catch (error) {
      if (!isBusy(error) || performance.now() > end) throw error
    }
    await sleep(1 + Math.random() * 4)
  }
}

/** Runs a statement that always has one row. Throws when it has none. */
export function getRow<Row>(db: Database, sql: string, ...params: readonly SQLQueryBindings[]): Row {
  const row = db.query<Row, SQLQueryBindings[]>(sql).get(...params)
  if (row === null) throw new Error(`no row: ${sql}`)
  return row
}
