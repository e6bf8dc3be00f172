/** The statements of the inbox of a PostgreSQL list: groups of accepted addresses that are not in the list yet. */

import { randomInt } from 'node:crypto'
import type { SQL } from 'bun'
import type { Address } from '../../email.ts'
import { waitForStorage } from './pool.ts'
import { createMissingRowError } from './schema.ts'

/** Most rows that a slice has. Rows with few addresses cost more than their addresses. */
const MAX_ROWS = 500

/** A group of the inbox. */
export interface Group {
  readonly id: number
  readonly acceptedAt: Date
  readonly addresses: readonly Address[]
}

/** A part of the inbox. */
export interface SliceOptions {
  /** The id after which the slice begins. Default: the start of the inbox. */
  readonly after?: number | undefined
  /** The last id that is read. */
  readonly until: number
  /** The number of addresses before the last group. */
  readonly size: number
}

/**
 * Appends a group, durably, in one statement. It locks nothing that others need, and looks nothing up: the work is the
 * same for new, known and suppressed addresses.
 */
export async function appendGroup(sql: SQL, addresses: readonly Address[]): Promise<void> {
  // The CASE is always true. It is in the statement to save a round trip.
  await sql`
    INSERT INTO rollcall.inbox (shard, size, addresses)
    VALUES (${randomInt(2 ** 31)}, ${addresses.length},
            CASE WHEN ${waitForStorage(sql)} <> '' THEN ${JSON.stringify(addresses)}::text END)`
}

/** What has to be done before a reader sees everything that was accepted. */
export interface Backlog {
  /** The last id in the inbox; undefined when it is empty. */
  readonly until: number | undefined
  /** Whether the last change of the list is below the visible seq. */
  readonly isVisible: boolean
  /** Whether nothing can be done about it, as on a standby. */
  readonly isReadOnly: boolean
}

/** @throws StoreError when the row of `list` is gone */
export async function readBacklog(sql: SQL): Promise<Backlog> {
  const [inbox] = await sql<{ until: number | null; isReadOnly: boolean }[]>`
    SELECT (SELECT max(id) FROM rollcall.inbox)::float8 AS until,
           current_setting('transaction_read_only')::boolean AS "isReadOnly"`
  // After the inbox: in one statement, Citus may read the inbox in a later state than the list.
  const [list] = await sql<{ isVisible: boolean }[]>`
    SELECT visible_seq = next_seq - 1 AS "isVisible" FROM rollcall.list`
  if (!list) throw createMissingRowError()
  return { until: inbox?.until ?? undefined, isVisible: list.isVisible, isReadOnly: inbox?.isReadOnly ?? false }
}

/**
 * Counts the addresses that a reader does not see yet: those in the inbox, and those above the visible seq. It is the most
 * that may be missing, because an address may be repeated or on the list.
 */
export async function countWaiting(sql: SQL): Promise<number> {
  const [row] = await sql<{ waiting: number }[]>`
    SELECT (SELECT coalesce(sum(size), 0) FROM rollcall.inbox)::float8
         + (SELECT count(*) FROM rollcall.subscribers WHERE seq > (SELECT visible_seq FROM rollcall.list))::float8 AS waiting`
  return row?.waiting ?? 0
}

/** Returns when the oldest address in the inbox was accepted; undefined when it is empty. */
export async function readInboxSince(sql: SQL): Promise<Date | undefined> {
  const [row] = await sql<{ acceptedAt: Date }[]>`
    SELECT accepted_at AS "acceptedAt" FROM rollcall.inbox ORDER BY id LIMIT 1`
  return row?.acceptedAt
}

/**
 * Takes the next groups from the inbox, in the order of their ids. A group that commits later may have a lower id than
 * these. The array lets every node of Citus, and a server without statistics, use the index.
 */
export async function takeSlice(sql: SQL, { after, until, size }: SliceOptions): Promise<readonly Group[]> {
  const rows = await sql<{ id: number; acceptedAt: Date; addresses: string }[]>`
    DELETE FROM rollcall.inbox WHERE id = ANY (ARRAY(
      SELECT slice.id FROM (
        SELECT id, sum(size) OVER (ORDER BY id) - size AS preceding FROM rollcall.inbox
        WHERE id > ${after ?? -1}::float8::bigint AND id <= ${until}::float8::bigint ORDER BY id LIMIT ${MAX_ROWS}
      ) AS slice WHERE preceding < ${size}
    )) RETURNING id::float8, accepted_at AS "acceptedAt", addresses`
  const groups = rows.map(({ addresses, ...group }) => ({ ...group, addresses: JSON.parse(addresses) }))
  return groups.sort((one, other) => one.id - other.id)
}
