/**
 * The numbers of subscribers come from the clock, so a status finds by them who came in its days, and who was imported. The same for every
 * store.
 */

import { type StatusDay, StoreError } from '../subscriber.ts'

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

/** Returns when a subscriber came to the list, by the clock that gave out the number. */
export function toSeqDate(seq: number): Date {
  return new Date(EPOCH_MS + seq / 1000)
}

/**
 * Returns the time of a clock that gives out dates, in milliseconds since 1970. A Raspberry Pi, for example, starts in 1970, until a
 * time server answers: a person who subscribes then would be older than every opt-out. Every store asks before it accepts.
 *
 * @param now of the clock of a database server. Default: that of this machine
 * @throws StoreError when the clock is before the year in which Rollcall was released
 */
export function checkClock(now = Date.now()): number {
  if (now >= EPOCH_MS) return now
  throw new StoreError(
    'the clock is before 2026, when Rollcall was released: set it, or wait for the time server (NTP)',
  )
}

/** The start of 1971, in milliseconds since 1970. An earlier date is of a clock that was not set; email is not older, and an import takes none. */
export const FIRST_DATE_MS = Date.UTC(1971, 0, 1)

/** Milliseconds of a day. */
export const DAY_MS = 86_400_000

/** Days of a status before today. */
const DAYS = 90

/** Subscribers whose `subscribedAt` is on a day, in days since 1970, UTC. A day may have several counts. */
export interface DayCount {
  readonly day: number
  readonly added: number
}

/** Returns the first day of a status that is made now, in days since 1970, UTC. */
export function toFirstDay(): number {
  return Math.floor(Date.now() / DAY_MS) - DAYS
}

/** Returns the last number before a day: every number above it is of that day or later. */
export function toDaySeq(day: number): number {
  return (day * DAY_MS - EPOCH_MS) * 1000
}

/**
 * Milliseconds to add to `seq / 1000` for the time a day before a subscriber came to the list: a number is in microseconds since
 * 2026. Somebody who came on 2026-01-03 at 00:00 UTC has the number 172,800,000,000; 172,800,000 ms and this sum are
 * 2026-01-02 at 00:00. A subscriber whose date is earlier than that was imported with the date.
 */
export const DAY_BEFORE_SEQ_MS = EPOCH_MS - DAY_MS

/**
 * Computes the days of a status from the first one. If a clock was ahead, later days count as today.
 *
 * @param subscribers all of them. Those whom no day counts came before the first one
 */
export function toDays(first: number, counts: Iterable<DayCount>, subscribers: number): readonly StatusDay[] {
  const added = new Array<number>(DAYS + 1).fill(0)
  for (const count of counts) {
    const index = Math.min(count.day - first, DAYS)
    if (index >= 0) added[index] = (added[index] ?? 0) + count.added
  }
  const inTheseDays = added.reduce((sum, count) => sum + count, 0)
  let total = subscribers - inTheseDays
  return added.map((count, index) => {
    total += count
    return { date: new Date((first + index) * DAY_MS).toISOString().slice(0, 10), added: count, total }
  })
}
