/**
 * Settling: moves what was appended to `inbox` into the list proper, in large batches.
 *
 * An acceptance only appends, at the price of a log, for its answer does not depend on what the list holds
 * (a log-structured merge: O'Neil et al., "The Log-Structured Merge-Tree", Acta Informatica 33, 1996).
 * Uniqueness comes here, in two passes over the same inbox:
 *
 *   index   in the order of the hashes, so that each page of `identities` is written once: adds the entries,
 *           finds those that stand for a repeat, and takes them out again
 *   append  in the order of arrival, so that `subscribers` only grows at its end: moves all but the repeats,
 *           and deletes the inbox in the same transaction
 *
 * Each slice of a pass is a transaction of its own, so that commits and other processes can go in between.
 * The inbox stay until `append` takes them; doing a slice twice changes nothing; and whoever finds the
 * first arrival gone knows that another process has compacted, and gives up its run. So a crash or a second
 * compactor may cut in anywhere.
 */

import type { Database } from 'bun:sqlite'
import type { Address } from '../../email.ts'
import type { Suppressions } from './suppressions.ts'

/** Most inbox in one run: a hash and a position must fit into the 53 bits of a number. */
const RUN = 1_000_000
const POSITIONS = 2 ** 21

/** Addresses in a slice of `index`; it takes 1 to 3 ms. */
const SLICE = 1024

/** Arrivals (batches) in a slice of the other passes. */
const BATCHES = 32

/** So many texts of a run are kept at hand, where repeats are told apart; those of more are read again, at 15 µs each. */
const KEPT = 131_072

// Hashes are sorted in parts, so that no sort makes a long pause.
const BUCKETS = 256

export interface Compactor {
  /** Addresses that have not been compacted, repeats included. */
  backlog(): number
  /** One run over what has arrived by now; gives way after each slice. At most a million addresses. */
  run(): Generator<void>
}

/** An address as it stands in `inbox`: alone, or with a date of its own. */
type Arrival = string | readonly [email: string, at: number]

/** The hash by which identities are found; not unique. */
export function toHash(identity: string, seed: number): number {
  return Bun.hash.xxHash32(identity, seed)
}

/** Reads the seed of a file's hashes. */
export function readSeed(db: Database): number {
  return (db.query('SELECT hash FROM seed').get() as { hash: number }).hash
}

/** Prepares settling on an open file. */
export function createCompactor(db: Database, suppressed: Suppressions): Compactor {
  const seed = readSeed(db)
  const statements = prepare(db)
  const head = () => (statements.head.get() as { first: number }).first

  /** Reads the inbox from a seq on: their hashes with their positions, in buckets by hash, the first of their texts, and where they end. */
  function* scan(from: number) {
    const buckets = createBuckets()
    const emails: string[] = []
    let last = from - 1
    for (let size = 0; size < RUN; ) {
      const rows = statements.scan.values(last, BATCHES) as [first: number, addresses: string][]
      for (const [first, addresses] of rows) {
        const batch = JSON.parse(addresses) as Arrival[]
        // The empty last row is replaced by the next batch, under the same number.
        if (batch.length === 0) return { buckets, emails, last }
        batch.forEach((arrival, index) => {
          const email = typeof arrival === 'string' ? arrival : arrival[0]
          const position = first + index - from
          buckets.add(toHash(email.toLowerCase(), seed), position)
          if (position < KEPT) emails[position] = email
        })
        size += batch.length
        last = first
      }
      if (rows.length === 0) break
      yield
    }
    return { buckets, emails, last }
  }

  /** Adds entries, given as hash and position in one number each, and returns the seqs that are repeats. */
  function index(entries: string, from: number, emails: readonly string[]): number[] {
    const identityOf = (seq: number) => (emails[seq - from] ?? readEmail(seq))?.toLowerCase()
    statements.addEntries.run(entries, from)
    const repeats: number[] = []
    for (const [hash, seq] of statements.sameHash.values(entries, from) as [number, number][]) {
      // Repeats before this one have been taken out, so few are left however often an address came.
      const earlier = statements.earlier.values(hash, seq) as [number][]
      const identity = identityOf(seq)
      if (!earlier.some(([one]) => identityOf(one) === identity)) continue
      statements.dropEntry.run(hash, seq)
      repeats.push(seq)
    }
    return repeats
  }

  function readEmail(seq: number): string | undefined {
    const row = statements.settledEmail.get(seq) ?? statements.arrivedEmail.get(seq)
    return (row as { email: string } | null)?.email
  }

  /** Moves one slice of inbox, without the repeats, and returns the seq that follows it. */
  function append(from: number, last: number, repeats: readonly number[]): number {
    const { first: to } = statements.sliceEnd.get(from, last, BATCHES) as { first: number }
    const { seq: after } = statements.after.get(to) as { seq: number }
    statements.move.run(from, to, JSON.stringify(repeats.filter((seq) => seq >= from && seq < after)))
    // A fresh subscription is a new consent. What imports append is none, but it was held against the suppressions then.
    if (!suppressed.isEmpty())
      suppressed.drop(statements.moved.values(from, after).map(([email]) => email as Address))
    // The last arrival is never just deleted: it carries the next seq, so that no number is given twice.
    statements.mark.run(after)
    statements.forget.run(from, to)
    return after
  }

  function* run(): Generator<void> {
    const from = head()
    const { buckets, emails, last } = yield* scan(from)
    if (last < from) return

    const repeats: number[] = []
    for (const entries of buckets.slices()) {
      const found = transact(db, () => (head() === from ? index(entries, from, emails) : undefined))
      if (!found) return
      repeats.push(...found)
      yield
    }

    repeats.sort((a, b) => a - b)
    for (let at: number | undefined = from; at !== undefined && at <= last; ) {
      const here: number = at
      at = transact(db, () => (head() === here ? append(here, last, repeats) : undefined))
      yield
    }
  }

  return { backlog: () => (statements.next.get() as { seq: number }).seq - head(), run }
}

