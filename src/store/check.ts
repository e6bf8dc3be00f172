/** What `rollcall doctor` checks on every store, and other texts that all stores share. */

import { Failure, toFileFailure } from '../failure.ts'
import { type ListHead, StoreError } from '../subscriber.ts'
import { toCount, toNumber } from '../words.ts'
import { DAY_MS, FIRST_DATE_MS, toSeqDate } from './numbers.ts'
import { STALLED_MS } from './schedule.ts'

/** The outcome of a check. */
export interface CheckResult {
  /** What was checked, in one or two words. */
  readonly check: string
  /** Null: it could not be checked here, and `message` says why. */
  readonly ok: boolean | null
  /** What was found; if it is wrong, also what to do. One line. */
  readonly message: string
}

/** The subscribers after a cursor, without those in reserved domains, whom only --include-reserved exports. */
export interface Waiting {
  readonly count: number
  /** The number of the first one; null when there is none. */
  readonly first: number | null
}

/** Compares a saved cursor with the head of the list, as the work of `runCheck`. @param readWaiting reads who comes after a number */
export type CursorCheck = (head: ListHead, readWaiting: (after: number) => Promise<Waiting>) => Promise<string>

/** Checks since when subscribers wait to be handed over. @param cursor says which one it is. @throws StoreError after a day */
export function checkWaiting(cursor: string, { count, first }: Waiting): string {
  if (first === null) return `${cursor}; nobody waits`
  const since = toSeqDate(first)
  const found = `${cursor}; ${toCount(count, 'subscriber')} waiting to be handed over, the first since ${since.toISOString()}`
  if (Date.now() - since.getTime() < DAY_MS) return found
  throw new StoreError(`${found}: the log of the hand-over says why, such as: journalctl --unit rollcall-sync@NAME`)
}

/** The work of a check throws it, with the reason, when it cannot look. That is neither right nor wrong. */
export class NotChecked extends Error {
  override readonly name = 'NotChecked'
}

/** Runs a check. Its work returns what was found, or throws a Failure, a NotChecked or an error of the file system. */
export async function runCheck(check: string, work: () => string | Promise<string>): Promise<CheckResult> {
  try {
    return { check, ok: true, message: await work() }
  } catch (error) {
    if (error instanceof NotChecked) return { check, ok: null, message: error.message }
    const failure = toFileFailure(error)
    if (!(failure instanceof Failure)) throw error
    return { check, ok: false, message: failure.message }
  }
}

/** Checks since when the oldest address of an inbox waits. @throws StoreError when nobody compacts */
export function checkInbox(size: number, since: Date | undefined): string {
  const text = `waiting for compaction: ${toNumber(size)}`
  if (!since) return text
  const found = `${text}, the oldest since ${since.toISOString()}`
  if (Date.now() - since.getTime() < STALLED_MS) return found
  throw new StoreError(`${found}: start the service, or run "rollcall count": it compacts, or says why it cannot`)
}

/** Milliseconds by which two clocks may differ. */
const CLOCK_TOLERANCE_MS = 60_000

/** Finds subscriptions of a clock that was wrong. @throws StoreError; as `checkLatest` */
export function checkDates({
  first,
  last,
}: {
  readonly first: Date | undefined
  readonly last: Date | undefined
}): string {
  if (!first || first.getTime() >= FIRST_DATE_MS) return checkLatest(last)
  throw new StoreError(
    `the earliest subscription is of ${first.toISOString()}, when the clock was not set, so that older opt-outs remove people; to give these people the date of today, run: ${toRedate(first)}`,
  )
}

/**
 * The commands that give people the date of today. Each step may fail, and the owner then runs all of them again. After the removal, only
 * the file has the addresses. So a file that is there is not replaced, and it is deleted when they are back on the list. Its name has
 * the time of the first one, so that it is not the file of another list.
 */
function toRedate(first: Date): string {
  const file = `early-${first.getTime()}.txt`
  return [
    `{ test -e ${file} || rollcall export --include-reserved --until 1970-12-31 --format txt --out ${file}; }`,
    `rollcall remove --forget - < ${file}`,
    `rollcall import --yes ${file}`,
    `rm ${file}`,
  ].join(' && ')
}

/** Finds a subscription of the future, which a wrong clock leaves: the list would never be silent. @throws StoreError */
export function checkLatest(latest: Date | undefined): string {
  if (!latest) return 'there is no subscription'
  const date = latest.toISOString()
  if (latest.getTime() <= Date.now() + CLOCK_TOLERANCE_MS) return `the latest subscription is of ${date}`
  throw new StoreError(
    `the latest subscription is of ${date}, in the future: set the clock; to see such addresses, run: rollcall export --include-reserved --since ${new Date().toISOString()}`,
  )
}

/** Why a list is not made a copy of another one. */
export const NOT_EMPTY = 'the list to copy to is not empty: use "rollcall export" and "rollcall import" instead'

/** The warning of a service that found no list. @param place the path of the new one, or its URL without a password */
export const toNewList = (place: string): string =>
  `a new, empty list was created: ${place}; if there was a list, stop the service, and correct DATABASE_URL or restore a backup`
