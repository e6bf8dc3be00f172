/** The status of a list. The same for every store. */

import type { StoreStatus } from '../subscriber.ts'

export const DAY_MS = 86_400_000

/** Days that a status has. */
const DAYS = 30

/** Returns the first day of a status, in days since 1970, UTC. Today is the last one. */
export function toFirstDay(): number {
  return Math.floor(Date.now() / DAY_MS) - DAYS + 1
}

interface StatusParts {
  /** The days from `first` on that have subscribers, in days since 1970, UTC. */
  readonly days: readonly { readonly day: number; readonly added: number }[]
  /** The first day: see `toFirstDay`. */
  readonly first: number
  /** The latest `subscribedAt`, in milliseconds since 1970; null when the list is empty. */
  readonly last: number | null
}

/** Computes the part of a status that depends on days. */
export function toStatus({ days, first, last }: StatusParts): Pick<StoreStatus, 'lastAcceptedAt' | 'days'> {
  const added = new Map(days.map((row) => [row.day, row.added]))
  return {
    lastAcceptedAt: last === null ? undefined : new Date(last),
    days: Array.from({ length: DAYS }, (_, index) => ({
      date: new Date((first + index) * DAY_MS).toISOString().slice(0, 10),
      added: added.get(first + index) ?? 0,
    })),
  }
}
