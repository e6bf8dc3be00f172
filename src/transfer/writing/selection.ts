/** Selects the subscribers that an export writes. */

import { isReserved } from '../../email.ts'
import type { Subscriber, SubscriberStore } from '../../subscriber.ts'
import { checkCursor } from '../cursor-file.ts'

export interface SelectOptions {
  /** Start after this cursor. */
  readonly after: number
  /** The id of the list. */
  readonly listId: string
  /** Stop after this cursor. */
  readonly until?: number | undefined
  /** Most subscribers to select. */
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

/**
 * Reads the list page by page. A page may have no rows; its cursor still moves on.
 *
 * @throws Failure when the cursor is ahead of the list, or the list has another id: it may be replaced meanwhile
 */
export async function* selectPages(
  store: Pick<SubscriberStore, 'list' | 'numbering'>,
  { after, listId, until, limit = Number.POSITIVE_INFINITY, includeReserved }: SelectOptions,
): AsyncGenerator<SelectedPage> {
  let cursor = after
  let remaining = limit
  if (remaining === 0) return
  await checkCursor(store, { seq: cursor, list: listId })
  for await (const listed of store.list({ after: cursor })) {
    const page = until === undefined ? listed : listed.filter(({ seq }) => seq <= until)
    if (page.length === 0) return
    const candidates = includeReserved ? page : page.filter(({ email }) => !isReserved(email))
    const rows = candidates.length > remaining ? candidates.slice(0, remaining) : candidates
    // At the limit the cursor stays at the last row, so that the next export selects the others.
    const last = (rows.length < candidates.length ? rows : page).at(-1)
    cursor = last?.seq ?? cursor
    remaining -= rows.length
    yield { rows, cursor, reserved: last ? page.lastIndexOf(last) + 1 - rows.length : 0 }
    if (remaining === 0) return
  }
}
