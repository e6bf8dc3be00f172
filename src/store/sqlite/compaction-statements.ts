import type { Database } from 'bun:sqlite'
import type { Address } from '../../email.ts'
import { POSITIONS } from './buckets.ts'

/** The SQL of compaction. `entries` is a JSON array of a slice of Buckets; positions count from `start`. */
export function prepareCompaction(db: Database) {
  const hash = `value / ${POSITIONS}`
  const seq = `?2 + value % ${POSITIONS}`
  return {
    start: db.query<{ seq: number }, []>('SELECT first_seq AS seq FROM inbox ORDER BY first_seq LIMIT 1'),
    backlog: db.query<{ size: number }, []>(
      `SELECT first_seq + json_array_length(addresses) - (SELECT min(first_seq) FROM inbox) AS size
       FROM inbox ORDER BY first_seq DESC LIMIT 1`,
    ),
    scan: db.query<{ seq: number; addresses: string }, [after: number, rows: number]>(
      'SELECT first_seq AS seq, addresses FROM inbox WHERE first_seq > ?1 ORDER BY first_seq LIMIT ?2',
    ),
    addEntries: db.query<never, [entries: string, start: number]>(
      `INSERT OR IGNORE INTO identities SELECT ${hash}, ${seq} FROM json_each(?1)`,
    ),
    sameHash: db.query<{ hash: number; seq: number }, [entries: string, start: number]>(
      `SELECT ${hash} AS hash, ${seq} AS seq FROM json_each(?1)
       WHERE EXISTS (SELECT 1 FROM identities i WHERE i.hash = ${hash} AND i.seq < ${seq})
       ORDER BY 2`,
    ),
    earlier: db.query<{ seq: number }, [hash: number, seq: number]>(
      'SELECT seq FROM identities WHERE hash = ?1 AND seq < ?2',
    ),
    deleteEntry: db.query<never, [hash: number, seq: number]>('DELETE FROM identities WHERE hash = ?1 AND seq = ?2'),
    email: db.query<{ email: Address | null }, [seq: number]>(
      `SELECT coalesce(
         (SELECT email FROM subscribers WHERE seq = ?1),
         (SELECT coalesce(addresses ->> ('$[' || (?1 - first_seq) || '][0]'), addresses ->> (?1 - first_seq))
          FROM inbox WHERE first_seq <= ?1 ORDER BY first_seq DESC LIMIT 1)) AS email`,
    ),
    sliceEnd: db.query<{ end: number; after: number }, [start: number, last: number, rows: number]>(
      `SELECT first_seq AS "end", first_seq + json_array_length(addresses) AS after FROM inbox
       WHERE first_seq = (SELECT max(first_seq) FROM (SELECT first_seq FROM inbox
                          WHERE first_seq BETWEEN ?1 AND ?2 ORDER BY first_seq LIMIT ?3))`,
    ),
    move: db.query<never, [start: number, end: number, repeats: string]>(
      `INSERT INTO subscribers (seq, email, subscribed_at)
       SELECT b.first_seq + j.key,
              iif(j.type = 'array', j.value ->> 0, j.value),
              iif(j.type = 'array', j.value ->> 1, b.accepted_at)
       FROM inbox b, json_each(b.addresses) j
       WHERE b.first_seq BETWEEN ?1 AND ?2 AND b.first_seq + j.key NOT IN (SELECT value FROM json_each(?3))`,
    ),
    moved: db.query<{ email: Address }, [start: number, after: number]>(
      'SELECT email FROM subscribers WHERE seq >= ?1 AND seq < ?2',
    ),
    addEmptyRow: db.query<never, [seq: number]>(
      `INSERT INTO inbox SELECT ?1, 0, '[]' WHERE NOT EXISTS (SELECT 1 FROM inbox WHERE first_seq >= ?1)`,
    ),
    // With one more term on `first_seq`, the planner scans to the wrong bound (measured: 80 times slower).
    deleteRows: db.query<never, [start: number, end: number]>('DELETE FROM inbox WHERE first_seq BETWEEN ?1 AND ?2'),
  }
}
