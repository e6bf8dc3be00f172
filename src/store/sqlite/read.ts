/**
 * Reads a SQLite list. Addresses in the inbox are not on the list yet: of what is read here, only the last number includes them. What
 * runs several statements needs a transaction of its caller, because others may write in between. Only `listSubscribers` needs
 * none: it reads each page in the state of that moment.
 */

import type { Database } from 'bun:sqlite'
import type { Address } from '../../email.ts'
import type { Count, Found, ListHead, StoreStatus, Subscriber, Suppression } from '../../subscriber.ts'
import { createSuppressionHash } from '../changes.ts'
import type { Waiting } from '../check.ts'
import { DAY_BEFORE_SEQ_MS, DAY_MS, type DayCount, toClockSeq, toDaySeq, toDays, toFirstDay } from '../numbers.ts'
import { toDamage, toHeadDamage } from './error.ts'
import { IS_RESERVED } from './schema.ts'
import { getRow } from './transaction.ts'

/** Rows in a page. Larger pages are no faster, and use more memory. */
const PAGE_SIZE = 1000

/** The last number that was given out, in a statement that reads `list`: the last one in the inbox, or the one in `list`. */
export const LAST_SEQ = `max(last_seq, coalesce(
  (SELECT first_seq + json_array_length(addresses) - 1 FROM inbox ORDER BY first_seq DESC LIMIT 1), 0))`

/** @throws StoreError when the row is damaged */
export function readHead(db: Database): ListHead {
  const head = db
    .query<Omit<ListHead, 'clockSeq'>, []>(
      `SELECT id, suppression_key AS suppressionKey, ${LAST_SEQ} AS lastSeq FROM list`,
    )
    .get()
  if (!head || !isSound(head)) throw toHeadDamage(db)
  return { ...head, clockSeq: toClockSeq() }
}

/** SQLite does not notice every damage, and with a wrong key, nobody would be suppressed any more. */
function isSound({ id, suppressionKey, lastSeq }: Omit<ListHead, 'clockSeq'>): boolean {
  return HEAD_ID.test(id) && suppressionKey?.length === 32 && Number.isSafeInteger(lastSeq)
}

/** See `ListHead.id`. */
const HEAD_ID = /^[0-9a-f]{16}$/

/**
 * Finds the suppressions of people who came back, by their hashes in hexadecimal. Compaction does not delete them, because that would
 * take time that a request after it shows. The next change of the owner does: see forgetReturned.
 */
function findReturned(db: Database): ReadonlySet<string> {
  const returned = new Set<string>()
  if (db.query('SELECT 1 FROM suppressions LIMIT 1').get() === null) return returned
  const { after } = getRow<{ after: number }>(db, 'SELECT forgotten_seq AS after FROM list')
  for (const page of listSubscribers(db, after)) {
    const emails = page.map(({ email }) => email)
    for (const { hash } of findSuppressions(db, emails)) returned.add(hash)
  }
  return returned
}

/** Takes 0.2 s for ten million subscribers; with suppressions, 3 s more for each million since the last change of the owner. */
export function readCount(db: Database): Count {
  const { suppressed, ...count } = getRow<Count>(
    db,
    `SELECT (SELECT count(*) FROM subscribers) AS subscribers,
            (SELECT count(*) FROM subscribers INDEXED BY reserved WHERE ${IS_RESERVED}) AS reserved,
            (SELECT count(*) FROM suppressions) AS suppressed`,
  )
  return { ...count, suppressed: suppressed - findReturned(db).size }
}

/** While a pass of compaction runs, `identities` has addresses of the inbox too. They do not count. */
const IDENTITIES = `FROM identities WHERE seq < coalesce((SELECT min(first_seq) FROM inbox), ${Number.MAX_SAFE_INTEGER})`

/** Takes a second for ten million subscribers: it reads the whole list. */
export function readDates(db: Database): Pick<StoreStatus, 'imported' | 'lastAcceptedAt'> {
  const { last, imported } = getRow<{ last: number | null; imported: number }>(
    db,
    `SELECT max(subscribed_at) AS last, count(*) FILTER (WHERE subscribed_at < seq / 1000 + ${DAY_BEFORE_SEQ_MS}) AS imported
     FROM subscribers`,
  )
  return { imported, lastAcceptedAt: last === null ? undefined : new Date(last) }
}

