/**
 * The inbox of a SQLite list, and its compaction.
 *
 * To accept addresses, the store appends them to `inbox` as one row, and looks nothing up. Compaction moves them into the
 * list later, in passes. A pass sorts many addresses, and adds them to `identities` in slices, so that each page of it is
 * written once for each pass, however many addresses share it. Then it adds the ones that are new to `subscribers`, in the
 * order of their numbers. No commit waits longer than a slice, and the size of a slice does not change what a pass costs.
 */

import type { Database } from 'bun:sqlite'
import type { Address } from '../../email.ts'
import { createSuppressionHash, toClockSeq } from '../head.ts'
import type { Slice } from '../schedule.ts'
import { toDamage } from './error.ts'
import { LAST_SEQ, readHead } from './read.ts'
import { getRow } from './transaction.ts'

/** Addresses of a pass. Each needs about 80 bytes of memory. */
const PASS_SIZE = 500_000

/** Addresses of a slice. It blocks commits for 30 to 150 ms on ten million subscribers and a slow disk. */
const SLICE_SIZE = 2_000

/** Rows of the inbox that are read at once. A busy service writes rows of 20 to 100 addresses. */
const SLICE_ROWS = 100

/**
 * Appends a batch to the inbox, with its numbers: see toClockSeq. This is one statement, which usually writes one page,
 * because every request waits for it. An empty batch commits too.
 *
 * @param addresses a JSON array
 * @returns how many addresses it has
 * @throws SQLiteError when it cannot be written; StoreError when the list is damaged
 */
export function append(db: Database, addresses: string): number {
  const isEmpty = addresses === '[]'
  // Without RETURNING: `get` would commit after the row, and hide an error of the disk.
  const { changes } = isEmpty
    ? db.query('UPDATE list SET last_seq = last_seq').run()
    : db
        .query(`INSERT INTO inbox SELECT max(?1, ${LAST_SEQ}) + 1, ?2, ?3 FROM list`)
        .run(toClockSeq(), Date.now(), addresses)
  // A list without its head takes nothing, and SQLite reports no error.
  if (changes === 0) throw toDamage(db, 'its head cannot be read')
  // No address has a quotation mark.
  return isEmpty ? 0 : addresses.split('","').length
}

/** Gives out numbers for addresses that do not go through the inbox, in the transaction of the caller. */
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

/**
 * A pass: the oldest rows of the inbox, from the first to the last number. The rest of its state is in tables in memory, which
 * take part in transactions. A crash repeats the pass, and a step that is repeated changes nothing.
 */
interface Pass {
  readonly first: number
  readonly last: number
  readonly isSorted: boolean
  /** The last entry that is in `identities`, and how many are not. */
  readonly done: Entry
  readonly left: number
}

/** A row of the table `sorted`. */
interface Entry {
  readonly identity: string
  readonly seq: number
}

/** Creates the tables of a pass, on a connection that compacts. */
export function openPass(db: Database): void {
  db.run(`ATTACH ':memory:' AS pass`)
  // In lower case: SQLite compares bytes faster than with NOCASE. The order is the same.
  db.run('CREATE TABLE pass.sorted (identity TEXT, seq INTEGER, PRIMARY KEY (identity, seq)) WITHOUT ROWID')
  // The numbers of addresses whose identity has another number.
  db.run('CREATE TABLE pass.repeated (seq INTEGER PRIMARY KEY)')
}

/** Creates the compaction of a list. */
export function createCompaction(db: Database): (until?: number) => Slice {
  let pass: Pass | undefined

  return (until = Number.MAX_SAFE_INTEGER) => {
    if (!pass?.isSorted) pass = sortRows(db, pass, until)
    if (!pass?.isSorted) return { moved: 0, left: pass !== undefined }
    const current = pass
    const { moved, rest } = runUnsynced(db, () => moveSlice(db, current))
    pass = rest
    return { moved, left: pass !== undefined || hasRows(db, until) }
  }
}

/** Moves the whole inbox, in the transaction of the caller. */
export function compactAll(db: Database): void {
  let pass: Pass | undefined
  do {
    pass = sortRows(db, pass, Number.MAX_SAFE_INTEGER)
    while (pass?.isSorted) pass = moveSlice(db, pass).rest
  } while (pass || hasRows(db))
}

function hasRows(db: Database, until = Number.MAX_SAFE_INTEGER): boolean {
  return db.query('SELECT 1 FROM inbox WHERE first_seq <= ?1 LIMIT 1').get(until) !== null
}

