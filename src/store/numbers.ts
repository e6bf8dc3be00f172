/** The numbers of subscribers come from the clock, so they tell the days of a status. The same for every store. */

import type { StatusDay } from '../subscriber.ts'

/** The moment at which the numbers of the clock begin, in milliseconds since 1970: the start of a day. */
const EPOCH_MS = Date.UTC(2026, 0, 1)

/** A clock beyond this is wrong (the year 2168). So every number stays a safe integer. */
const MAX_CLOCK_SEQ = 2 ** 52

/**
 * Returns the number of the clock: microseconds since 2026, or 0 if the clock is wrong. A batch of addresses ends at
 * `max(last_seq, number of the clock) + size`. No list accepts a million addresses per second for long, so the clock is
 * above every number that a list ever gave out, and a list that was restored, copied or failed over repeats none.
 */
export function toClockSeq(now = Date.now()): number {
  const number = (now - EPOCH_MS) * 1000
  return number > 0 && number <= MAX_CLOCK_SEQ ? number : 0
}

export const DAY_MS = 86_400_000

/** Days of a status before today. */
const DAYS = 90

/** The days of a status, in days since 1970, UTC. */
export interface DayRange {
  readonly first: number
  readonly today: number
}

/** Subscribers whose `subscribedAt` is on a day. A day may have several counts. */
export interface DayCount {
  readonly day: number
  readonly added: number
}

/** Returns the range of a status that is made now. */
export function toDayRange(): DayRange {
  const today = Math.floor(Date.now() / DAY_MS)
  return { first: today - DAYS, today }
}

/** Returns the last number that the clock gives out before a day. Nobody who came before it has a date on or after that day. */
export function toDaySeq(day: number): number {
  return (day * DAY_MS - EPOCH_MS) * 1000
}

/** An imported subscriber has a date before `seq / 1000` plus this, in milliseconds: more than a day before it came. */
export const IMPORTED_BEFORE = EPOCH_MS - DAY_MS

/**
 * Computes the days of a status.
 *
 * @param counts of all who have a date in the range, and of any others. If a clock was ahead, later days count as today
 * @param subscribers all of them. Those without a date in the range came before it
 */
export function toDays(
  { first, today }: DayRange,
  counts: Iterable<DayCount>,
  subscribers: number,
): readonly StatusDay[] {
  const added = new Map<number, number>()
  for (const count of counts) {
    const day = Math.min(count.day, today)
    added.set(day, (added.get(day) ?? 0) + count.added)
  }
  const days = Array.from({ length: today - first + 1 }, (_, index) => first + index)
  let total = days.reduce((rest, day) => rest - (added.get(day) ?? 0), subscribers)
  return days.map((day) => {
    const count = added.get(day) ?? 0
    total += count
    return { date: new Date(day * DAY_MS).toISOString().slice(0, 10), added: count, total }
  })
}