/** Counts the subscribers after a number, without those in reserved domains. */
export function readWaiting(db: Database, after: number): Waiting {
  const query = `SELECT count(*) AS count, min(seq) AS first FROM subscribers WHERE seq > ?1 AND NOT ${IS_RESERVED}`
  return getRow<Waiting>(db, query, after)
}

/** Reads the whole list, as `readDates` does, and takes half a second more for each million who came in the days of the status. */
export function readStatus(db: Database): Omit<StoreStatus, 'bytes' | 'freeBytes'> {
  const count = readCount(db)
  const first = toFirstDay()
  // Row by row: for GROUP BY, SQLite would sort the rows, on a disk that may be full.
  const query = `SELECT subscribed_at / ${DAY_MS} AS day, 1 AS added FROM subscribers WHERE seq > ?1`
  const counts = db.query<DayCount, [number]>(query).iterate(toDaySeq(first))
  const { reader } = getRow<{ reader: number | null }>(
    db,
    `SELECT max(subscribed_at) AS reader FROM subscribers WHERE NOT ${IS_RESERVED}`,
  )
  const lastReaderAt = reader === null ? undefined : new Date(reader)
  return { ...count, ...readDates(db), lastReaderAt, days: toDays(first, counts, count.subscribers) }
}

/**
 * Returns what the list holds of each address, in their order. CROSS JOIN fixes the order of the loops: the JSON array outside, in the
 * order of the index, and the table inside. Otherwise SQLite may read the whole table for a few addresses.
 */
export function lookUp(db: Database, addresses: readonly Address[]): readonly Found[] {
  const found: { subscriber?: Subscriber; suppressedAt?: Date }[] = addresses.map(() => ({}))
  const subscribers = db
    .query<SubscriberRow & { at: number }, [string]>(
      `SELECT e.key AS at, s.seq, s.email, s.subscribed_at AS subscribedAt
       FROM (SELECT key, lower(value) AS identity FROM json_each(?1) ORDER BY identity) e
       CROSS JOIN identities i ON i.identity = e.identity CROSS JOIN subscribers s ON s.seq = i.seq`,
    )
    .all(JSON.stringify(addresses))
  for (const { at, ...row } of subscribers) found[at] = { subscriber: toSubscriber(row) }
  // A new subscription is a new consent: it counts, and not the suppression, which takes a hash to look up.
  const others = [...addresses.entries()].filter(([index]) => !found[index]?.subscriber)
  const suppressions = findSuppressions(
    db,
    others.map(([, address]) => address),
  )
  for (const { at, suppressedAt } of suppressions) {
    const [index] = others[at] ?? []
    if (index !== undefined) found[index] = { suppressedAt: new Date(suppressedAt) }
  }
  return found
}

/** Finds the suppressions of addresses, with the index of each address, also those of people who came back. */
function findSuppressions(db: Database, addresses: readonly Address[]) {
  if (db.query('SELECT 1 FROM suppressions LIMIT 1').get() === null) return []
  const hashOf = createSuppressionHash(readHead(db).suppressionKey)
  return db
    .query<{ at: number; hash: string; suppressedAt: number }, [string]>(
      `SELECT e.key AS at, e.value AS hash, s.suppressed_at AS suppressedAt
       FROM json_each(?1) e CROSS JOIN suppressions s ON s.hash = unhex(e.value)`,
    )
    .all(JSON.stringify(addresses.map((address) => hashOf(address).toString('hex'))))
}

/**
 * Yields pages of the list, up to the subscriber who is the last one at the start: a busy service adds more all the time.
 * It misses nobody, because the list only grows at its end.
 */
export function* listSubscribers(db: Database, after: number): Generator<readonly Subscriber[]> {
  const { end } = getRow<{ end: number }>(db, 'SELECT coalesce(max(seq), 0) AS end FROM subscribers')
  const query = db.query<SubscriberRow, [after: number, end: number]>(
    `SELECT seq, email, subscribed_at AS subscribedAt FROM subscribers
     WHERE seq > ?1 AND seq <= ?2 ORDER BY seq LIMIT ${PAGE_SIZE}`,
  )
  yield* readPages<Subscriber>((last) => query.all(last?.seq ?? after, end).map(toSubscriber))
}

