/** The checks that `rollcall doctor` reports, for every store. */

import { Failure, toFileFailure } from '../failure.ts'
import { type ListHead, StoreError } from '../subscriber.ts'
import { STALLED_MS } from './schedule.ts'

/** The outcome of a check. */
export interface CheckResult {
  /** What was checked, in one or two words. */
  readonly check: string
  readonly ok: boolean
  /** What was found; if it is wrong, also what to do. One line. */
  readonly message: string
}

/** Compares a saved cursor with the head of the list, as the work of `runCheck`. */
export type CursorCheck = (head: ListHead) => string

/**
 * Runs a check.
 *
 * @param work returns what was found, or throws a Failure that says what is wrong and what to do, or an error of the file
 * system
 */
export async function runCheck(check: string, work: () => string | Promise<string>): Promise<CheckResult> {
  try {
    return { check, ok: true, message: await work() }
  } catch (error) {
    const failure = toFileFailure(error)
    if (!(failure instanceof Failure)) throw error
    return { check, ok: false, message: failure.message }
  }
}

/**
 * Checks that the addresses in an inbox do not wait much longer than they should.
 *
 * @param inbox how many addresses it has, and when the oldest was accepted, if there is one
 * @param tryCompaction compacts a part, and takes it back
 * @returns what was found
 * @throws StoreError when nobody compacts, or compaction fails
 */
export async function checkInbox(
  { size, since }: { readonly size: number; readonly since: Date | undefined },
  tryCompaction: () => unknown,
): Promise<string> {
  const text = `waiting for compaction: ${size.toLocaleString('en')}`
  if (!since) return text
  const found = `${text}, the oldest since ${since.toISOString()}`
  if (Date.now() - since.getTime() < STALLED_MS) return found
  try {
    await tryCompaction()
  } catch (error) {
    throw new StoreError(`${found}, and compaction fails: ${error instanceof Error ? error.message : error}`)
  }
  throw new StoreError(`${found}, and no process compacts: start the service, or run "rollcall count"`)
}
