/** The status of a list, computed from one scan of it. */

import type { Count, StoreStatus } from '../subscriber.ts'

/** The subscribers of one day. */
export interface DayRow extends Omit<Count, 'suppressed'> {
  /** Days since 1970, UTC. */
  readonly day: number
  /** The latest `subscribedAt` of the day, in milliseconds since 1970. */
  readonly last: number
}

export const DAY_MS = 86_400_000

/** The first of the last `days` days, in days since 1970, UTC. Today is the last. */
export function toFirstDay(days: number): number {
  return Math.floor(Date.now() / DAY_MS) - days + 1
}

/** @param rows one for each day; the days before `first` may share a row */
export function toStatus(
  rows: readonly DayRow[],
  { first, days }: { readonly first: number; readonly days: number },
): Omit<StoreStatus, 'bytes' | 'suppressed'> {
  const added = new Map(rows.map((row) => [row.day, row.subscribers]))
  const sum = (column: 'subscribers' | 'reserved') => rows.reduce((total, row) => total + row[column], 0)
  return {
    subscribers: sum('subscribers'),
    reserved: sum('reserved'),
    lastAcceptedAt: rows.length > 0 ? new Date(Math.max(...rows.map(({ last }) => last))) : undefined,
    days: Array.from({ length: days }, (_, index) => ({
      date: new Date((first + index) * DAY_MS).toISOString().slice(0, 10),
      added: added.get(first + index) ?? 0,
    })),
  }
}