/** Yields pages until one is not full. @param read reads the page after a row; without one, the first page */
function* readPages<Row>(read: (last: Row | undefined) => readonly Row[]): Generator<readonly Row[]> {
  for (let last: Row | undefined; ; ) {
    const page = read(last)
    if (page.length > 0) yield page
    if (page.length < PAGE_SIZE) return
    last = page.at(-1)
  }
}

/**
 * Yields the whole list. A page of the table that was overwritten would make the list shorter, and SQLite does not always notice it.
 * @throws StoreError when the numbers do not increase, and after the last page when it had more or fewer addresses than `identities`
 */
export function* listWhole(db: Database): Generator<readonly Subscriber[]> {
  const { size } = getRow<{ size: number }>(db, `SELECT count(*) AS size ${IDENTITIES}`)
  let seen = 0
  let last = 0
  for (const page of listSubscribers(db, 0)) {
    for (const { seq } of page) {
      if (seq <= last) throw toDamage(db, 'its numbers do not increase')
      last = seq
    }
    seen += page.length
    yield page
  }
  if (seen !== size) throw toDamage(db, `${seen} addresses can be read, and it should have ${size}`)
}

/**
 * Yields all suppressions, without those of people who came back. Checks the whole list first, because their table has no second
 * index to compare it with. @throws StoreError when it is damaged
 */
export function* listSuppressions(db: Database): Generator<readonly Suppression[]> {
  checkIntegrity(db)
  const query = db.query<{ hash: Uint8Array; at: number }, [Uint8Array]>(
    `SELECT hash, suppressed_at AS at FROM suppressions WHERE hash > ?1 ORDER BY hash LIMIT ${PAGE_SIZE}`,
  )
  const returned = findReturned(db)
  /** Before every hash. */
  const first = new Uint8Array()
  const pages = readPages<Suppression>((last) =>
    query.all(last?.hash ?? first).map(({ hash, at }) => ({ hash, suppressedAt: new Date(at) })),
  )
  for (const page of pages) {
    const remaining = page.filter(({ hash }) => !returned.has(Buffer.from(hash).toString('hex')))
    if (remaining.length > 0) yield remaining
  }
}

/**
 * Checks every page of a list, its head, and that its two tables have the same subscribers. If others write meanwhile, the caller
 * has a transaction, which sees one state. @throws StoreError, SQLiteError
 */
export function checkIntegrity(db: Database): void {
  readHead(db)
  checkPages(db)
  const problem = compareTables(db)
  if (problem !== undefined) throw toDamage(db, problem)
}

/** Checks every page of a list of any version. @throws StoreError, SQLiteError */
export function checkPages(db: Database): void {
  const { integrity_check: found } = getRow<{ integrity_check: string }>(db, 'PRAGMA integrity_check(1)')
  if (found !== 'ok') throw toDamage(db, found.replace(/\s+/g, ' '))
}

/** Says how the two tables differ; undefined when both have the same subscribers, letter for letter. */
function compareTables(db: Database): string | undefined {
  const identities = digest(db, `SELECT seq || ' ' || identity AS line ${IDENTITIES}`)
  const subscribers = digest(db, `SELECT seq || ' ' || lower(email) AS line FROM subscribers`)
  if (identities.size !== subscribers.size) {
    return `one of its two tables has ${identities.size} addresses, and the other one ${subscribers.size}`
  }
  return identities.sum === subscribers.sum ? undefined : 'an address differs between its two tables'
}

/** What a table holds, in any order: how many subscribers, and a sum of a hash of each. */
function digest(db: Database, lines: string): { readonly size: number; readonly sum: number } {
  let size = 0
  let sum = 0
  for (const { line } of db.query<{ line: string }, []>(lines).iterate()) {
    size++
    sum = (sum + Bun.hash.xxHash32(line)) % 2 ** 52
  }
  return { size, sum }
}

type SubscriberRow = Omit<Subscriber, 'subscribedAt'> & { readonly subscribedAt: number }

function toSubscriber({ seq, email, subscribedAt }: SubscriberRow): Subscriber {
  return { seq, email, subscribedAt: new Date(subscribedAt) }
}