interface Rows {
  readonly first: number | null
  readonly last: number | null
  readonly count: number
}

/** Finds the oldest rows of the inbox after a number, up to SLICE_ROWS. */
function findRows(db: Database, after: number, until: number): Rows {
  return getRow(
    db.query<Rows, [after: number, until: number]>(
      `SELECT min(first_seq) AS first, max(first_seq) AS last, count(*) AS count FROM (
         SELECT first_seq FROM inbox WHERE first_seq > ?1 AND first_seq <= ?2 ORDER BY first_seq LIMIT ${SLICE_ROWS}
       )`,
    ),
    after,
    until,
  )
}

/** Starts or continues a pass: sorts more addresses. Writes nothing to the list. */
function sortRows(db: Database, pass: Pass | undefined, until: number): Pass | undefined {
  if (!pass) {
    db.run('DELETE FROM pass.sorted')
    db.run('DELETE FROM pass.repeated')
  }
  const { first, last, count } = findRows(db, pass?.last ?? 0, until)
  if (first === null || last === null) return pass && { ...pass, isSorted: true }
  const { changes } = db
    .query(
      `INSERT INTO pass.sorted SELECT lower(value) AS identity, first_seq + key FROM inbox, json_each(addresses)
       WHERE first_seq BETWEEN ?1 AND ?2 ORDER BY identity`,
    )
    .run(first, last)
  const left = (pass?.left ?? 0) + changes
  const isSorted = count < SLICE_ROWS || left >= PASS_SIZE
  return { first: pass?.first ?? first, last, isSorted, done: { identity: '', seq: 0 }, left }
}

/** Runs a slice of a sorted pass, in the transaction of the caller. @returns what is left of the pass */
function moveSlice(db: Database, pass: Pass): { readonly moved: number; readonly rest?: Pass | undefined } {
  if (pass.left === 0) return { moved: 0, rest: addSubscribers(db, pass) }
  // Another process has moved rows of the pass, and the owner may have removed their addresses since.
  if (!hasRows(db, pass.first)) return { moved: 0 }
  const moved = Math.min(pass.left, SLICE_SIZE)
  const rest = { ...pass, done: addIdentities(db, pass.done, moved), left: pass.left - moved }
  return { moved, rest: rest.left > 0 ? rest : addSubscribers(db, rest) }
}

/** Selects the entries after one. The caller says how many. */
const NEXT = 'SELECT identity, seq FROM pass.sorted WHERE (identity, seq) > (?1, ?2) ORDER BY identity, seq LIMIT'

/** Adds some entries after one. @returns the last of them */
function addIdentities(db: Database, { identity, seq }: Entry, size: number): Entry {
  // The first one of equal identities is the one with the lowest seq. OR FAIL: to undo this statement alone, SQLite would
  // copy each page before it changes (https://sqlite.org/tempfiles.html, "Statement Journal Files").
  const { changes: added } = db
    .query(`INSERT OR FAIL INTO identities ${NEXT} ?3 ON CONFLICT (email) DO NOTHING`)
    .run(identity, seq, size)
  if (added < size) {
    // Some may be repeated. One with the same seq is new: this slice was run before.
    db.query(
      `INSERT INTO pass.repeated SELECT s.seq FROM (${NEXT} ?3) s CROSS JOIN identities i ON i.email = s.identity
       WHERE i.seq <> s.seq`,
    ).run(identity, seq, size)
  }
  return getRow(db.query<Entry, [string, number, number]>(`${NEXT} 1 OFFSET ?3`), identity, seq, size - 1)
}

/** Moves the new addresses of the oldest rows of a pass to the end of the list, and deletes these rows. */
function addSubscribers(db: Database, pass: Pass): Pass | undefined {
  const { first, last } = findRows(db, 0, pass.last)
  if (first === null || last === null) return undefined
  // Without the rows of the inbox, only this says which numbers were given out.
  db.query(
    `UPDATE list SET last_seq = max(last_seq,
       (SELECT first_seq + json_array_length(addresses) - 1 FROM inbox WHERE first_seq = ?1))`,
  ).run(last)
  db.query(
    `INSERT INTO subscribers SELECT first_seq + key, value, accepted_at FROM inbox, json_each(addresses)
     WHERE first_seq <= ?1 AND first_seq + key NOT IN pass.repeated`,
  ).run(last)
  db.query('DELETE FROM inbox WHERE first_seq <= ?1').run(last)
  liftSuppressions(db, first)
  return last < pass.last ? pass : undefined
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
