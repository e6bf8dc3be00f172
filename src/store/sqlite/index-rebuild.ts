import type { Database } from 'bun:sqlite'
import type { Address } from '../../email.ts'
import { createIdentityHash, type IdentityHash } from './identity-hash.ts'
import { getRow } from './row.ts'

/** Subscribers that are sorted at a time, in 8 bytes each. */
const CAPACITY = 8_000_000

/** Rows between two forced garbage collections. Without them, the memory doubles. */
const COLLECTION_ROWS = 100_000

/** The number of hashes. */
const HASHES = 2 ** 32

/** An entry has 32 bits for a seq. A list with more seqs is indexed in several parts. */
const SEQS = 2 ** 32

/**
 * Writes `identity_hashes` and `collisions` for the whole list. Both must be empty. Reads the list several times if it
 * is long, and writes one range of hashes after the other, so that it writes each page once.
 *
 * @param hashOf Default: the hash of the list
 */
export function rebuildIndex(db: Database, hashOf: IdentityHash = createIdentityHash(db)): void {
  const { first } = prepare(db)
  for (let row = first.get(0); row; row = first.get(row.seq + SEQS)) indexPart(db, row.seq, hashOf)
}

function indexPart(db: Database, start: number, hashOf: IdentityHash): void {
  const statements = prepare(db)
  const { size } = getRow(statements.size, start, start + SEQS)
  const entries = new Uint32Array(2 * Math.min(size, CAPACITY))
  let length = 0
  let handled = 0

  const countRow = (): void => {
    if (++handled % COLLECTION_ROWS === 0) Bun.gc(true)
  }

  function add(hash: number, position: number): void {
    if (length === entries.length) write()
    // One number of 64 bits, with the hash in its upper half: the processors that Bun runs on are little-endian.
    entries[length++] = position
    entries[length++] = hash
  }

  function write(): void {
    new BigUint64Array(entries.buffer, 0, length / 2).sort()
    for (let index = 0; index < length; index += 2) {
      const [seq, hash] = [start + (entries[index] ?? 0), entries[index + 1] ?? 0]
      const { changes } = statements.addHash.run(hash, seq)
      if (changes === 0) statements.addCollision.run(hash, seq)
      countRow()
    }
    length = 0
  }

  // The hashes are spread evenly.
  const width = Math.ceil(HASHES / Math.ceil(size / (0.99 * CAPACITY)))
  for (let from = 0; from < HASHES; from += width) {
    for (const { seq, email } of statements.part.iterate(start, start + SEQS)) {
      const hash = hashOf(email)
      if (hash >= from && hash < from + width) add(hash, seq - start)
      countRow()
    }
    write()
  }
}

function prepare(db: Database) {
  return {
    first: db.query<{ seq: number }, [from: number]>(
      'SELECT seq FROM subscribers WHERE seq >= ?1 ORDER BY seq LIMIT 1',
    ),
    size: db.query<{ size: number }, [from: number, before: number]>(
      'SELECT count(*) AS size FROM subscribers WHERE seq >= ?1 AND seq < ?2',
    ),
    part: db.query<{ seq: number; email: Address }, [from: number, before: number]>(
      'SELECT seq, email FROM subscribers WHERE seq >= ?1 AND seq < ?2 ORDER BY seq',
    ),
    addHash: db.query<never, [hash: number, seq: number]>('INSERT OR IGNORE INTO identity_hashes VALUES (?1, ?2)'),
    addCollision: db.query<never, [hash: number, seq: number]>(
      'INSERT INTO collisions SELECT ?1, lower(email), seq FROM subscribers WHERE seq = ?2',
    ),
  }
}
