/** What `rollcall doctor` reports: the same for every store. */

import { Failure } from '../failure.ts'

/** The outcome of a check. */
export interface CheckResult {
  /** What was checked, in one or two words. */
  readonly check: string
  readonly ok: boolean
  /** What was found; if it is wrong, also what to do. One line. */
  readonly message: string
}

/** A cursor that an export or a copy has saved. */
export interface SavedCursor {
  readonly file: string
  readonly cursor: number
}

/**
 * Runs a check.
 *
 * @param work returns what was found, or throws a Failure that says what is wrong and what to do
 */
export async function runCheck(check: string, work: () => string | Promise<string>): Promise<CheckResult> {
  try {
    return { check, ok: true, message: await work() }
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return { check, ok: false, message: error.message }
  }
}

/** Checks a cursor. @param readLast returns the highest number that the list has assigned */
export function checkCursor(
  { file, cursor }: SavedCursor,
  readLast: () => number | Promise<number>,
): Promise<CheckResult> {
  return runCheck(`cursor ${file}`, async () => {
    const last = await readLast()
    if (cursor <= last) return `it is at ${cursor}, and the list ends at ${last}`
    throw new Failure(
      `it is at ${cursor}, but the list ends at ${last}: it belongs to another list, or the list is an older state; put the number of the last subscriber of this list that was handed over into it`,
    )
  })
}
