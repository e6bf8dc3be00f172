/**
 * Plans the changes of imports, opt-outs and removals. The planners take what a list holds of the addresses, and return what the
 * store must write. Every store and the dry run use them. An address is on the list or suppressed, never both.
 */

import { type Address, toIdentity } from '../email.ts'
import type {
  Found,
  ImportRow,
  ImportTally,
  OptOut,
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

/** The changes that a store writes, and the outcome that it returns to its caller. */
export interface ChangePlan<Outcome> {
  readonly changes: Changes
  readonly outcome: Outcome
}

/**
 * Plans changes, one row after the other: each row sees what the rows before it changed.
 *
 * @param found what the list holds of the address of each row, in their order
 * @param change returns what the list holds of the address after a row
 */
function planRows<Row extends { readonly email: Address }>(
  rows: readonly Row[],
  found: readonly Found[],
  change: (row: Row, state: Found) => Found,
): Changes {
  const entries = new Map<string, { readonly email: Address; readonly before: Found; after: Found }>()
  for (const [index, row] of rows.entries()) {
    const identity = toIdentity(row.email)
    const entry = entries.get(identity)
    const before = found[index] ?? {}
    if (entry) entry.after = change(row, entry.after)
    else entries.set(identity, { email: row.email, before, after: change(row, before) })
  }
  const [add, remove]: [Subscriber[], Subscriber[]] = [[], []]
  const [suppress, forget]: [Changes['suppress'][number][], Address[]] = [[], []]
  for (const { email, before, after } of entries.values()) {
    const { subscriber, suppressedAt } = after
    if (subscriber && !before.subscriber) add.push(subscriber)
    if (!subscriber && before.subscriber) remove.push(before.subscriber)
    if (suppressedAt && suppressedAt.getTime() !== before.suppressedAt?.getTime())
      suppress.push({ email, suppressedAt })
    if (!suppressedAt && before.suppressedAt) forget.push(email)
  }
  return { add, remove, suppress, forget }
}

/** Plans an import: adds the rows that are neither on the list nor suppressed. */
export function planImport(
  rows: readonly ImportRow[],
  found: readonly Found[],
  now = new Date(),
): ChangePlan<ImportTally> {
  const outcome = { added: 0, alreadyListed: 0, leftOut: 0 }
  const changes = planRows(rows, found, ({ email, subscribedAt = now }, state) => {
    const { subscriber, suppressedAt } = state
    outcome[subscriber ? 'alreadyListed' : suppressedAt ? 'leftOut' : 'added']++
    // The store gives it a number.
    return subscriber || suppressedAt ? state : { subscriber: { seq: 0, email, subscribedAt } }
  })
  return { changes, outcome }
}

/**
 * Plans the opt-outs of people who left another list: suppresses their addresses, and removes those that are on the list. A
 * subscriber stays who subscribed after the opt-out. A suppression keeps the latest date. An opt-out without a date has that of the
 * import, unless the address is suppressed already.
 *
 * @param options.removeUndated whether an opt-out without a date removes a subscriber
 */
export function planOptOuts(
  rows: readonly OptOut[],
  found: readonly Found[],
  { removeUndated, now = new Date() }: { readonly removeUndated: boolean; readonly now?: Date | undefined },
): ChangePlan<OptOutTally> {
  const outcome = { suppressed: 0, removed: 0, kept: 0 }
  const changes = planRows(rows, found, ({ optedOutAt }, state) => {
    const { subscriber, suppressedAt } = state
    if (subscriber && !isOptOutOf(subscriber, optedOutAt, removeUndated)) {
      outcome.kept++
      return state
    }
    outcome.suppressed++
    if (subscriber) outcome.removed++
    const date = optedOutAt ?? suppressedAt ?? toLatest(now, subscriber?.subscribedAt)
    return { suppressedAt: toLatest(date, suppressedAt) }
  })
  return { changes, outcome }
}

/** Whether an opt-out ends a subscription. In the same millisecond it does: mail to somebody who left is worse than no mail. */
function isOptOutOf({ subscribedAt }: Subscriber, optedOutAt: Date | undefined, removeUndated: boolean): boolean {
  return optedOutAt ? subscribedAt <= optedOutAt : removeUndated
}

/**
 * Plans a removal. The outcome is the state of each address before its row.
 *
 * @param options.suppress whether to suppress the addresses. Otherwise nothing of them stays, also no suppression
 */
export function planRemoval(
  rows: readonly { readonly email: Address }[],
  found: readonly Found[],
  { suppress, now = new Date() }: { readonly suppress: boolean; readonly now?: Date | undefined },
): ChangePlan<readonly SubscriptionState[]> {
  const outcome: SubscriptionState[] = []
  const changes = planRows(rows, found, (_, state) => {
    outcome.push(toState(state))
    // The clock may have been set back since.
    return suppress ? { suppressedAt: toLatest(now, state.subscriber?.subscribedAt ?? state.suppressedAt) } : {}
  })
  return { changes, outcome }
}

/** Names what a list holds of an address. */
export function toState({ subscriber, suppressedAt }: Found = {}): SubscriptionState {
  if (subscriber) return 'subscribed'
  return suppressedAt ? 'suppressed' : 'absent'
}

function toLatest(one: Date, other: Date | undefined): Date {
  return other && other >= one ? other : one
}
