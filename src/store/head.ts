/** The head of a list: its id, the key of its suppressions, and its numbers. The same in every store. */

import { randomBytes } from 'node:crypto'
import { type Address, toIdentity } from '../email.ts'
import type { ListHead } from '../subscriber.ts'

/** The moment at which the numbers of the clock begin, in milliseconds since 1970: the start of a day. */
export const EPOCH_MS = Date.UTC(2026, 0, 1)

/** A clock beyond this is wrong (the year 2168). So every number stays a safe integer. */
const MAX_CLOCK_SEQ = 2 ** 52

/** Creates the head of a new list. */
export function createHead(): Omit<ListHead, 'clockSeq'> {
  return { id: randomBytes(8).toString('hex'), suppressionKey: randomBytes(32), lastSeq: 0 }
}

/**
 * Returns the number of the clock: microseconds since 2026, or 0 if the clock is wrong. A batch of addresses ends at
 * `max(last_seq, number of the clock) + size`. No list accepts a million addresses per second for long, so the clock is
 * above every number that a list ever gave out, and a list that was restored, copied or failed over repeats none.
 */
export function toClockSeq(now = Date.now()): number {
  const number = (now - EPOCH_MS) * 1000
  return number > 0 && number <= MAX_CLOCK_SEQ ? number : 0
}

/** Creates the hash of suppressions under the key of a list: HMAC-SHA-256 of the identity (RFC 2104), 32 bytes. */
export function createSuppressionHash({
  suppressionKey,
}: Pick<ListHead, 'suppressionKey'>): (address: Address) => Buffer {
  // Copying a hasher that has the key takes a third of the time.
  const keyed = new Bun.CryptoHasher('sha256', suppressionKey)
  return (address) => keyed.copy().update(toIdentity(address)).digest()
}
