/**
 * The inbox of a SQLite list, and its compaction.
 *
 * To accept addresses, the store appends them to `inbox` as one row, and looks nothing up. Compaction moves them into the
 * list later, in slices. A slice is sorted by identity, and it is large, because each page of the unique index is written
 * once for each slice, however many addresses share it. So this index costs about as much as a log-structured one.
 */

import type { Database } from 'bun:sqlite'
import type { Address } from '../../email.ts'
import { createSuppressionHash, toClockSeq } from '../head.ts'
import type { Slice } from '../schedule.ts'
import { LAST_SEQ, readHead } from './read.ts'
import { getRow } from './transaction.ts'

/**
 * Addresses of the first slice, and of the largest and the smallest one. A large slice needs fewer writes for each address while
 * the index has less than about ten pages for each of its addresses; on a longer list, short slices cost little more.
 */
const SLICE_SIZE = { first: 5_000, max: 50_000, min: 1_000 } as const

/** Milliseconds that a slice should take: no commit is possible meanwhile. */
const SLICE_MS = 100

/** Rows of the inbox that are looked at for a slice. A busy service writes rows of 20 to 100 addresses. */
const MAX_ROWS = 8192

/**
 * Appends a batch to the inbox, with its numbers: see toClockSeq. One statement, which writes one page if it can: every
 * request waits for it. An empty batch commits too.
 *
 * @param addresses a JSON array
 * @returns how many addresses it has
 * @throws SQLiteError when it cannot be written
 */
export function append(db: Database, addresses: string): number {
  if (addresses === '[]') {
    db.query('UPDATE list SET last_seq = last_seq').run()
    return 0
  }
  // Without RETURNING: `get` would commit after the row, and hide an error of the disk.
  db.query(`INSERT INTO inbox SELECT max(?1, ${LAST_SEQ}) + 1, ?2, ?3 FROM list`).run(
    toClockSeq(),
    Date.now(),
    addresses,
  )
  // No address has a quotation mark.
  return addresses.split('","').length
}

/** Gives out numbers without the inbox, in the transaction of the caller. */
export function takeNumbers(db: Database, size: number): void {
  db.query(`UPDATE list SET last_seq = max(?1, ${LAST_SEQ}) + ?2`).run(toClockSeq(), size)
}

/** Returns when the oldest address in the inbox was accepted; undefined when it is empty. */
export function readInboxSince(db: Database): Date | undefined {
  const oldest = db.query<{ at: number }, []>('SELECT accepted_at AS at FROM inbox ORDER BY first_seq LIMIT 1').get()
  return oldest ? new Date(oldest.at) : undefined
}

/** Counts the addresses in the inbox, repeats included. */
export function countInbox(db: Database): number {
  return getRow(
    db.query<{ size: number }, []>('SELECT coalesce(sum(json_array_length(addresses)), 0) AS size FROM inbox'),
  ).size
}

/** Creates the compaction of a list. Its slices take about SLICE_MS, as the last ones did. */
export function createCompaction(db: Database): (until?: number) => Slice {
  let size: number = SLICE_SIZE.first

  return (until = Number.MAX_SAFE_INTEGER) => {
    const start = performance.now()
    const slice = runUnsynced(db, () => compactSlice(db, size, until))
    const ms = performance.now() - start
    if (slice.moved > 0) size = toNextSize(size, slice.moved, ms)
    return slice
  }
}

/** Shrinks at once, because requests wait for a slice, and grows in steps. */
function toNextSize(size: number, moved: number, ms: number): number {
  const fitting = (moved * SLICE_MS) / ms
  // A slice that was short shows only how fast it was, and not that a large one is slow.
  if (moved < size / 2 && fitting > size) return size
  const next = fitting < size ? fitting : (size + Math.min(fitting, 2 * size)) / 2
  return Math.round(Math.min(Math.max(next, SLICE_SIZE.min), SLICE_SIZE.max))
}

/** Moves the whole inbox, in the transaction of the caller. */
export function compactAll(db: Database): void {
  while (compactSlice(db, SLICE_SIZE.max, Number.MAX_SAFE_INTEGER).left);
}

interface InboxRow {
  readonly seq: number
  readonly size: number
}

/** Moves the oldest rows of the inbox, up to about `size` addresses, in the transaction of the caller. */
function compactSlice(db: Database, size: number, until: number): Slice {
  const rows = db
    .query<InboxRow, [until: number, limit: number]>(
      `SELECT first_seq AS seq, json_array_length(addresses) AS size FROM inbox
       WHERE first_seq <= ?1 ORDER BY first_seq LIMIT ?2`,
    )
    .all(until, MAX_ROWS)
  const [first, ...rest] = rows
  if (!first) return { moved: 0, left: false }
  let [last, moved] = [first, first.size]
  for (const row of rest) {
    if (moved + row.size > size) break
    last = row
    moved += row.size
  }
  moveRows(db, first.seq, last.seq)
  // From now on, only this says which numbers were given out.
  db.query('UPDATE list SET last_seq = max(last_seq, ?1)').run(last.seq + last.size - 1)
  return { moved, left: rows.at(-1) !== last || rows.length === MAX_ROWS }
}

function moveRows(db: Database, first: number, last: number): void {
  // The first one of equal identities is the one with the lowest seq.
  db.query(
    `INSERT INTO subscribers SELECT first_seq + key, value, accepted_at FROM inbox, json_each(addresses)
     WHERE first_seq <= ?1 ORDER BY value COLLATE NOCASE, first_seq + key
     ON CONFLICT (email) DO NOTHING`,
  ).run(last)
  db.query('DELETE FROM inbox WHERE first_seq <= ?1').run(last)
  liftSuppressions(db, first)
}

/** Deletes the suppressions of new subscribers: a new subscription is a new consent. */
function liftSuppressions(db: Database, first: number): void {
  if (db.query('SELECT 1 FROM suppressions LIMIT 1').get() === null) return
  const hashOf = createSuppressionHash(readHead(db))
  const added = db.query<{ email: Address }, [number]>('SELECT email FROM subscribers WHERE seq >= ?1').all(first)
  deleteSuppressions(
    db,
    added.map(({ email }) => hashOf(email)),
  )
}

/** Deletes suppressions, in the transaction of the caller. */
export function deleteSuppressions(db: Database, hashes: readonly Buffer[]): void {
  const list = JSON.stringify(hashes.map((hash) => hash.toString('hex')).sort())
  db.query('DELETE FROM suppressions WHERE hash IN (SELECT unhex(value) FROM json_each(?1))').run(list)
}

/**
 * Runs work as one transaction that does not wait for the disk. The inbox is on stable storage already. The log keeps the
 * order of commits, so a power cut undoes the last slices as a whole.
 */
function runUnsynced<T>(db: Database, work: () => T): T {
  db.run('PRAGMA synchronous = NORMAL')
  try {
    return db.transaction(work).immediate()
  } finally {
    db.run('PRAGMA synchronous = FULL')
  }
}
