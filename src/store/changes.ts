/**
 * Plans the changes of imports, opt-outs and removals. Pure functions take what a list holds of the addresses, and return
 * what the store must write. Every store and the dry run use them.
 */

import { type Address, toIdentity } from '../email.ts'
import {
  type Found,
  type ImportRow,
  type ImportTally,
  MissingListError,
  type OptOut,
  type OptOutTally,
  type Subscriber,
  type SubscriberStore,
  type SubscriptionState,
} from '../subscriber.ts'
import { createPace } from './pace.ts'

/** The changes that a store writes in one transaction. No identity is in them twice. */
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

const NONE: Changes = { add: [], remove: [], suppress: [], forget: [] }

/**
 * Plans an import: adds the rows that are neither on the list nor suppressed.
 *
 * @param found what the list holds of the address of each row, in their order
 */
export function planImport(
  rows: readonly ImportRow[],
  found: readonly Found[],
  now = new Date(),
): ChangePlan<ImportTally> {
  const added = new Map<string, Omit<Subscriber, 'seq'>>()
  let [alreadyListed, leftOut] = [0, 0]
  for (const [index, { email, subscribedAt = now }] of rows.entries()) {
    const identity = toIdentity(email)
    const { subscriber, suppressedAt } = found[index] ?? {}
    if (subscriber || added.has(identity)) alreadyListed++
    else if (suppressedAt) leftOut++
    else added.set(identity, { email, subscribedAt })
  }
  return { changes: { ...NONE, add: [...added.values()] }, outcome: { added: added.size, alreadyListed, leftOut } }
}

/**
 * Plans opt-outs of another list, one row after the other: suppresses the addresses. Removes a subscriber unless it
 * subscribed later, or the date is unknown. A suppression keeps the latest date.
 *
 * @param found what the list holds of the address of each row, in their order
 * @param options.removeUndated whether to remove subscribers also when the date is unknown
 */
export function planOptOuts(
  rows: readonly OptOut[],
  found: readonly Found[],
  { removeUndated, now = new Date() }: { readonly removeUndated: boolean; readonly now?: Date | undefined },
): ChangePlan<OptOutTally> {
  const remove: Subscriber[] = []
  const suppress = new Map<string, Changes['suppress'][number]>()
  const tally = { suppressed: 0, removed: 0, kept: 0 }
  for (const [index, { email, optedOutAt }] of rows.entries()) {
    const identity = toIdentity(email)
    const { subscriber, suppressedAt }: Found = suppress.get(identity) ?? found[index] ?? {}
    if (subscriber && !isOptOutOf(subscriber, optedOutAt, removeUndated)) {
      tally.kept++
      continue
    }
    tally.suppressed++
    if (subscriber) {
      tally.removed++
      remove.push(subscriber)
    }
    const date = optedOutAt ?? suppressedAt ?? toLatest(now, subscriber?.subscribedAt)
    if (!suppressedAt || date > suppressedAt) suppress.set(identity, { email, suppressedAt: date })
  }
  return { changes: { ...NONE, remove, suppress: [...suppress.values()] }, outcome: tally }
}

/** In the same millisecond the opt-out counts, because mail to somebody who left is worse than no mail. */
function isOptOutOf({ subscribedAt }: Subscriber, optedOutAt: Date | undefined, removeUndated: boolean): boolean {
  return optedOutAt ? subscribedAt <= optedOutAt : removeUndated
}

/**
 * Plans a removal.
 *
 * @param found what the list holds of each address, in their order
 * @param options.suppress whether to suppress the addresses, or to delete their suppressions
 */
