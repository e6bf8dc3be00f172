/** The subscribers of a list, and the interface of every store. Imports no store and no protocol. */

import type { Address } from './email.ts'
import { Failure } from './failure.ts'

export interface Subscriber {
  /** The cursor. It increases in the order in which subscribers become visible, with gaps, and is never used again. */
  readonly seq: number
  /** The first spelling that was accepted. Its identity is unique in the list. */
  readonly email: Address
  /** When the address was first accepted, UTC. */
  readonly subscribedAt: Date
}

/** A row of another list. */
export interface ImportRow {
  readonly email: Address
  /** When the address was put on the other list. Default: the time of the import. */
  readonly subscribedAt?: Date | undefined
}

/** The outcome of an import. The sum of the three is the number of rows. */
export interface ImportTally {
  /** Rows put on the list. */
  readonly added: number
  /** Rows whose address was on the list, or in an earlier row. */
  readonly known: number
  /** Rows left out because their address is suppressed. */
  readonly suppressed: number
}

/** A person who left another list. */
export interface OptOut {
  readonly email: Address
  /** When the person left. Default: unknown. */
  readonly optedOutAt?: Date | undefined
}

/** The outcome of opt-outs. The sum of the four is the number of rows. */
export interface OptOutTally {
  /** Addresses that are suppressed now. They were not on the list. */
  readonly added: number
  /** Addresses that were on the list. They are removed and suppressed. */
  readonly removed: number
  /** Addresses that stay on the list: they subscribed after the opt-out, or its date is unknown. */
  readonly kept: number
  /** Addresses that were suppressed before, or by an earlier row. */
  readonly known: number
}

/** The state of an address: on the list, removed and suppressed, or neither. */
export type SubscriptionState = 'subscribed' | 'suppressed' | 'absent'

/** A removed address, stored as HMAC-SHA-256 of its identity. */
export interface Suppression {
  /** 32 random bytes. Every list has its own key, and has the keys of the lists that were copied to it. */
  readonly key: Uint8Array
  /** 32 bytes. */
  readonly hash: Uint8Array
  /** When the address was last removed, UTC. */
  readonly suppressedAt: Date
}

/**
 * Decides between a subscription and a suppression of the same address on two lists: the later one counts. In the same
 * millisecond the suppression counts, because mail to somebody who left is worse than no mail.
 */
export function isResubscription({ subscribedAt }: Pick<Subscriber, 'subscribedAt'>, suppressedAt: Date): boolean {
  return subscribedAt > suppressedAt
}

export interface Count {
  /** Addresses on the list, with those in reserved domains. */
  readonly subscribers: number
  /** Addresses on the list that are in reserved domains (RFC 2606, RFC 6761). */
  readonly reserved: number
  /** Suppressed addresses. */
  readonly suppressed: number
}

/** Which numbers (`seq`) a list has given out. */
export interface Numbering {
  /** A random id of the list. A restored backup has the id of its list, a list made by `copy` has its own. */
  readonly list: string
  /** No number above this was given out in this state of the list. 0 when none was. */
  readonly last: number
}

export interface StoreStatus extends Count {
  /** The latest `subscribedAt`; undefined when the list is empty. */
  readonly lastAcceptedAt: Date | undefined
  /** Subscribers by the UTC day of their `subscribedAt`: every day of the period, oldest first, today last. */
  readonly days: readonly { readonly date: string; readonly added: number }[]
  /** Bytes on disk. */
  readonly bytes: number
}

export interface ListOptions {
  /** Start after this cursor. Default: 0, the start of the list. */
  readonly after?: number
  /** Most subscribers in total. Default: no limit. */
  readonly limit?: number
}

/**
 * A list. Every method sees all that any process had confirmed before the call.
 *
 * Every method rejects with a StoreError when its work is not done. After a lost connection, the work may be done.
 */
