/** Who is on the list, and what every store of them can do. Knows no store and no protocol. */

import type { Address } from './email.ts'
import { Failure } from './failure.ts'

/** A person on the list. */
export interface Subscriber {
  /** The cursor: it grows in the order in which the list took them. Not dense. */
  readonly seq: number
  /** The first spelling that was accepted; its identity is unique. */
  readonly email: Address
  /** When that was, UTC. */
  readonly subscribedAt: Date
}

/** A row of an older list. */
export interface ImportRow {
  readonly email: Address
  /** When the address was put on that list, if it is known; else now. */
  readonly subscribedAt?: Date | undefined
}

/** What became of the rows of an import; the three add up to the rows that were given. */
export interface ImportTally {
  /** Put on the list. */
  readonly added: number
  /** On it already, or earlier in the same import. */
  readonly known: number
  /** Left out, because they were removed once. */
  readonly suppressed: number
}

/** Whether an address is on the list, has been removed and is remembered as such, or neither. */
export type SubscriptionState = 'subscribed' | 'suppressed' | 'absent'

/** A removed address as it is remembered: not itself, but HMAC-SHA-256 of its identity under a key. */
export interface Suppression {
  /** 32 random bytes; every list has its own, and keeps those of the lists that were copied to it. */
  readonly key: Uint8Array
  /** 32 bytes. */
  readonly hash: Uint8Array
  readonly suppressedAt: Date
}

/** What a list holds, in numbers. */
export interface Count {
  /** Addresses on the list, those in reserved domains included. */
  readonly subscribers: number
  /** Those of them that are in reserved domains (RFC 2606, RFC 6761). */
  readonly reserved: number
  /** Suppressions addresses that are remembered. */
  readonly suppressed: number
}

/** How a list is doing. */
export interface StoreStatus extends Count {
  /** The latest `subscribedAt`; undefined while the list is empty. */
  readonly lastAcceptedAt: Date | undefined
  /** Addresses by the UTC day of their `subscribedAt`, oldest first: the days asked for, today last, none left out. */
  readonly days: readonly { readonly date: string; readonly added: number }[]
  /** Bytes on disk. */
  readonly bytes: number
}

export interface ListOptions {
  /** Begin behind this cursor; 0 for the beginning. */
  readonly after?: number
  /** Most subscribers in all. */
  readonly limit?: number
}

/**
 * A list. Every method rejects with a StoreError when the store cannot do it; what was asked for is then
 * not done, or, after a lost connection, not known to be done. Every method sees all that was confirmed
 * before it was called, by whichever process.
 */
export interface SubscriberStore {
  /**
   * Puts addresses on the list, in the order given; those that are on it already stay as they are. An
   * address that had been removed comes back, for this is a new consent.
   * Resolves when all of them are on stable storage. No addresses at all go the same way, so that it shows
   * whether the store can be written again.
   */
  add(addresses: readonly Address[]): Promise<void>
  /** Resolves when the list can be reached and, as far as can be told without writing, written. */
  check(): Promise<void>
  /** Counts what is on the list now. */
  count(): Promise<Count>
  /** Finds the subscriber with the identity of an address. */
  find(address: Address): Promise<Subscriber | undefined>
  /** Tells of each address how it stands with the list, in the order given. */
  lookUp(addresses: readonly Address[]): Promise<readonly SubscriptionState[]>
  /**
   * Goes through the list in the order of the cursor, in pages, without holding it in memory. Whoever goes on
   * behind the last cursor of an earlier walk misses none and meets none twice, with writers at work all the while.
   */
  list(options?: ListOptions): AsyncIterable<readonly Subscriber[]>
  /**
   * Puts the rows of an older list on this one, in the order given, at most `importSize` at once; removed
   * addresses are left out. Resolves when all of it is on stable storage.
   */
  import(rows: readonly ImportRow[]): Promise<ImportTally>
  /** How many rows an import takes best. */
  readonly importSize: number
  /**
   * Takes addresses off the list.
   *
   * @param options.forget keeps no hash, so that an import may bring them back, and drops one that is there
   * @returns how each had stood with the list, in the order given
   */
  remove(
    addresses: readonly Address[],
    options: { readonly suppress: boolean },
  ): Promise<readonly SubscriptionState[]>
  /** Goes through the suppressions, in pages. */
  listSuppressions(): AsyncIterable<readonly Suppression[]>
  /** Takes over suppressions of another list; an address that they stand for and that subscribed before is taken off. */
  mergeSuppressions(suppressions: readonly Suppression[]): Promise<void>
  /** Tells how the list is doing, with this many days. */
  status(days: number): Promise<StoreStatus>
  /** Gives everything back; what was added stays. */
  close(): Promise<void>
}

/** What the service needs of a store. */
export type ServiceStore = Pick<SubscriberStore, 'add' | 'check' | 'close'>

/** A store that cannot do what was asked: one line for the owner, without an address and without a password. */
export class StoreError extends Failure {
  override readonly name = 'StoreError'
}
