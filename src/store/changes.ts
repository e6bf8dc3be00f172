/**
 * Plans the changes of imports, opt-outs and removals: takes what a list holds of the addresses, and returns what the store must
 * write. The same for every store, and for the count of what an import would do. An address is on the list or suppressed, never both.
 */

import { type Address, toIdentity } from '../email.ts'
import type {
  Found,
  ImportRow,
  ImportTally,
  OptOut,
  OptOutRule,
  OptOutTally,
  Subscriber,
  SubscriptionState,
} from '../subscriber.ts'

/** The changes that a store writes in one transaction. No identity is twice in one of the four. */
export interface Changes {
  /** New subscribers. They get the next numbers in this order. */
  readonly add: readonly Omit<Subscriber, 'seq'>[]
  readonly remove: readonly Subscriber[]
  /** Addresses that are suppressed from this date on. It replaces the date of a suppression. */
  readonly suppress: readonly { readonly email: Address; readonly suppressedAt: Date }[]
  /** Addresses whose suppression is deleted. */
  readonly forget: readonly Address[]
}

/** The changes that a store writes, and the outcome of each row, in their order. */
export interface ChangePlan<Outcome> {
  readonly changes: Changes
  readonly outcomes: readonly Outcome[]
}

/**
 * Decides about a row: returns what the list holds of its address after it, and the outcome. It may return `state` itself when the
 * row changes nothing; `planRows` compares the contents.
 *
 * @param state what the list holds of the address before the row
 * @param now the date of a row that has none
 */
export type RowChange<Row, Outcome> = (row: Row, state: Found, now: Date) => readonly [after: Found, outcome: Outcome]

/** Plans changes. Each row sees what the rows before it changed. @param found what the list holds of each row, in their order */
export function planRows<Row extends { readonly email: Address }, Outcome>(
  rows: readonly Row[],
  change: RowChange<Row, Outcome>,
  found: readonly Found[],
  now: Date,
): ChangePlan<Outcome> {
  const entries = new Map<string, { readonly email: Address; readonly before: Found; after: Found }>()
  const outcomes = rows.map((row, index) => {
    const identity = toIdentity(row.email)
    const before = found[index] ?? {}
    const entry = entries.get(identity) ?? { email: row.email, before, after: before }
    const [after, outcome] = change(row, entry.after, now)
    entries.set(identity, { ...entry, after })
    return outcome
  })
  const add: Subscriber[] = []
  const remove: Subscriber[] = []
  const suppress: Changes['suppress'][number][] = []
  const forget: Address[] = []
  // What several rows of an address did is compared from the first state to the last one: who is added and removed again is neither.
  for (const { email, before, after } of entries.values()) {
    const { subscriber, suppressedAt } = after
    if (subscriber && !before.subscriber) add.push(subscriber)
    if (!subscriber && before.subscriber) remove.push(before.subscriber)
    const hasNewDate = suppressedAt?.getTime() !== before.suppressedAt?.getTime()
    if (suppressedAt && hasNewDate) suppress.push({ email, suppressedAt })
    if (!suppressedAt && before.suppressedAt) forget.push(email)
  }
  return { changes: { add, remove, suppress, forget }, outcomes }
}

/** An import adds a row that is neither on the list nor suppressed. */
export const importRow: RowChange<ImportRow, keyof ImportTally> = ({ email, subscribedAt }, state, now) => {
  if (state.subscriber) return [state, 'alreadyListed']
  if (state.suppressedAt) return [state, 'leftOut']
  // The store gives it a number.
  return [{ subscriber: { seq: 0, email, subscribedAt: subscribedAt ?? now } }, 'added']
}

/**
 * An opt-out suppresses somebody who left another list, and removes a subscriber, but not one who subscribed after it. A suppression
 * keeps the latest date. An opt-out without a date has that of the import, or of the subscription if that is later, unless the address is
 * suppressed already.
 */
export function optOutRow(rule: OptOutRule): RowChange<OptOut, keyof OptOutTally> {
  return ({ optedOutAt }, state, now) => {
    const { subscriber, suppressedAt } = state
    if (subscriber && isLater(subscriber, optedOutAt, rule)) return [state, 'kept']
    const date = optedOutAt ?? suppressedAt ?? toLatest(now, subscriber?.subscribedAt)
    return [{ suppressedAt: toLatest(date, suppressedAt) }, subscriber ? 'removed' : 'suppressed']
  }
}

/** Whether somebody subscribed after an opt-out, or may have. */
function isLater({ seq, subscribedAt }: Subscriber, optedOutAt: Date | undefined, rule: OptOutRule): boolean {
  if (rule.upTo !== undefined) return seq > rule.upTo
  if (!optedOutAt) return !rule.removeUndated
  // Other programs store whole seconds. In the same one, the opt-out counts: mail to somebody who left is worse than no mail.
  return toSecond(subscribedAt) > toSecond(optedOutAt)
}

function toSecond(time: Date): number {
  return Math.floor(time.getTime() / 1000)
}

/** A removal takes an address off the list. Without `suppress`, nothing of it stays. The outcome is its state before. */
export function removeRow({ suppress }: { readonly suppress: boolean }): RowChange<unknown, SubscriptionState> {
  return (_, state, now) => {
    // The clock may have been set back since, and nobody leaves before they came.
    const suppressedAt = toLatest(now, state.subscriber?.subscribedAt ?? state.suppressedAt)
    return [suppress ? { suppressedAt } : {}, toState(state)]
  }
}

/** Counts the rows of an import. */
export function toImportTally(outcomes: readonly (keyof ImportTally)[]): ImportTally {
  const added = count(outcomes, 'added')
  const leftOut = count(outcomes, 'leftOut')
  return { added, alreadyListed: outcomes.length - added - leftOut, leftOut }
}

/** Counts opt-outs. Those whose subscriber was removed are among the suppressed ones. */
export function toOptOutTally(outcomes: readonly (keyof OptOutTally)[]): OptOutTally {
  const removed = count(outcomes, 'removed')
  const kept = count(outcomes, 'kept')
  return { suppressed: outcomes.length - kept, removed, kept }
}

function count<Outcome>(outcomes: readonly Outcome[], one: Outcome): number {
  return outcomes.filter((outcome) => outcome === one).length
}

/** Names what a list holds of an address. */
export function toState({ subscriber, suppressedAt }: Found): SubscriptionState {
  if (subscriber) return 'subscribed'
  if (suppressedAt) return 'suppressed'
  return 'absent'
}

function toLatest(one: Date, other: Date | undefined): Date {
  return other && other >= one ? other : one
}

/** Creates the hash of suppressions under the key of a list: HMAC-SHA-256 of the identity (RFC 2104), 32 bytes. */
export function createSuppressionHash(key: Uint8Array): (address: Address) => Buffer {
  // Copying a hasher that has the key takes a third of the time.
  const keyed = new Bun.CryptoHasher('sha256', key)
  return (address) => keyed.copy().update(toIdentity(address)).digest()
}