export interface SubscriberStore {
  /** Identifies the list: equal for every path, link, host name and user that leads to it, and for no copy of it. */
  id(): Promise<string>
  /**
   * Reads the identity of the list and its last number. A list that continues from an older state skips numbers before
   * it gives out the next one, so that it never gives out one that it has given out before.
   */
  numbering(): Promise<Numbering>
  /**
   * Accepts addresses, in their order. One that is on the list stays as it is. One that is suppressed is added, and
   * its suppression deleted, because a new subscription is a new consent.
   *
   * Resolves when all of them are on stable storage. An empty array commits too, which shows whether the store can be
   * written.
   */
  add(addresses: readonly Address[]): Promise<void>
  /** Resolves when the list can be reached and, as far as this shows without a commit, written. */
  check(): Promise<void>
  count(): Promise<Count>
  /** Returns the subscriber with the identity of the address; undefined when it is not on the list. */
  find(address: Address): Promise<Subscriber | undefined>
  /** Returns the state of each address, in their order. */
  lookUp(addresses: readonly Address[]): Promise<readonly SubscriptionState[]>
  /**
   * Yields the list in pages, in the order of the cursor; no page is empty. The caller may stop at any page. A caller
   * that continues after the last cursor of an earlier call misses no subscriber and gets none twice, even while
   * others write.
   */
  list(options?: ListOptions): AsyncIterable<readonly Subscriber[]>
  /**
   * Puts rows of another list on this one, in their order, without suppressed addresses. Resolves when they are on
   * stable storage.
   */
  import(rows: readonly ImportRow[]): Promise<ImportTally>
  /**
   * Puts subscribers of another list on this one, like `import`. Adds a suppressed address too if it subscribed after
   * its suppression, which is then deleted.
   */
  mergeSubscribers(subscribers: readonly Subscriber[]): Promise<ImportTally>
  /** The most rows or subscribers of one call. As many are the fastest without long locks. */
  readonly importSize: number
  /**
   * Removes addresses from the list.
   *
   * @param options.suppress true: suppress the addresses, so that no import adds them again. Their date is now, but not
   * before the subscription that is removed. False: delete their suppressions, so that an import may add them.
   * @returns the state of each address before, in their order
   */
  remove(addresses: readonly Address[], options: { readonly suppress: boolean }): Promise<readonly SubscriptionState[]>
  /**
   * Suppresses people who left another list, with the date on which they left, or now if it is unknown. A subscriber
   * from that date or before is removed. Somebody who was suppressed before gets the later date.
   *
   * @param options.removeUndated whether to remove subscribers also when the date is unknown
   */
  suppress(rows: readonly OptOut[], options: { readonly removeUndated: boolean }): Promise<OptOutTally>
  /** Yields all suppressions in pages; no page is empty. */
  listSuppressions(): AsyncIterable<readonly Suppression[]>
  /**
   * Adds suppressions of another list, with the later date if this list has them. Removes a subscriber from before the
   * suppression. Leaves out a suppression from before the subscription.
   *
   * @param signal stops it while it compares the list, and before it changes anything: it rejects with the reason
   */
  mergeSuppressions(suppressions: readonly Suppression[], signal?: AbortSignal): Promise<void>
  /** @param days the length of the period, in days */
  status(days: number): Promise<StoreStatus>
  /** Closes the files or connections. What was confirmed stays. */
  close(): Promise<void>
}

/** The part of a store that the service uses. */
export interface ServiceStore extends Pick<SubscriberStore, 'add' | 'check' | 'close'> {
  /** Sets a function that gets a failure which the store notices by itself, between two calls. */
  onFailure?(listener: (error: Error) => void): void
  /** Returns when the oldest address in the inbox was accepted, and the free bytes on the disk; undefined: none, unknown. */
  measure(): Promise<{ readonly inboxSince: Date | undefined; readonly freeBytes: number | undefined }>
}

/** A store cannot do its work. The message is one line for the owner, without addresses and passwords. */
export class StoreError extends Failure {
  override readonly name: string = 'StoreError'
}

/** There is no list, and none was to be created. */
export class MissingListError extends StoreError {
  override readonly name = 'MissingListError'
}
