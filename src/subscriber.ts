/** The subscribers of a list, and the interface of every store. Imports no store and no protocol. */

import type { Address } from './email.ts'
import { Failure } from './failure.ts'

export interface Subscriber {
  /** The number of the subscriber. It increases in the order in which subscribers become visible, with gaps, and is never used again. */
  readonly seq: number
  /** The first spelling that was accepted. Its identity is unique in the list. */
  readonly email: Address
  /** When the address was first accepted, or the date that an import has for it, UTC. */
  readonly subscribedAt: Date
}

/** A row of another list. */
export interface ImportRow {
  readonly email: Address
  /** When the address was put on the other list. Default: the time of the import. */
  readonly subscribedAt?: Date | undefined
}

/** The outcome of an import. The three numbers add up to the number of rows. */
export interface ImportTally {
  /** Rows put on the list. */
  readonly added: number
  /** Rows whose address was on the list, or in an earlier row. */
  readonly alreadyListed: number
  /** Rows that are not added, because their address is suppressed. */
  readonly leftOut: number
}

/** A person who left another list. */
export interface OptOut {
  readonly email: Address
  /** When the person left. Default: unknown. */
  readonly optedOutAt?: Date | undefined
}

/** Which subscribers opt-outs remove. */
export interface OptOutRule {
  /** Whether to remove subscribers also when the date of the opt-out is unknown. */
  readonly removeUndated: boolean
  /**
   * The cursor of the hand-over to the tool in which people left. Then no date counts: who has a number up to it was handed over, and
   * is removed; who has a higher one is not known there yet, and stays.
   */
  readonly upTo?: number | undefined
}

/** The outcome of opt-outs. `suppressed` and `kept` add up to the number of rows. */
export interface OptOutTally {
  /** Rows whose address is suppressed now, also if it was before. */
  readonly suppressed: number
  /** How many of these were on the list. */
  readonly removed: number
  /**
   * Rows whose address stays on the list: it subscribed later, or the date of the opt-out is unknown; or, with a cursor, it comes
   * after that.
   */
  readonly kept: number
}

/** How a caller follows and stops a change. The store writes it in batches: each is durable, and others get the lock in between. */
export interface ChangeOptions {
  /** Stops the change before its next batch: it rejects with the reason of the signal. The batches before it stay. */
  readonly signal?: AbortSignal | undefined
  /** Gets after each batch how many rows are done: written, or counted by `countImport`. */
  readonly onProgress?: ((done: number) => void) | undefined
}

/** The state of an address: on the list, removed and suppressed, or neither. */
export type SubscriptionState = 'subscribed' | 'suppressed' | 'absent'

/** The entry of an address on a list: a subscriber, a suppression or nothing, never both. */
export interface Found {
  readonly subscriber?: Subscriber | undefined
  /** When the address was removed, or left another list. */
  readonly suppressedAt?: Date | undefined
}

/** An address that was removed, or left another list, stored as HMAC-SHA-256 of its identity. */
export interface Suppression {
  /** 32 bytes, under the key of the list. */
  readonly hash: Uint8Array
  /** When it was last removed, or left another list, UTC. */
  readonly suppressedAt: Date
}

/** The head of a list. A copy and a restored backup have the same id and key. */
export interface ListHead {
  /** 16 hexadecimal digits, at random. */
  readonly id: string
  /** 32 bytes, at random. The key of the hashes of suppressions. */
  readonly suppressionKey: Uint8Array
  /** The last `seq` that was given out, at least 0. */
  readonly lastSeq: number
  /** The number of the clock that gives out numbers: that of this machine, or of the database server. */
  readonly clockSeq: number
}

export interface Count {
  /** Addresses on the list, with those in reserved domains. */
  readonly subscribers: number
  /** Addresses on the list that are in reserved domains (RFC 2606, RFC 6761). */
  readonly reserved: number
  /** Suppressed addresses. */
  readonly suppressed: number
}

export interface StoreStatus extends Count {
  /** Those whom an import added with a date of more than a day before they came to the list. */
  readonly imported: number
  /** The latest `subscribedAt`; undefined when the list is empty. */
  readonly lastAcceptedAt: Date | undefined
  /** The same of subscribers who are not in a reserved domain: a test of the owner is no reader. */
  readonly lastReaderAt: Date | undefined
  /** The last 90 days and today, oldest first. */
  readonly days: readonly StatusDay[]
  /** Bytes on disk. */
  readonly bytes: number
  /** Free bytes on the disk; undefined when it is on another machine. */
  readonly freeBytes: number | undefined
}

/** A UTC day in the life of a list. It knows only those who are on the list now. */
export interface StatusDay {
  /** Such as 2026-05-31. */
  readonly date: string
  /** Subscribers whose `subscribedAt` is on this day, imported or not. */
  readonly added: number
  /** Subscribers whose `subscribedAt` is on this day or before. */
  readonly total: number
}

/** Counts the subscribers of the last complete days. The last of `days` is today, which is not complete. */
export function countRecent(days: readonly StatusDay[], count: number): number {
  return days.slice(-1 - count, -1).reduce((sum, { added }) => sum + added, 0)
}

