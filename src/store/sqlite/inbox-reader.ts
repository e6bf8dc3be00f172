/** Reads a list with the addresses in its inbox, when these cannot be compacted because the list cannot be written. */

import type { Database } from 'bun:sqlite'
import { type Address, isReserved, toIdentity } from '../../email.ts'
import { MAX_INBOX_IN_MEMORY } from '../../limits.ts'
import { type ListOptions, StoreError, type StoreStatus, type Subscriber } from '../../subscriber.ts'
import type { IdentityIndex } from './identity-index.ts'
import type { InboxAddress } from './inbox-scan.ts'
import { PAGE_SIZE, type SqliteReader } from './read.ts'
import { getRow, type SubscriberRow, toSubscriber } from './row.ts'
import type { Suppressions } from './suppressions.ts'

interface ReaderParts {
  /** Reads the compacted part. */
  readonly reader: SqliteReader
  readonly suppressions: Suppressions
  readonly index: IdentityIndex
}

/** What compaction would add to the list: no repeats, and nobody who is on it. */
interface Inbox {
  readonly start: number
  readonly next: number
  /** By identity, in the order of seq. */
  readonly rows: ReadonlyMap<string, SubscriberRow>
  /** The suppressions that compaction would delete: a new subscription is a new consent. */
  readonly revoked: number
}

/**
 * Creates a function that reads the inbox into memory, and returns a reader of the whole list. Call the function in a
 * transaction with the use of the reader, so that both see one state. The pages of its list may be read later.
 *
 * The function throws a StoreError when the inbox has more than MAX_INBOX_IN_MEMORY addresses.
 */
export function createInboxReader(db: Database, parts: ReaderParts): () => SqliteReader {
  const statements = prepare(db)
  let inbox: Inbox = { start: 0, next: 0, rows: new Map(), revoked: 0 }

  /** The rows of the inbox are never changed. An import or a removal compacts them before it changes the list. */
  function refresh(): Inbox {
    const { start, next } = getRow(statements.range)
    if (start === inbox.start && next === inbox.next) return inbox
    const { size } = getRow(statements.size)
    if (size > MAX_INBOX_IN_MEMORY) {
      throw new StoreError(
        `the list ${db.filename} cannot be used: its inbox has ${size} addresses, and at most ${MAX_INBOX_IN_MEMORY} can be read while it cannot be written`,
      )
    }
    const rows = new Map<string, SubscriberRow>()
    for (const row of readInbox(statements)) {
      const identity = toIdentity(row.email)
      if (!rows.has(identity)) rows.set(identity, row)
    }
    for (const batch of toBatches(rows)) {
      const found = parts.index.find(batch.map(([, { email }]) => email))
      for (const at of found.keys()) rows.delete(batch[at]?.[0] ?? '')
    }
    let revoked = 0
    for (const batch of toBatches(rows.values())) revoked += parts.suppressions.count(batch.map(({ email }) => email))
    inbox = { start, next, rows, revoked }
    return inbox
  }

  return () => createReader(refresh(), parts.reader)
}

function createReader({ start, rows, revoked }: Inbox, reader: SqliteReader): SqliteReader {
  const find = (address: Address): Subscriber | undefined => {
    const row = rows.get(toIdentity(address))
    return row && toSubscriber(row)
  }

  return {
    count() {
      const { subscribers, reserved, suppressed } = reader.count()
      return {
        subscribers: subscribers + rows.size,
        reserved: reserved + countReserved(rows),
        suppressed: suppressed - revoked,
      }
    },

    find: (address) => reader.find(address) ?? find(address),

    lookUp(addresses) {
      const states = reader.lookUp(addresses)
      return addresses.map((address, at) => (find(address) ? 'subscribed' : (states[at] ?? 'absent')))
    },

    *list({ after = 0, limit = Number.POSITIVE_INFINITY }: ListOptions) {
      let left = limit
      for (const page of reader.list({ after, limit })) {
        // Another process may have compacted since the inbox was read.
        const listed = page.filter(({ seq }) => seq < start)
        if (listed.length > 0) yield listed
        left -= listed.length
        if (listed.length < page.length) break
      }
      const added = [...rows.values()].filter(({ seq }) => seq > after).slice(0, left)
      for (const page of toBatches(added)) yield page.map(toSubscriber)
    },

    listSuppressions: reader.listSuppressions,

    status: (days) => addTo(reader.status(days), { rows, revoked }),
  }
}

function addTo(
  status: Omit<StoreStatus, 'bytes'>,
  { rows, revoked }: Pick<Inbox, 'rows' | 'revoked'>,
): Omit<StoreStatus, 'bytes'> {
  const added = new Map<string, number>()
  let last = status.lastAcceptedAt?.getTime() ?? 0
  for (const { subscribedAt } of rows.values()) {
    const date = new Date(subscribedAt).toISOString().slice(0, 10)
    added.set(date, (added.get(date) ?? 0) + 1)
    last = Math.max(last, subscribedAt)
  }
  return {
    subscribers: status.subscribers + rows.size,
    reserved: status.reserved + countReserved(rows),
    suppressed: status.suppressed - revoked,
    lastAcceptedAt: last === 0 ? undefined : new Date(last),
    days: status.days.map((day) => ({ ...day, added: day.added + (added.get(day.date) ?? 0) })),
  }
}

function countReserved(rows: Inbox['rows']): number {
  let count = 0
  for (const { email } of rows.values()) if (isReserved(email)) count++
  return count
}

function* readInbox(statements: ReturnType<typeof prepare>): Generator<SubscriberRow> {
  for (const { seq, acceptedAt, addresses } of statements.rows.iterate()) {
    const batch: InboxAddress[] = JSON.parse(addresses)
    for (const [at, item] of batch.entries()) {
      const [email, subscribedAt] = typeof item === 'string' ? [item, acceptedAt] : item
      yield { seq: seq + at, email, subscribedAt }
    }
  }
}

function* toBatches<T>(items: Iterable<T>): Generator<readonly T[]> {
  let batch: T[] = []
  for (const item of items) {
    batch.push(item)
    if (batch.length < PAGE_SIZE) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

function prepare(db: Database) {
  return {
    range: db.query<Pick<Inbox, 'start' | 'next'>, []>(
      `SELECT (SELECT min(first_seq) FROM inbox) AS start, first_seq + json_array_length(addresses) AS next
       FROM inbox ORDER BY first_seq DESC LIMIT 1`,
    ),
    // Not the difference of the numbers, some of which may have been skipped.
    size: db.query<{ size: number }, []>('SELECT sum(json_array_length(addresses)) AS size FROM inbox'),
    rows: db.query<{ seq: number; acceptedAt: number; addresses: string }, []>(
      'SELECT first_seq AS seq, accepted_at AS acceptedAt, addresses FROM inbox ORDER BY first_seq',
    ),
  }
}
