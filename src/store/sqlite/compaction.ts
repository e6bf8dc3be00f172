/**
 * The compaction of a SQLite list moves the inbox into the list, in passes. A pass takes the oldest rows of the inbox through
 * three stages. A stage runs in slices, each in a transaction of its own, so that others write in between. Of a small pass, the last slice
 * of `add` moves rows too. A command that changes the list runs all stages in its own transaction.
 *
 *   sort   inbox ----> sorted         about PASS_SIZE addresses, in the order of their identities; the list does not change
 *   add    sorted ---> identities     in that order, so that each page is written once for a pass, however many share it
 *              `-----> repeated       the numbers of addresses whose identity has another number
 *   move   inbox ----> subscribers    all but `repeated`, in the order of the numbers; deletes these rows of the inbox
 *
 * `sorted` and `repeated` are tables in the memory of a connection. The list holds no state of a pass, and every slice that
 * writes checks under the lock what it relies on. So nothing that happens between two slices does harm:
 *
 * - A crash: the rows are still in the inbox, and the next process repeats the pass. An identity that has the same number was
 *   added by the earlier attempt, and is not a repeat.
 * - Another process runs a pass over the same rows: both add the same identities with the same numbers. Rows leave the inbox
 *   together with their move, the oldest first, so each is moved once.
 * - The owner removes somebody, or imports: the command moves the whole inbox first, under one lock. So the rows of the pass are gone.
 *   The stage `add` looks for the first of them before it writes, and begins a new pass. The stage `move` finds no rows.
 * - An error, also of the disk: the slice is undone, with its changes of the tables in memory, and is tried again.
 */

import type { Database } from 'bun:sqlite'
import { createPace } from '../pace.ts'
import { refuseOtherVersion } from './schema.ts'
import { getRow } from './transaction.ts'

/** A pass takes no more rows when it has so many addresses. Each needs about 80 bytes of memory. */
const PASS_SIZE = 500_000

/** Milliseconds that a slice should take. Nobody notices it. */
export const SLICE_MS = 20

/** The sizes of slices: in rows of the inbox, or in addresses. However many slices it has, a pass writes each page once. */
const ROWS = { milliseconds: SLICE_MS, first: 50, least: 1, most: 1_000 } as const
// A slice has a commit, so it is not smaller on a machine that gives the process little of its processor.
const ADDRESSES = { milliseconds: SLICE_MS, first: 500, least: 500, most: 20_000 } as const

/** A pass with no more addresses is added and moved in one slice, so that a sign-up that is alone needs a commit less. */
const FEW_ADDRESSES = 50

/** How far a pass is. */
interface Pass {
  readonly stage: keyof typeof STAGES
  /**
   * The first row of the inbox that is sorted, by its number; 0 before there is one. It stays for the whole pass: while the inbox has
   * this row, no other process has moved any of the pass.
   */
  readonly first: number
  /** The last one; 0 before there is one. Each slice of `sort` goes on after it, and `move` stops at it. */
  readonly last: number
  /** Whether the inbox may have had more rows when they were sorted. */
  readonly hasMore: boolean
  /** Entries of `sorted`. */
  readonly sorted: number
  /** How many of these were added to `identities`, and the last of them. */
  readonly added: number
  readonly lastAdded: { readonly identity: string; readonly seq: number }
}

const NEW_PASS: Pass = {
  stage: 'sort',
  first: 0,
  last: 0,
  hasMore: false,
  sorted: 0,
  added: 0,
  lastAdded: { identity: '', seq: 0 },
}

/** What a slice did. */
interface Step {
  /** Rows of the inbox, or addresses in the stage `add`. */
  readonly size: number
  /** Undefined at the end: what came since is for the next run. */
  readonly next: Pass | undefined
}

/** Each runs a slice of its stage, with a limit for the size of the step. */
const STAGES = { sort: sortRows, add: addIdentities, move: moveRows } as const

/** How much each stage does in a slice. */
type Paces = Readonly<Record<keyof typeof STAGES, ReturnType<typeof createPace>>>

/** The compaction of a list on one connection. */
export interface Compaction {
  /**
   * Runs a slice for what was accepted up to a number. Returns whether there may be more.
   *
   * @throws SQLITE_BUSY; StoreError for another version of the schema; Error for a list that is damaged
   */
  slice(upTo?: number): boolean
  /** Moves the whole inbox, in the transaction of the caller. */
  all(): void
}

