/** Chooses what an export writes. */

import { setTimeout as sleep } from 'node:timers/promises'
import { isReserved } from '../../email.ts'
import type { Subscriber, SubscriberStore } from '../../subscriber.ts'

export interface SelectOptions {
  /** Begin behind this cursor. */
  readonly after: number
  /** Most subscribers that are chosen. */
  readonly limit?: number | undefined
  /** Those in reserved domains as well. */
  readonly includeReserved?: boolean | undefined
  /** Goes on when the end is reached, for whatever comes. */
  readonly follow?: boolean | undefined
}

/** A page of the chosen. */
export interface Selection {
  readonly rows: readonly Subscriber[]
  /** Everything up to here has been looked at. */
  readonly cursor: number
}

/** Between two looks for what is new, in milliseconds: it is to be seen within a second. */
const LOOK_MS = 400

/** Goes through the list; every page moves the cursor, even where none of it is chosen. */
export async function* select(
  store: Pick<SubscriberStore, 'list'>,
  { after, limit = Number.POSITIVE_INFINITY, includeReserved, follow }: SelectOptions,
): AsyncGenerator<Selection> {
  let cursor = after
  let left = limit
  do {
    if (left === 0) return
    for await (const page of store.list({ after: cursor })) {
      const chosen = includeReserved ? page : page.filter(({ email }) => !isReserved(email))
      const rows = chosen.length > left ? chosen.slice(0, left) : chosen
      // What was cut off is for the next time.
      cursor = (rows.length < chosen.length ? rows : page).at(-1)?.seq ?? cursor
      left -= rows.length
      yield { rows, cursor }
      if (left === 0) return
    }
    if (follow) await sleep(LOOK_MS)
  } while (follow)
}
