/** The subscribers that an export writes. */

import { isReserved } from '../../email.ts'
import type { Subscriber, SubscriberStore } from '../../subscriber.ts'

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

export interface SelectedPage {
  readonly rows: readonly Subscriber[]
  /** Number of addresses in reserved domains, up to the cursor, that are left out. */
  readonly reserved: number
  /** Where the next export continues. */
  readonly cursor: number
}

/** Reads the list page by page. A page may have no rows; its cursor still moves on. @throws StoreError */
export async function* selectPages(
  store: Pick<SubscriberStore, 'list' | 'snapshot'>,
  selection: Selection,
): AsyncGenerator<SelectedPage> {
  const { after, until = Number.POSITIVE_INFINITY, limit = Number.POSITIVE_INFINITY, includeReserved } = selection
  const { since = new Date(0), before } = selection
  let remaining = limit
  if (remaining === 0) return
  for await (const listed of listAfter(store, after)) {
    const page = listed.filter(({ seq }) => seq <= until)
    const dated = page.filter(({ subscribedAt }) => subscribedAt >= since && (!before || subscribedAt < before))
    const candidates = includeReserved ? dated : dated.filter(({ email }) => !isReserved(email))
    const rows = candidates.slice(0, remaining)
    // At the limit the cursor stays at the last row, so that the next export selects the others.
    const last = (rows.length < candidates.length ? rows : page).at(-1)
    if (last === undefined) return
    remaining -= rows.length
    const reserved = dated.filter(({ seq }) => seq <= last.seq).length - rows.length
    yield { rows, cursor: last.seq, reserved }
    if (remaining === 0) return
  }
}

/** The whole list is one state of it, which is complete or an error. */
async function* listAfter(store: Pick<SubscriberStore, 'list' | 'snapshot'>, after: number) {
  if (after > 0) return yield* store.list(after)
  await using snapshot = await store.snapshot()
  yield* snapshot.subscribers
}