/**
 * One state of a whole list, also while others write. Both iterables can be read once, one after the other. When an index lacks a row of
 * its table, one of them throws a StoreError, at the latest after its last page.
 */
export interface ListCopy {
  readonly head: ListHead
  /** In pages, in the order of the numbers; no page is empty. */
  readonly subscribers: AsyncIterable<readonly Subscriber[]>
  /** In pages, in the order of the hashes; no page is empty. */
  readonly suppressions: AsyncIterable<readonly Suppression[]>
}

/** How a command opens a list. */
export interface StoreOptions {
  /**
   * - `read`: the list must exist. It is written only to compact its inbox and to put its log in order, and a backup never. Of a SQLite
   *   list that cannot be written, the inbox is left out. Of such a list on PostgreSQL, `status` leaves it out, and other calls may fail.
   * - `change`: the list must exist too.
   * - `create`: a missing list is created, with its folders.
   */
  readonly access: 'read' | 'change' | 'create'
  /** Gets a message for the owner. */
  readonly notify?: ((text: string) => void) | undefined
}

/**
 * A list. Every method sees all that any process had confirmed before, except the inbox of a list that cannot be written: see
 * `StoreOptions.access`. It rejects with a StoreError when its work is not done, or with the reason of the signal that ended it. The work may
 * be done even so: the connection was lost, or the file of the list was replaced, or its write-ahead log (SQLite) could not be moved,
 * after the commit.
 */
export interface SubscriberStore {
  /** Reads the head. Its last number includes what was accepted before. */
  head(): Promise<ListHead>
  /**
   * Accepts addresses, in their order. Resolves when all are on stable storage. One that is suppressed is added, because a new
   * subscription is a new consent: its suppression does not count, and the owner's next change deletes it.
   */
  add(addresses: readonly Address[]): Promise<void>
  /** Commits like `add`, without an address. Resolves when the store accepts addresses. */
  probe(): Promise<void>
  /**
   * Resolves when the list can be reached and, as far as this shows without a commit, written. On PostgreSQL, a command tries
   * a write and takes it back.
   */
  ready(): Promise<void>
  count(): Promise<Count>
  /** Returns what the list holds of each address, in their order. */
  lookUp(addresses: readonly Address[]): Promise<readonly Found[]>
  /**
   * Yields the subscribers after a number in pages, in the order of their numbers; no page is empty. A caller that continues after
   * the last number of an earlier call misses no subscriber and gets none twice, even while others write.
   */
  list(after: number): AsyncIterable<readonly Subscriber[]>
  /** Begins to read the whole list. The caller disposes of it, which ends its transaction. */
  snapshot(): Promise<ListCopy & AsyncDisposable>
  /**
   * Puts rows of another list on this one, without suppressed addresses. Up to 50,000 rows keep their order. Resolves when
   * they are on stable storage.
   */
  import(rows: readonly ImportRow[], options?: ChangeOptions): Promise<ImportTally>
  /**
   * Suppresses people who left another list, with the date on which they left, or now if it is unknown. A subscriber
   * from that second or before is removed; `removeUndated` and `upTo` decide without the date. Somebody who was suppressed
   * before gets the later date, if it is known.
   */
  suppress(rows: readonly OptOut[], options: ChangeOptions & OptOutRule): Promise<OptOutTally>
  /**
   * Removes addresses from the list.
   *
   * @param options.suppress true: suppress the addresses, so that no import adds them again. Their date is now, but not
   * before the subscription that is removed, and not before an earlier suppression. False: delete their suppressions, so that an import may add them.
   * @returns the state of each address before, in their order
   */
  remove(
    addresses: readonly Address[],
    options: ChangeOptions & { readonly suppress: boolean },
  ): Promise<readonly SubscriptionState[]>
  status(): Promise<StoreStatus>
  /** Closes the files or connections. What was confirmed stays. */
  close(): Promise<void>
}

/** The state of a store, for a scrape. */
export interface StoreMeasure {
  /** When the oldest row of the inbox was appended; undefined when the inbox is empty. */
  readonly inboxSince?: Date | undefined
  readonly compactionFails: boolean
  /**
   * When the newest backup in the folder `backups` next to a SQLite list was made; when that folder was made, if it has none.
   * Undefined without that folder, and when this process may not look into it.
   */
  readonly backupAt?: Date | undefined
  /** Free bytes on the disk; undefined when they are not known. */
  readonly freeBytes?: number | undefined
}

/** The part of a store that the service uses. */
export interface ServiceStore extends Pick<SubscriberStore, 'add' | 'probe' | 'ready' | 'close'> {
  measure(): Promise<StoreMeasure>
}

/** A store cannot do its work. The message is one line for the owner, without addresses and passwords. */
export class StoreError extends Failure {
  override readonly name: string = 'StoreError'
}

/** A newer Rollcall has migrated the list: this process must end, because it does not know the rules of the new schema. */
export class OutdatedError extends StoreError {
  override readonly name = 'OutdatedError'
}

/** The service migrates the list: it works when that is done. */
export class MigratingError extends StoreError {
  override readonly name = 'MigratingError'
}

/** There is no list, and the caller did not ask to create one. */
export class MissingListError extends StoreError {
  override readonly name = 'MissingListError'
}
