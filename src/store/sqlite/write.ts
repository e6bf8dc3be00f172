/** Changes of the owner to a SQLite list. Every function works in the transaction of its caller. */

import type { Database } from 'bun:sqlite'
import type { Address } from '../../email.ts'
import type { Subscriber, Suppression } from '../../subscriber.ts'
import { type Changes, createSuppressionHash } from '../changes.ts'
import { takeNumbers } from './inbox.ts'
import { readHead } from './read.ts'

/** Subscribers whose suppressions are looked for at a time: about 20 ms. */
const RETURNED_BATCH = 10_000

/**
 * Deletes the suppressions of some who subscribed since the last change: a new subscription is a new consent. Only the owner's
 * changes do this, and not compaction: nobody can tell from the time of a later request who was suppressed. Returns whether there
 * may be more.
 */
export function forgetReturned(db: Database): boolean {
  const rows = db
    .query<{ seq: number; email: Address }, []>(
      `SELECT seq, email FROM list CROSS JOIN subscribers
       WHERE seq > forgotten_seq AND EXISTS (SELECT 1 FROM suppressions) ORDER BY seq LIMIT ${RETURNED_BATCH}`,
    )
    .all()
  deleteSuppressions(
    db,
    rows.map(({ email }) => email),
  )
  // Null when there are no more, or no suppressions: then everybody is done, up to the last subscriber.
  const last = rows[RETURNED_BATCH - 1]?.seq ?? null
  db.query(
    `UPDATE list SET forgotten_seq = up_to FROM (SELECT coalesce(?1, max(seq)) AS up_to FROM subscribers)
     WHERE forgotten_seq < up_to`,
  ).run(last)
  return last !== null
}

function deleteSuppressions(db: Database, addresses: readonly Address[]): void {
  if (addresses.length === 0) return
  const hashOf = createSuppressionHash(readHead(db).suppressionKey)
  const hashes = addresses.map((address) => hashOf(address).toString('hex'))
  // Sorted: in the order of the table, each of its pages is written once.
  db.query('DELETE FROM suppressions WHERE hash IN (SELECT unhex(value) FROM json_each(?1))').run(
    JSON.stringify(hashes.sort()),
  )
}

/** Writes changes. The inbox is empty, so numbers increase in the order in which subscribers become visible. */
export function applyChanges(db: Database, { add, remove, suppress, forget }: Changes): void {
  const hashOf = createSuppressionHash(readHead(db).suppressionKey)
  if (remove.length > 0) removeSubscribers(db, remove)
  if (add.length > 0) addSubscribers(db, add)
  insertSuppressions(
    db,
    suppress.map(({ email, suppressedAt }) => ({ hash: hashOf(email), suppressedAt })),
  )
  deleteSuppressions(db, forget)
}

function removeSubscribers(db: Database, subscribers: readonly Subscriber[]): void {
  const seqs = subscribers.map(({ seq }) => seq)
  const emails = subscribers.map(({ email }) => email)
  db.query('DELETE FROM subscribers WHERE seq IN (SELECT value FROM json_each(?1))').run(JSON.stringify(seqs))
  db.query('DELETE FROM identities WHERE identity IN (SELECT lower(value) FROM json_each(?1))').run(
    JSON.stringify(emails),
  )
}

function addSubscribers(db: Database, rows: Changes['add']): void {
  const first = takeNumbers(db, rows.length)
  insertSubscribers(
    db,
    rows.map((row, index) => ({ ...row, seq: first + index })),
  )
  // In the order of `identities`, each of its pages is written once. OR FAIL: see compaction.ts.
  db.query(
    'INSERT OR FAIL INTO identities SELECT lower(email) AS identity, seq FROM subscribers WHERE seq >= ?1 ORDER BY identity',
  ).run(first)
  // The caller has forgotten everybody before them, and none of them was suppressed.
  db.query('UPDATE list SET forgotten_seq = last_seq').run()
}

/** Appends subscribers with their numbers. Adds no identities. */
export function insertSubscribers(db: Database, rows: readonly Subscriber[]): void {
  db.query('INSERT INTO subscribers SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?1)').run(
    JSON.stringify(rows.map(({ seq, email, subscribedAt }) => [seq, email, subscribedAt.getTime()])),
  )
}

/** Replaces the date of a suppression that the list has. */
export function insertSuppressions(db: Database, suppressions: readonly Suppression[]): void {
  if (suppressions.length === 0) return
  const rows = suppressions.map(({ hash, suppressedAt }) => [Buffer.from(hash).toString('hex'), suppressedAt.getTime()])
  db.query(
    `INSERT OR REPLACE INTO suppressions SELECT unhex(value ->> 0), value ->> 1 FROM json_each(?1)
     ORDER BY value ->> 0`,
  ).run(JSON.stringify(rows))
}
