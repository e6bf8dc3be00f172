/** The inbox of a SQLite list. To accept addresses, the store appends them as one row, and looks nothing up. */

import type { Database } from 'bun:sqlite'
import { checkClock, toClockSeq } from '../numbers.ts'
import { toHeadDamage } from './error.ts'
import { LAST_SEQ } from './read.ts'
import { getRow } from './transaction.ts'

/**
 * Appends a batch, with its numbers: see toClockSeq. This is one statement, which usually writes one page, because every
 * request waits for it. @param addresses a JSON array, which is not empty. @throws SQLiteError; StoreError for a damaged list, or a wrong clock
 */
export function append(db: Database, addresses: string): void {
  const insert = `INSERT INTO inbox SELECT max(?1, ${LAST_SEQ}) + 1, ?2, ?3 FROM list`
  commitChange(db, insert, toClockSeq(), checkClock(), addresses)
}

/** Commits, and adds nothing. Takes a number, because SQLite writes no page that stays the same. Throws like `append`. */
export function probe(db: Database): void {
  checkClock()
  commitChange(db, `UPDATE list SET last_seq = max(?1, ${LAST_SEQ} + 1)`, toClockSeq())
}

function commitChange(db: Database, sql: string, ...params: readonly (number | string)[]): void {
  // Without RETURNING: `get` would commit after the row, and hide an error of the disk.
  const { changes } = db.query(sql).run(...params)
  // A list without its head takes nothing, and SQLite reports no error.
  if (changes === 0) throw toHeadDamage(db)
}

/** Gives out numbers for addresses that do not go through the inbox, in the transaction of the caller. @returns the first one */
export function takeNumbers(db: Database, size: number): number {
  const update = `UPDATE list SET last_seq = max(?1, ${LAST_SEQ}) + ?2 RETURNING last_seq - ?2 + 1 AS first`
  return getRow<{ first: number }>(db, update, toClockSeq(), size).first
}

/** Returns when the oldest address in the inbox was accepted; undefined when it is empty. */
export function readInboxSince(db: Database): Date | undefined {
  const oldest = db.query<{ at: number }, []>('SELECT accepted_at AS at FROM inbox ORDER BY first_seq LIMIT 1').get()
  return oldest ? new Date(oldest.at) : undefined
}

/** Counts the addresses in the inbox, repeats included. */
export function countInbox(db: Database): number {
  const sum = 'SELECT coalesce(sum(json_array_length(addresses)), 0) AS size FROM inbox'
  return getRow<{ size: number }>(db, sum).size
}
