/** Changes of the owner to a SQLite list. Every function works in the transaction of its caller. */

import type { Database } from 'bun:sqlite'
import { type Count, type ListCopy, StoreError, type Subscriber, type Suppression } from '../../subscriber.ts'
import type { Changes } from '../changes.ts'
import { deleteSuppressions } from './compaction.ts'
import { countInbox, takeNumbers } from './inbox.ts'
import { createSuppressionHash, readCount } from './read.ts'

/** Writes changes. The inbox is empty, so numbers increase in the order in which subscribers become visible. */
export function applyChanges(db: Database, { add, remove, suppress, forget }: Changes): void {
  const hashOf = createSuppressionHash(db)
  if (remove.length > 0) removeSubscribers(db, remove)
  if (add.length > 0) addSubscribers(db, add)
  insertSuppressions(
    db,
    suppress.map(({ email, suppressedAt }) => ({ hash: hashOf(email), suppressedAt })),
  )
  if (forget.length > 0) deleteSuppressions(db, forget.map(hashOf))
}

function removeSubscribers(db: Database, subscribers: readonly Subscriber[]): void {
  const [seqs, emails] = [subscribers.map(({ seq }) => seq), subscribers.map(({ email }) => email)]
  db.query('DELETE FROM subscribers WHERE seq IN (SELECT value FROM json_each(?1))').run(JSON.stringify(seqs))
  db.query('DELETE FROM identities WHERE email IN (SELECT value FROM json_each(?1))').run(JSON.stringify(emails))
}

function addSubscribers(db: Database, rows: Changes['add']): void {
  const first = takeNumbers(db, rows.length)
  insertSubscribers(
    db,
    rows.map((row, index) => ({ ...row, seq: first + index })),
  )
  insertIdentities(db, first)
}

/** In the order of `identities`, each of its pages is written once. OR FAIL: see compaction.ts. */
function insertIdentities(db: Database, first: number): void {
  db.query(
    'INSERT OR FAIL INTO identities SELECT email, seq FROM subscribers WHERE seq >= ?1 ORDER BY email COLLATE NOCASE',
  ).run(first)
}

function insertSubscribers(db: Database, rows: readonly Subscriber[]): void {
  db.query('INSERT INTO subscribers SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?1)').run(
    JSON.stringify(rows.map(({ seq, email, subscribedAt }) => [seq, email, subscribedAt.getTime()])),
  )
}

/** Replaces the date of a suppression that the list has. */
function insertSuppressions(db: Database, suppressions: readonly Suppression[]): void {
  if (suppressions.length === 0) return
  const rows = suppressions.map(({ hash, suppressedAt }) => [Buffer.from(hash).toString('hex'), suppressedAt.getTime()])
  db.query(
    `INSERT OR REPLACE INTO suppressions SELECT unhex(value ->> 0), value ->> 1 FROM json_each(?1)
     ORDER BY value ->> 0`,
  ).run(JSON.stringify(rows))
}

/**
 * Makes an empty list a copy of another one, in the transaction of the caller.
 *
 * @throws StoreError when it is not empty, or does not have all that was copied
 */
export async function fillList(db: Database, { head, subscribers, suppressions }: ListCopy): Promise<Count> {
  const before = readCount(db)
  if (before.subscribers + before.suppressed + countInbox(db) > 0) {
    throw new StoreError('the list to copy to is not empty: use "rollcall export" and "rollcall import" instead')
  }
  let [expected, suppressed, last] = [0, 0, 0]
  for await (const page of subscribers) {
    insertSubscribers(db, page)
    expected += page.length
    last = page.at(-1)?.seq ?? last
  }
  for await (const page of suppressions) {
    insertSuppressions(db, page)
    suppressed += page.length
  }
  insertIdentities(db, 0)
  const { changes } = db
    .query('UPDATE list SET id = ?1, suppression_key = ?2, last_seq = max(last_seq, ?3, ?4)')
    .run(head.id, head.suppressionKey, head.lastSeq, last)
  const after = readCount(db)
  const isComplete = changes === 1 && after.subscribers === expected && after.suppressed === suppressed
  if (!isComplete) throw new StoreError(`the copy is incomplete: ${after.subscribers} of ${expected} addresses`)
  return after
}
