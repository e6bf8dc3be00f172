/** Writes the subscribers of an export. */

import { isReserved } from '../../email.ts'
import type { Write } from '../../files.ts'
import type { SubscriberStore } from '../../subscriber.ts'
import type { Writer } from './formats.ts'

/** Who is exported, and how. */
export interface Selection {
  /** Start after this cursor. */
  readonly after: number
  /** Stop after this cursor. */
  readonly upTo?: number | undefined
  /** Only who subscribed at `since` or later, and before `before`. */
  readonly since?: Date | undefined
  readonly before?: Date | undefined
  /** Most subscribers in total. */
  readonly limit?: number | undefined
  /** Select addresses in reserved domains too. */
  readonly includeReserved?: boolean | undefined
  readonly writer: Writer
  /** Stops between two pages. */
  readonly signal: AbortSignal
}

/** The outcome of an export. */
export interface Exported {
  /** Addresses written. */
  readonly rows: number
  /** Addresses in reserved domains, up to the cursor, that were not written. */
  readonly reserved: number
  /** Where the next export continues. */
  readonly cursor: number
  /** The `seq` of the first and of the last subscriber; 0 when there is none. */
  readonly first: number
  readonly last: number
}

/**
 * Writes the selected subscribers page by page.
 *
 * @param write gets the header with the first row, and nothing when there is no row
 * @throws StoreError; what `write` throws; the reason of the signal
 */
export async function writeSelection(
  store: SubscriberStore,
  { after, upTo = Infinity, since, before, limit = Infinity, includeReserved, writer, signal }: Selection,
  write: Write,
): Promise<Exported> {
  let { header } = writer
  let rows = 0
  let reserved = 0
  let cursor = after
  let first = 0
  let last = 0
  for await (const page of listAfter(store, after)) {
    signal.throwIfAborted()
    let lines = ''
    for (const subscriber of page) {
      const { seq, email, subscribedAt } = subscriber
      if (rows === limit || seq > upTo) break
      cursor = seq
      if ((since && subscribedAt < since) || (before && subscribedAt >= before)) continue
      if (!includeReserved && isReserved(email)) {
        reserved++
        continue
      }
      lines += writer.toLine(subscriber)
      rows++
      first ||= seq
      last = seq
    }
    if (lines !== '') {
      await write(header + lines)
      header = ''
    }
    // The rest of the page is beyond the limit or the last number, and so is every later page.
    if (cursor !== page.at(-1)?.seq) break
  }
  return { rows, reserved, cursor, first, last }
}

/** The whole list is one state of it, which is complete or an error. */
async function* listAfter(store: SubscriberStore, after: number) {
  if (after > 0) return yield* store.list(after)
  await using snapshot = await store.snapshot()
  yield* snapshot.subscribers
}