/** Creates the compaction of a list, with the tables `sorted` and `repeated`, so a connection has only one. */
export function createCompaction(db: Database): Compaction {
  db.run(`ATTACH ':memory:' AS pass`)
  db.run('CREATE TABLE pass.sorted (identity TEXT, seq INTEGER, PRIMARY KEY (identity, seq)) WITHOUT ROWID')
  db.run('CREATE TABLE pass.repeated (seq INTEGER PRIMARY KEY)')
  const paces: Paces = { sort: createPace(ROWS), add: createPace(ADDRESSES), move: createPace(ROWS) }
  let pass = NEW_PASS

  return {
    slice(upTo = Number.MAX_SAFE_INTEGER) {
      const { stage } = pass
      // The wait for the lock does not count.
      let began = 0
      const work = () => {
        // In the transaction; for `add` and `move` under the lock, so that no slice that writes follows a migration.
        refuseOtherVersion(db)
        began = performance.now()
        return runStage(db, pass, paces, upTo)
      }
      const transaction = db.transaction(work)
      // To sort takes no lock, but reads one state of the inbox.
      const { size, next } = stage === 'sort' ? transaction() : transaction.immediate()
      paces[stage].record(size, performance.now() - began)
      pass = next ?? NEW_PASS
      return next !== undefined
    },
    all() {
      // A pass that runs in slices begins anew: its tables are used for this one.
      pass = NEW_PASS
      let next: Pass | undefined = NEW_PASS
      while (next) {
        // Few rows of the inbox at a time, so that a pass has not many more addresses than PASS_SIZE.
        const limit = next.stage === 'add' ? PASS_SIZE : ROWS.most
        const step: Step = STAGES[next.stage](db, next, limit, Number.MAX_SAFE_INTEGER)
        next = step.next
      }
    },
  }
}

/** Runs a slice of the stage of a pass. With few addresses, one that adds them also moves their rows. */
function runStage(db: Database, pass: Pass, paces: Paces, upTo: number): Step {
  const { stage } = pass
  const step: Step = STAGES[stage](db, pass, paces[stage].size(), upTo)
  if (stage !== 'add' || !step.next || !isSmallAndAdded(step.next)) return step
  const moved = moveRows(db, step.next, paces.move.size())
  // For the pace of `add`, the slice has the size of `add` and the time of both stages. So the next slice of `add` is rather too small.
  return { size: step.size, next: moved.next }
}

function isSmallAndAdded({ stage, sorted }: Pass): boolean {
  return stage === 'move' && sorted <= FEW_ADDRESSES
}

/**
 * Finds the oldest rows of the inbox whose numbers are above `after` and at most `upTo`, but no more than `limit`. Returns the first and the
 * last number of these rows, which are null when there are none, and how many rows and addresses they are.
 */
function findRows(db: Database, after: number, upTo: number, limit: number) {
  return getRow<{ first: number | null; last: number | null; rows: number; addresses: number }>(
    db,
    `SELECT min(first_seq) AS first, max(first_seq) AS last, count(*) AS rows,
            coalesce(sum(json_array_length(addresses)), 0) AS addresses
     FROM (SELECT first_seq, addresses FROM inbox WHERE first_seq > ?1 AND first_seq <= ?2 ORDER BY first_seq LIMIT ?3)`,
    after,
    upTo,
    limit,
  )
}

/** Sorts more rows. The pass goes on to `add` when it has enough addresses, or all rows. */
function sortRows(db: Database, pass: Pass, limit: number, upTo: number): Step {
  // Empties the tables. An earlier pass that was given up may have left entries, which this one would add, and repeats, which it would
  // keep off the list.
  const isFirstSlice = pass.sorted === 0
  if (isFirstSlice) {
    db.run('DELETE FROM pass.sorted')
    db.run('DELETE FROM pass.repeated')
  }
  const { first, last, rows, addresses } = findRows(db, pass.last, upTo, limit)
  if (first !== null && last !== null) {
    const { changes } = db
      .query(
        `INSERT INTO pass.sorted SELECT lower(value) AS identity, first_seq + key FROM inbox, json_each(addresses)
         WHERE first_seq BETWEEN ?1 AND ?2 ORDER BY identity`,
      )
      .run(first, last)
    expectEqual(changes, addresses, 'sorted')
  }
  const sorted = pass.sorted + addresses
  // The inbox has no rows, and this pass has none of an earlier slice.
  if (sorted === 0) return { size: 0, next: undefined }
  const hasMore = rows === limit
  const isFull = sorted >= PASS_SIZE
  const stage = hasMore && !isFull ? 'sort' : 'add'
  const passFirst = isFirstSlice ? (first ?? 0) : pass.first
  // A slice without rows, as the last one may be, has no last row.
  const passLast = last ?? pass.last
  const next: Pass = { ...pass, stage, first: passFirst, last: passLast, hasMore, sorted }
  return { size: rows, next }
}

