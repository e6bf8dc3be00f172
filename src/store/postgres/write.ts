/** The statements that change a PostgreSQL list. The caller holds the lock. */

import type { SQL } from 'bun'
import type { Address } from '../../email.ts'
import { type Count, type ListCopy, StoreError, type Subscriber, type Suppression } from '../../subscriber.ts'
import type { Changes } from '../changes.ts'
import { expectCount } from './error.ts'
import { readCount } from './read.ts'
import { toKeySides } from './schema.ts'

/** Writes changes. @param last new numbers begin after it */
export async function applyChanges(
  transaction: SQL,
  { add, remove, suppress, forget }: Changes,
  last: number,
): Promise<void> {
  if (remove.length > 0) await removeSubscribers(transaction, remove)
  if (forget.length > 0) await deleteSuppressions(transaction, forget)
  if (suppress.length > 0) await suppressAddresses(transaction, suppress)
  if (add.length === 0) return
  await insertSubscribers(
    transaction,
    add.map((row, index) => ({ ...row, seq: last + 1 + index })),
  )
  // None of them is suppressed.
  await transaction`UPDATE rollcall.list SET last_seq = ${last + add.length}::bigint, forgotten_seq = ${last + add.length}::bigint`
}

async function removeSubscribers(transaction: SQL, subscribers: readonly Subscriber[]): Promise<void> {
  // By number and identity: whatever happens to a number on its way, nobody else is deleted.
  const result = await transaction`
    DELETE FROM rollcall.subscribers s
    USING json_to_recordset(${JSON.stringify(subscribers)}::text::json) AS given (seq bigint, email text)
    WHERE s.seq = given.seq AND lower(s.email) = lower(given.email COLLATE "C")`
  expectCount(result, subscribers.length, 'subscribers')
}

async function deleteSuppressions(transaction: SQL, addresses: readonly Address[]): Promise<void> {
  const result = await transaction`
    DELETE FROM rollcall.suppressions WHERE hash IN (
      SELECT rollcall.suppression_hash(inner_key, outer_key, email)
      FROM rollcall.list, json_array_elements_text(${JSON.stringify(addresses)}::text::json) AS given (email)
    )`
  expectCount(result, addresses.length, 'suppressions')
}

async function suppressAddresses(transaction: SQL, rows: Changes['suppress']): Promise<void> {
  const result = await transaction`
    INSERT INTO rollcall.suppressions
    SELECT rollcall.suppression_hash(inner_key, outer_key, email), "suppressedAt"
    FROM rollcall.list,
      json_to_recordset(${JSON.stringify(rows)}::text::json) AS given (email text, "suppressedAt" timestamptz)
    ON CONFLICT (hash) DO UPDATE SET suppressed_at = excluded.suppressed_at`
  expectCount(result, rows.length, 'suppressions')
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

async function insertSuppressions(transaction: SQL, rows: readonly Suppression[]): Promise<void> {
  const given = rows.map(({ hash, suppressedAt }) => ({ hash: Buffer.from(hash).toString('hex'), suppressedAt }))
  const result = await transaction`
    INSERT INTO rollcall.suppressions SELECT decode(hash, 'hex'), "suppressedAt"
    FROM json_to_recordset(${JSON.stringify(given)}::text::json) AS given (hash text, "suppressedAt" timestamptz)`
  expectCount(result, rows.length, 'suppressions')
}

/** Makes an empty list a copy of another one. @throws StoreError when it is not empty, or does not take a row */
export async function fillList(transaction: SQL, { head, subscribers, suppressions }: ListCopy): Promise<Count> {
  const before = await readCount(transaction)
  if (before.subscribers + before.suppressed > 0) {
    throw new StoreError('the list to copy to is not empty: use "rollcall export" and "rollcall import" instead')
  }
  for await (const page of subscribers) await insertSubscribers(transaction, page)
  for await (const page of suppressions) await insertSuppressions(transaction, page)
  const { inner, outer } = toKeySides(head.suppressionKey)
  await transaction`
    UPDATE rollcall.list SET id = ${head.id}, inner_key = ${inner}::bytea, outer_key = ${outer}::bytea,
      last_seq = ${head.lastSeq}::bigint, forgotten_seq = ${head.lastSeq}::bigint`
  return await readCount(transaction)
}
