/** The subscribers that an export writes. */

import { isReserved } from '../../email.ts'
import type { SubscriberStore } from '../../subscriber.ts'
import type { Writer } from './formats.ts'

export interface Selection {
  /** Start after this cursor. */
  readonly after: number
  /** Stop after this cursor. */
  readonly until?: number | undefined
  /** Only who subscribed at this time or later. */
  readonly since?: Date | undefined
  /** Only who subscribed before this time. */
  readonly before?: Date | undefined
  /** Most subscribers in total. */
  readonly limit?: number | undefined
  /** Select addresses in reserved domains too. */
  readonly includeReserved?: boolean | undefined
}

/** The outcome of an export. */
export interface Exported {
  /** Addresses written. */
  readonly rows: number
  /** Addresses in reserved domains, up to the cursor, that were left out. */
  readonly reserved: number
  /** Where the next export continues. */
  readonly cursor: number
}

export interface Written extends Exported {
  /** The `seq` of the first and of the last subscriber; 0 when there is none. */
  readonly first: number
  readonly last: number
}

export interface Sink {
  readonly writer: Writer
  /** Gets the header with the first row, and nothing when there is no row. */
  readonly write: (text: string) => Promise<void>
  /** Stops between two pages. */
  readonly signal?: AbortSignal | undefined
  readonly onPage?: (rows: number) => void
}

/** Writes the selected subscribers page by page. @throws StoreError; what `write` throws; the reason of the signal */
export async function writeSelection(
  store: SubscriberStore,
  selection: Selection,
  { writer, write, signal, onPage }: Sink,
): Promise<Written> {
  const { after, until = Number.POSITIVE_INFINITY, limit = Number.POSITIVE_INFINITY, includeReserved } = selection
  const { since, before } = selection
  let [rows, reserved, cursor, first, last] = [0, 0, after, 0, 0]
  for await (const listed of listAfter(store, after)) {
    signal?.throwIfAborted()
    const page = listed.filter(({ seq }) => seq <= until)
    const dated = page.filter(
      ({ subscribedAt }) => (!since || subscribedAt >= since) && (!before || subscribedAt < before),
    )
    const candidates = includeReserved ? dated : dated.filter(({ email }) => !isReserved(email))
    const selected = candidates.slice(0, limit - rows)
    // At the limit the cursor stays at the last row, so that the next export selects the others.
    const end = (selected.length < candidates.length ? selected : page).at(-1)
    if (end === undefined) break
    let text = rows === 0 ? writer.header : ''
    for (const subscriber of selected) text += writer.toLine(subscriber)
    if (selected.length > 0) await write(text)
    rows += selected.length
    reserved += dated.filter(({ seq }) => seq <= end.seq).length - selected.length
    cursor = end.seq
    first ||= selected[0]?.seq ?? 0
    last = selected.at(-1)?.seq ?? last
    onPage?.(rows)
    if (rows === limit) break
  }
  return { rows, reserved, cursor, first, last }
}

/** The whole list is one state of it, which is complete or an error. */
async function* listAfter(store: SubscriberStore, after: number) {
  if (after > 0) return yield* store.list(after)
  await using snapshot = await store.snapshot()
  yield* snapshot.subscribers
}
