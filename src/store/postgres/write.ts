/** The statements that change a PostgreSQL list. The caller holds the lock. */

import type { SQL } from 'bun'
import type { Address } from '../../email.ts'
import { type Count, type ListCopy, StoreError, type Subscriber } from '../../subscriber.ts'
import type { Changes } from '../changes.ts'
import { NOT_EMPTY } from '../check.ts'
import { expectCount } from './error.ts'
import { createHexHash, readCount } from './read.ts'

/** Writes changes. @param last new numbers begin after it */
export async function applyChanges(
  transaction: SQL,
  { add, remove, suppress, forget }: Changes,
  last: number,
): Promise<void> {
  if (remove.length > 0) await removeSubscribers(transaction, remove)
  if (forget.length > 0) expectCount(await deleteSuppressions(transaction, forget), forget.length, 'suppressions')
  if (suppress.length > 0) {
    const hashOf = await createHexHash(transaction)
    const rows = suppress.map(({ email, suppressedAt }) => ({ hash: hashOf(email), suppressedAt }))
    await insertSuppressions(transaction, rows)
  }
  if (add.length === 0) return
  await insertSubscribers(
    transaction,
    add.map((row, index) => ({ ...row, seq: last + 1 + index })),
  )
  const end = last + add.length
  // None of them is suppressed, and the caller has forgotten everybody before them.
  await transaction`UPDATE rollcall.list SET last_seq = ${end}::bigint, forgotten_seq = ${end}::bigint`
}

/** Subscribers whose suppressions are looked for at a time. */
const RETURNED_BATCH = 10_000

/**
 * Deletes the suppressions of some who subscribed since the last change: a new subscription is a new consent. Only the owner's
 * changes do this, and not compaction: nobody can tell from the time of a later request who was suppressed.
 *
 * @returns whether there may be more
 */
export async function forgetReturned(transaction: SQL): Promise<boolean> {
  const rows = await transaction<{ seq: string; email: Address }[]>`
    SELECT seq, email FROM rollcall.subscribers
    WHERE seq > (SELECT max(forgotten_seq) FROM rollcall.list) AND EXISTS (SELECT FROM rollcall.suppressions)
    ORDER BY seq LIMIT ${RETURNED_BATCH}::integer`
  const emails = rows.map(({ email }) => email)
  if (rows.length > 0) await deleteSuppressions(transaction, emails)
  // Null when there are no more: then everybody is done.
  const last = rows[RETURNED_BATCH - 1]?.seq ?? null
  await transaction`UPDATE rollcall.list SET forgotten_seq = coalesce(${last}::bigint, last_seq)`
  return last !== null
}

async function removeSubscribers(transaction: SQL, subscribers: readonly Subscriber[]): Promise<void> {
  // By number and identity: whatever happens to a number on its way, nobody else is deleted.
  const result = await transaction`
    DELETE FROM rollcall.subscribers s
    USING json_to_recordset(${JSON.stringify(subscribers)}::text::json) AS given (seq bigint, email text)
    WHERE s.seq = given.seq AND lower(s.email) = lower(given.email COLLATE "C")`
  expectCount(result, subscribers.length, 'subscribers')
}

async function deleteSuppressions(
  transaction: SQL,
  addresses: readonly Address[],
): Promise<{ readonly count: number }> {
  const hashes = addresses.map(await createHexHash(transaction))
  return await transaction`
    DELETE FROM rollcall.suppressions
    WHERE hash IN (SELECT decode(hex, 'hex') FROM unnest(${transaction.array(hashes, 'TEXT')}::text[]) AS given (hex))`
}

/** In the order of the index, each of its pages is written once. */
async function insertSubscribers(transaction: SQL, rows: readonly Subscriber[]): Promise<void> {
  const result = await transaction`
    INSERT INTO rollcall.subscribers SELECT seq, email, "subscribedAt"
    FROM json_to_recordset(${JSON.stringify(rows)}::text::json)
      AS given (seq bigint, email text, "subscribedAt" timestamptz)
    ORDER BY lower(email COLLATE "C")`
  expectCount(result, rows.length, 'subscribers')
}

/** Replaces the date of a suppression that the list has. The hashes are in hexadecimal. */
async function insertSuppressions(
  transaction: SQL,
  rows: readonly { readonly hash: string; readonly suppressedAt: Date }[],
): Promise<void> {
  const result = await transaction`
    INSERT INTO rollcall.suppressions SELECT decode(hash, 'hex'), "suppressedAt"
    FROM json_to_recordset(${JSON.stringify(rows)}::text::json) AS given (hash text, "suppressedAt" timestamptz)
    ON CONFLICT (hash) DO UPDATE SET suppressed_at = excluded.suppressed_at`
  expectCount(result, rows.length, 'suppressions')
}

/** Makes an empty list a copy of another one. @throws StoreError when it is not empty, or does not take a row */
export async function insertList(transaction: SQL, { head, subscribers, suppressions }: ListCopy): Promise<Count> {
  // The other list may be slow, and this one large.
  await transaction`
    SELECT set_config('idle_in_transaction_session_timeout', '0', true), set_config('statement_timeout', '0', true)`
  const before = await readCount(transaction)
  if (before.subscribers + before.suppressed > 0) {
    throw new StoreError(NOT_EMPTY)
  }
  for await (const page of subscribers) await insertSubscribers(transaction, page)
  for await (const page of suppressions) {
    const rows = page.map(({ hash, suppressedAt }) => ({ hash: Buffer.from(hash).toString('hex'), suppressedAt }))
    await insertSuppressions(transaction, rows)
  }
  await transaction`
    UPDATE rollcall.list SET id = ${head.id}, suppression_key = ${Buffer.from(head.suppressionKey)}::bytea,
      last_seq = ${head.lastSeq}::bigint, forgotten_seq = ${head.lastSeq}::bigint`
  return await readCount(transaction)
}