export function planRemoval(
  addresses: readonly Address[],
  found: readonly Found[],
  { suppress, now = new Date() }: { readonly suppress: boolean; readonly now?: Date | undefined },
): ChangePlan<readonly SubscriptionState[]> {
  const entries = new Map<string, Found & { readonly email: Address }>()
  const outcome = addresses.map((email, index): SubscriptionState => {
    const identity = toIdentity(email)
    // For a second row with the same address, the state is that after the first one.
    if (entries.has(identity)) return suppress ? 'suppressed' : 'absent'
    entries.set(identity, { email, ...found[index] })
    return toState(found[index])
  })
  const rows = [...entries.values()]
  const remove = rows.flatMap(({ subscriber }) => subscriber ?? [])
  if (!suppress) {
    const forget = rows.flatMap(({ email, suppressedAt }) => (suppressedAt ? email : []))
    return { changes: { ...NONE, remove, forget }, outcome }
  }
  const suppressed = rows.map(({ email, subscriber, suppressedAt }) => ({
    email,
    // The clock may have been set back since the subscription.
    suppressedAt: toLatest(now, subscriber?.subscribedAt ?? suppressedAt),
  }))
  return { changes: { ...NONE, remove, suppress: suppressed }, outcome }
}

/** Names what a list holds of an address. */
export function toState({ subscriber, suppressedAt }: Found = {}): SubscriptionState {
  if (subscriber) return 'subscribed'
  return suppressedAt ? 'suppressed' : 'absent'
}

function toLatest(one: Date, other: Date | undefined): Date {
  return other && other > one ? other : one
}

/** A change as a store does it under its lock. */
export interface Change<Outcome> {
  readonly addresses: readonly Address[]
  /** Gets what the list holds of each address. */
  readonly plan: (found: readonly Found[], now?: Date) => ChangePlan<Outcome>
  /** The store calls it when it has the lock. */
  readonly onLock: () => void
}

/** Creates the changes of a store, which keep to a pace. @param run compacts, takes the lock, and writes what is planned */
export function createChanges(
  run: <Outcome>(change: Change<Outcome>) => Promise<Outcome>,
): Pick<SubscriberStore, 'pace' | 'import' | 'suppress' | 'remove'> {
  const pace = createPace()

  async function change<Outcome>(addresses: readonly Address[], plan: Change<Outcome>['plan']): Promise<Outcome> {
    let lockedAt = 0
    const onLock = () => {
      lockedAt = performance.now()
    }
    const outcome = await run({ addresses, plan, onLock })
    pace.record(addresses.length, performance.now() - lockedAt)
    return outcome
  }

  const toAddresses = (rows: readonly { readonly email: Address }[]) => rows.map(({ email }) => email)
  return {
    pace,
    import: (rows) => change(toAddresses(rows), (found, now) => planImport(rows, found, now)),
    suppress: (rows, options) =>
      change(toAddresses(rows), (found, now) => planOptOuts(rows, found, { ...options, now })),
    remove: (addresses, options) =>
      change(addresses, (found, now) => planRemoval(addresses, found, { ...options, now })),
  }
}

export type DryRun = Pick<SubscriberStore, 'import' | 'suppress' | 'pace'>

/**
 * Creates a dry run: it counts what imports and opt-outs would do, and changes no list. It keeps their changes in memory,
 * to recognize an address in a later batch: about 200 bytes for each new address.
 *
 * @param store the list; undefined when there is none yet
 */
export function createDryRun(store: Pick<SubscriberStore, 'lookUp'> | undefined): DryRun {
  const changed = new Map<string, Found>()
  return createChanges(async ({ addresses, plan, onLock }) => {
    const listed = await store?.lookUp(addresses).catch(toMissing)
    // It takes no lock: its pace is that of the plan.
    onLock()
    const found = addresses.map((email, index) => changed.get(toIdentity(email)) ?? listed?.[index] ?? {})
    const { changes, outcome } = plan(found)
    for (const row of changes.add) changed.set(toIdentity(row.email), { subscriber: { seq: 0, ...row } })
    for (const { email, suppressedAt } of changes.suppress) changed.set(toIdentity(email), { suppressedAt })
    return outcome
  })
}

/** Returns nothing if there is no list: a database says so only at the first call. @throws any other error */
function toMissing(error: unknown): undefined {
  if (!(error instanceof MissingListError)) throw error
}
