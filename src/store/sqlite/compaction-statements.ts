import type { Database } from 'bun:sqlite'
import type { Address } from '../../email.ts'
import { POSITIONS } from './buckets.ts'

/** The run of a list: it moves the addresses from `start` to before `end`. There is none when these are equal. */
export interface Run {
  /** The first seq in the inbox. */
  readonly start: number
  readonly end: number
  /** The last entry that is in the index; null when all are. */
  readonly cursor: number | null
}

/** The SQL of compaction. `entries` is a JSON array of a slice of Buckets; positions count from `start`. */
export function prepareCompaction(db: Database) {
  return {
    ...prepareRun(db),
    ...prepareIndexPass(db),
    ...prepareAppendPass(db),
  }
}

function prepareRun(db: Database) {
  return {
    run: db.query<Run, []>(
      'SELECT (SELECT min(first_seq) FROM inbox) AS start, end_seq AS "end", cursor FROM compaction',
    ),
    next: db.query<{ seq: number }, []>(
      'SELECT first_seq + json_array_length(addresses) AS seq FROM inbox ORDER BY first_seq DESC LIMIT 1',
    ),
    // Counts the numbers that were skipped among the waiting ones too: it reads two rows, and the sum reads all.
    backlog: db.query<{ size: number }, []>(
      `SELECT first_seq + json_array_length(addresses) - (SELECT min(first_seq) FROM inbox) AS size
       FROM inbox ORDER BY first_seq DESC LIMIT 1`,
    ),
    begin: db.query<never, [below: number]>(
      `UPDATE compaction SET cursor = -1, end_seq = (
         SELECT first_seq + json_array_length(addresses) FROM inbox WHERE first_seq < ?1 ORDER BY first_seq DESC LIMIT 1)`,
    ),
    setCursor: db.query<never, [cursor: number | null]>('UPDATE compaction SET cursor = ?1'),
  }
}

function prepareIndexPass(db: Database) {
  const hash = `value / ${POSITIONS}`
  const seq = `?2 + value % ${POSITIONS}`
  return {
    row: db.query<{ seq: number; addresses: string }, [from: number]>(
      'SELECT first_seq AS seq, addresses FROM inbox WHERE first_seq >= ?1 ORDER BY first_seq LIMIT 1',
    ),
    addEntries: db.query<never, [entries: string, start: number]>(
      `INSERT OR IGNORE INTO identity_hashes SELECT ${hash}, ${seq} FROM json_each(?1)`,
    ),
    addMatches: db.query<never, [entries: string, start: number]>(
      `INSERT INTO hash_matches (seq, hash, earlier)
       SELECT ${seq}, ${hash}, i.seq FROM json_each(?1) CROSS JOIN identity_hashes i ON i.hash = ${hash}
       WHERE i.seq <> ${seq}`,
    ),
  }
}

// CROSS JOIN fixes the order of the loops: the JSON array outside, the tables inside.
function prepareAppendPass(db: Database) {
  return {
    matches: db.query<{ id: number; seq: number }, [after: number, limit: number]>(
      'SELECT id, seq FROM hash_matches WHERE id > ?1 ORDER BY id LIMIT ?2',
    ),
    sliceEnd: db.query<{ last: number; after: number }, [start: number, end: number]>(
      `SELECT first_seq AS last, first_seq + json_array_length(addresses) AS after FROM inbox
       WHERE first_seq >= ?1 AND first_seq < ?2 ORDER BY first_seq DESC LIMIT 1`,
    ),
    move: db.query<never, [start: number, last: number]>(
      `INSERT INTO subscribers (seq, email, subscribed_at)
       SELECT b.first_seq + j.key, ifnull(j.atom, j.value ->> 0), iif(j.atom IS NULL, j.value ->> 1, b.accepted_at)
       FROM inbox b, json_each(b.addresses) j
       WHERE b.first_seq BETWEEN ?1 AND ?2`,
    ),
    // Of several with the same identity, the first one is added.
    addCollisions: db.query<never, [matches: string]>(
      `INSERT OR IGNORE INTO collisions
       SELECT m.hash, lower(s.email), s.seq
       FROM json_each(?1) e CROSS JOIN hash_matches m ON m.id = e.value CROSS JOIN subscribers s ON s.seq = m.seq
       LEFT JOIN subscribers o ON o.seq = m.earlier
       WHERE s.email IS NOT o.email COLLATE NOCASE`,
    ),
    deleteRepeats: db.query<never, [matches: string]>(
      `DELETE FROM subscribers WHERE seq IN (
         SELECT s.seq
         FROM json_each(?1) e CROSS JOIN hash_matches m ON m.id = e.value CROSS JOIN subscribers s ON s.seq = m.seq
         WHERE NOT EXISTS (SELECT 1 FROM collisions c
                           WHERE c.hash = m.hash AND c.identity = lower(s.email) AND c.seq = s.seq))`,
    ),
    moved: db.query<{ email: Address }, [start: number, after: number]>(
      'SELECT email FROM subscribers WHERE seq >= ?1 AND seq < ?2',
    ),
    addEmptyRow: db.query<never, [seq: number]>(
      `INSERT INTO inbox SELECT ?1, 0, '[]' WHERE NOT EXISTS (SELECT 1 FROM inbox WHERE first_seq >= ?1)`,
    ),
    // With one more term on `first_seq`, the planner scans to the wrong bound (measured: 80 times slower).
    deleteRows: db.query<never, [start: number, last: number]>('DELETE FROM inbox WHERE first_seq BETWEEN ?1 AND ?2'),
    clearMatches: db.query<never, []>('DELETE FROM hash_matches'),
  }
}