/** Selects the entries after one. The caller says how many. */
const NEXT = 'SELECT identity, seq FROM pass.sorted WHERE (identity, seq) > (?1, ?2) ORDER BY identity, seq LIMIT'

/** Adds some identities of a sorted pass. */
function addIdentities(db: Database, pass: Pass, limit: number): Step {
  // Rows leave the inbox in their order. Without the first one, another process has moved some, and the owner may have removed
  // their addresses since.
  if (!db.query('SELECT 1 FROM inbox WHERE first_seq = ?1').get(pass.first)) return { size: 0, next: NEW_PASS }
  const { identity, seq } = pass.lastAdded
  // At least 1: a pass whose last entry was added is in the stage `move`.
  const size = Math.min(pass.sorted - pass.added, limit)
  // The first one of equal identities is the one with the lowest seq. OR FAIL: an error undoes the transaction. To undo
  // this statement alone, SQLite would copy each page before it changes (https://sqlite.org/tempfiles.html, "Statement Journal Files").
  const { changes: inserted } = db
    .query(`INSERT OR FAIL INTO identities ${NEXT} ?3 ON CONFLICT DO NOTHING`)
    .run(identity, seq, size)
  if (inserted < size) {
    // Some may be repeated. One with the same seq is not: this slice was run before, here or by another process.
    db.query(
      `INSERT INTO pass.repeated SELECT s.seq FROM (${NEXT} ?3) s CROSS JOIN identities i ON i.identity = s.identity
       WHERE i.seq <> s.seq`,
    ).run(identity, seq, size)
  }
  const added = pass.added + size
  const lastAdded = getRow<Pass['lastAdded']>(db, `${NEXT} 1 OFFSET ?3`, identity, seq, size - 1)
  const stage = added < pass.sorted ? 'add' : 'move'
  return { size, next: { ...pass, stage, added, lastAdded } }
}

/** Moves the new addresses of the oldest rows of a pass to the end of the list, and deletes these rows. */
function moveRows(db: Database, pass: Pass, limit: number): Step {
  const end = pass.hasMore ? NEW_PASS : undefined
  // From the start of the inbox, which is that of the pass, unless another process has moved some of its rows.
  const { first, last, rows, addresses } = findRows(db, 0, pass.last, limit)
  if (first === null || last === null) return { size: 0, next: end }
  // The rows of the inbox say which numbers were given out. When they are deleted, only this says it.
  db.query(
    `UPDATE list SET last_seq = max(last_seq,
       (SELECT first_seq + json_array_length(addresses) - 1 FROM inbox WHERE first_seq = ?1))`,
  ).run(last)
  const { changes: added } = db
    .query(
      `INSERT INTO subscribers SELECT first_seq + key, value, accepted_at FROM inbox, json_each(addresses)
       WHERE first_seq <= ?1 AND first_seq + key NOT IN pass.repeated`,
    )
    .run(last)
  const { changes: repeated } = db
    .query(
      `DELETE FROM pass.repeated WHERE seq BETWEEN ?1 AND
         (SELECT first_seq + json_array_length(addresses) - 1 FROM inbox WHERE first_seq = ?2)`,
    )
    .run(first, last)
  expectEqual(added + repeated, addresses, 'moved')
  db.query('DELETE FROM inbox WHERE first_seq <= ?1').run(last)
  return { size: rows, next: last < pass.last ? pass : end }
}

/** Stops a slice that does not do what the next one relies on. Its transaction is undone. */
function expectEqual(found: number, expected: number, what: string): void {
  if (found !== expected) throw new Error(`compaction: ${found} addresses ${what}, and not ${expected}`)
}
