/** The checks that `rollcall doctor` reports, for every store. */

import { Failure, toFileFailure } from '../failure.ts'
import type { ListHead } from '../subscriber.ts'

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