/** Hashes with positions, one number for each, kept apart by the hash's first byte. */
function createBuckets() {
  const parts = Array.from({ length: BUCKETS }, () => new Float64Array(64))
  const sizes = new Uint32Array(BUCKETS)

  function add(hash: number, position: number): void {
    const bucket = hash >>> 24
    const size = sizes[bucket] as number
    let part = parts[bucket] as Float64Array<ArrayBuffer>
    if (size === part.length) {
      part = new Float64Array(size * 2)
      part.set(parts[bucket] as Float64Array)
      parts[bucket] = part
    }
    part[size] = hash * POSITIONS + position
    sizes[bucket] = size + 1
  }

  /** All of them in the order of the hashes, as JSON arrays of a slice's size. */
  function* slices(): Generator<string> {
    for (const [bucket, part] of parts.entries()) {
      const sorted = part.subarray(0, sizes[bucket]).sort()
      for (let start = 0; start < sorted.length; start += SLICE) {
        yield `[${sorted.subarray(start, start + SLICE).join()}]`
      }
    }
  }

  return { add, slices }
}

/**
 * Runs a slice as one transaction that does not wait for the disk: the inbox are on stable storage
 * already, and the log keeps the order, so a power cut takes back whole slices and nothing else.
 */
function transact<T>(db: Database, work: () => T): T {
  // A reader settles inside the transaction that it reads in.
  if (db.inTransaction) return work()
  db.run('PRAGMA synchronous = NORMAL')
  try {
    return db.transaction(work).immediate()
  } finally {
    db.run('PRAGMA synchronous = FULL')
  }
}

// The texts are full of numbers made of a hash and a position, taken apart by / and %.
function prepare(db: Database) {
  return {
    head: db.query('SELECT first FROM arrivals ORDER BY first LIMIT 1'),
    next: db.query(
      'SELECT first + json_array_length(addresses) AS seq FROM arrivals ORDER BY first DESC LIMIT 1',
    ),
    scan: db.query('SELECT first, addresses FROM arrivals WHERE first > ?1 ORDER BY first LIMIT ?2'),
    addEntries: db.query(
      `INSERT OR IGNORE INTO identities
       SELECT value / ${POSITIONS}, ?2 + value % ${POSITIONS} FROM json_each(?1)`,
    ),
    sameHash: db.query(
      `SELECT value / ${POSITIONS} AS hash, ?2 + value % ${POSITIONS} AS seq FROM json_each(?1)
       WHERE EXISTS (SELECT 1 FROM identities i
                     WHERE i.hash = value / ${POSITIONS} AND i.seq < ?2 + value % ${POSITIONS})
       ORDER BY 2`,
    ),
    earlier: db.query('SELECT seq FROM identities WHERE hash = ?1 AND seq < ?2'),
    dropEntry: db.query('DELETE FROM identities WHERE hash = ?1 AND seq = ?2'),
    settledEmail: db.query('SELECT email FROM subscribers WHERE seq = ?1'),
    arrivedEmail: db.query(
      `SELECT coalesce(addresses ->> ('$[' || (?1 - first) || '][0]'), addresses ->> (?1 - first)) AS email
       FROM arrivals WHERE first <= ?1 ORDER BY first DESC LIMIT 1`,
    ),
    sliceEnd: db.query(
      `SELECT max(first) AS first FROM
       (SELECT first FROM arrivals WHERE first BETWEEN ?1 AND ?2 ORDER BY first LIMIT ?3)`,
    ),
    after: db.query('SELECT first + json_array_length(addresses) AS seq FROM arrivals WHERE first = ?1'),
    move: db.query(
      `INSERT INTO subscribers (seq, email, subscribed_at)
       SELECT a.first + j.key,
              iif(j.type = 'array', j.value ->> 0, j.value),
              iif(j.type = 'array', j.value ->> 1, a.at)
       FROM arrivals a, json_each(a.addresses) j
       WHERE a.first BETWEEN ?1 AND ?2 AND a.first + j.key NOT IN (SELECT value FROM json_each(?3))`,
    ),
    moved: db.query('SELECT email FROM subscribers WHERE seq >= ?1 AND seq < ?2'),
    mark: db.query(
      `INSERT INTO arrivals SELECT ?1, 0, '[]' WHERE NOT EXISTS (SELECT 1 FROM arrivals WHERE first >= ?1)`,
    ),
    // With one more term on `first` the planner scans to the wrong bound (seen: 80 times slower).
    forget: db.query('DELETE FROM arrivals WHERE first BETWEEN ?1 AND ?2'),
  }
}
