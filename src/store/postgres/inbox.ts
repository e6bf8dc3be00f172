/** The inbox of a PostgreSQL list: addresses are appended to it, and compaction moves them to the list. */

import type { SQL } from 'bun'
import type { Address } from '../../email.ts'
import { StoreError } from '../../subscriber.ts'
import { checkClock, toClockSeq } from '../numbers.ts'
import { compactAll, SLICE_PAUSE_MS } from '../schedule.ts'
import type { Client } from './client.ts'
import { expectCount, READ_ONLY } from './error.ts'
import { checkStandbys, toMilliseconds } from './read.ts'
import { refuseOtherVersion, toHeadRow } from './schema.ts'
import { forgetReturned } from './write.ts'

/**
 * Appends addresses, durably, in one statement. It looks nothing up, and locks nothing that others need: the work is the same
 * for new, known and suppressed addresses. Without an address it is a probe: a row of the size 0, which compaction deletes.
 */
export async function append(sql: SQL, addresses: readonly Address[]): Promise<void> {
  // The id has the time of this machine, and its row that of the server.
  checkClock()
  // The addresses are a parameter: the log of the server may show the text of a statement that fails. RETURNING fails if a
  // policy hides the row from compaction.
  const result = await sql`
    INSERT INTO rollcall.inbox (id, size, addresses)
    VALUES (${Bun.randomUUIDv7()}::uuid, ${addresses.length}::integer, ${addresses.join('\n')}) RETURNING size`
  expectCount(result, 1, 'inbox')
}

/** Returns when about the oldest row of the inbox was appended: ids follow the clocks of the processes. Undefined when it is empty. */
export async function readInboxSince(sql: SQL): Promise<Date | undefined> {
  const [row] = await sql<{ since: string }[]>`
    SELECT ${toMilliseconds(sql, 'accepted_at')} AS since FROM rollcall.inbox ORDER BY id LIMIT 1`
  return row && new Date(Number(row.since))
}

/** Addresses in a slice: the lock is held for about 0.1 s. Smaller ones cost more, larger ones little less. */
const SLICE = 10_000

/** Milliseconds after which a process that stands still in a transaction loses the lock. */
export const IDLE_MS = 3_000

/** Milliseconds that a statement under the lock may take. A slice takes about 0.1 s. */
export const STATEMENT_MS = 15_000

/** Milliseconds for which a change waits for the lock. Only a copy to this list, a migration or a slow statement holds it longer. */
const LOCK_MS = 10_000

/** The last id that a row can have. */
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** The numbers and the clock, for a transaction that holds the lock. */
interface Locked {
  /** New numbers begin after it. */
  readonly last: number
  /** The clock of the server. */
  readonly now: Date
}

/**
 * Locks the list. Every change except acceptance needs this lock, so a later commit has higher numbers.
 *
 * @throws an error when commits are not durable; StoreError when the clock of the server is wrong, the schema has another version, or the
 * list has no head
 */
async function lock(transaction: SQL): Promise<Locked> {
  // row_security: a policy that hides rows is an error, and does not make the list shorter.
  // DateStyle: see BEGIN_SNAPSHOT in client.ts.
  // work_mem: a slice is sorted in memory.
  // enable_hashjoin, enable_mergejoin: each address is looked up in an index. With them, the server may read the whole list for a batch.
  // jit: the server would compile the statement of each slice, which can take longer than to run it.
  await transaction`
    SELECT set_config('lock_timeout', ${String(LOCK_MS)}, true),
           set_config('statement_timeout', ${String(STATEMENT_MS)}, true),
           set_config('idle_in_transaction_session_timeout', ${String(IDLE_MS)}, true),
           set_config('row_security', 'off', true),
           set_config('DateStyle', 'ISO', true),
           set_config('work_mem', '64MB', true),
           set_config('enable_hashjoin', 'off', true),
           set_config('enable_mergejoin', 'off', true),
           set_config('jit', 'off', true)`
  // The last column is an error unless commits are durable: see durable_number in schema.ts.
  const rows = await transaction<{ version: number; lastSeq: string; now: string }[]>`
    SELECT version, last_seq AS "lastSeq", ${toMilliseconds(transaction, 'clock_timestamp()')} AS now, 0::rollcall.durable_number
    FROM rollcall.list FOR UPDATE`
  const { version, lastSeq, now: clock } = toHeadRow(rows)
  refuseOtherVersion(version)
  const now = checkClock(Number(clock))
  return { last: Math.max(Number(lastSeq), toClockSeq(now)), now: new Date(now) }
}

/**
 * Locks the list, and moves the oldest rows of the inbox to it. A crash repeats all of it or nothing: it is in one
 * transaction. Any number of processes may do it at once: they take turns.
 *
 * @param upTo the last id that is moved
 * @returns whether the inbox may have more, and what a caller needs who goes on under the lock
 */
async function moveSlice(transaction: SQL, upTo = LAST_ID): Promise<Locked & { readonly hasMore: boolean }> {
  const { last, now } = await lock(transaction)
  // One statement, so that the addresses do not leave the server. Its steps, from the inside out:
  //
  // oldest    the oldest rows, at most SLICE. Addresses alone would be no limit: the row of a probe has none
  // slice     the same, with how many addresses come before each row. The last row before which fewer than SLICE come is the border
  // taken     deletes the rows up to the border. With Citus, this condition must be a range over several shards: a DELETE on one
  //           shard would commit there before the transaction does
  // numbered  gives each address of these rows its number, in the order of the rows, and in a row in that of its lines
  // added     adds those that are new; of equal identities, the first one. In the order of the index, each of its pages is written once
  const [{ rows, addresses }] = await transaction<[{ rows: number; addresses: number }]>`
    WITH taken AS (
      DELETE FROM rollcall.inbox WHERE id <= (
        SELECT id FROM (
          SELECT id, sum(size) OVER (ORDER BY id) - size AS preceding
          FROM (SELECT id, size FROM rollcall.inbox WHERE id <= ${upTo}::uuid ORDER BY id LIMIT ${SLICE}::integer) AS oldest
        ) AS slice WHERE preceding < ${SLICE}::integer ORDER BY id DESC LIMIT 1
      ) RETURNING id, accepted_at, addresses
    ), numbered AS (
      SELECT ${last}::bigint + row_number() OVER (ORDER BY id, position) AS seq, email, accepted_at
      FROM taken, unnest(string_to_array(addresses, E'\\n')) WITH ORDINALITY AS given (email, position)
    ), added AS (
      INSERT INTO rollcall.subscribers SELECT seq, email, accepted_at FROM numbered
      ORDER BY lower(email COLLATE "C"), seq ON CONFLICT (lower(email)) DO NOTHING
    )
    SELECT (SELECT count(*) FROM taken)::integer AS rows, (SELECT count(*) FROM numbered)::integer AS addresses`
  const end = last + addresses
  if (addresses > 0) await transaction`UPDATE rollcall.list SET last_seq = ${end}::bigint`
  return { last: end, now, hasMore: rows >= SLICE || addresses >= SLICE }
}

/** Moves one slice, in a transaction of its own. @param upTo the last id that is moved @returns whether there may be more */
export async function compactSlice(client: Client, upTo?: string): Promise<boolean> {
  const { hasMore } = await client.transact((transaction) => moveSlice(transaction, upTo))
  return hasMore
}

/**
 * Returns how many addresses an inbox has, repeats included, and the id of its newest row: null when it is empty.
 *
 * @throws StoreError on a standby, whose list lacks what the primary has not compacted
 */
export async function readInbox(sql: SQL): Promise<{ readonly size: number; readonly newest: string | null }> {
  const [row] = await sql<[{ size: string; newest: string | null; isReadOnly: boolean }]>`
    SELECT (SELECT coalesce(sum(size), 0) FROM rollcall.inbox) AS size,
           (SELECT id::text FROM rollcall.inbox ORDER BY id DESC LIMIT 1) AS newest,
           current_setting('transaction_read_only')::boolean AS "isReadOnly"`
  if (row.isReadOnly) throw new StoreError(READ_ONLY)
  return { size: Number(row.size), newest: row.newest }
}

/** Expects that a row has left the inbox: a trigger can keep it without an error. @throws StoreError */
async function expectGone(sql: SQL, id: string | null): Promise<void> {
  if (id) expectCount(await sql`SELECT FROM rollcall.inbox WHERE id = ${id}::uuid`, 0, 'inbox')
}

/**
 * Compacts what the inbox holds at the call, so that a reader finds everything that was confirmed before. If the inbox is
 * empty, takes no lock.
 */
export async function compact(client: Client): Promise<void> {
  const { newest } = await client.run(readInbox)
  if (!newest) return
  await client.run(checkStandbys)
  await compactAll(() => compactSlice(client, newest))
  await client.run((sql) => expectGone(sql, newest))
}

/**
 * Does work under the lock, on a list that has everything that was accepted before, and where nobody is both on the list and
 * suppressed. It moves a slice of the inbox, and forgets some who came back. When neither leaves a rest, the work is done in that
 * transaction; otherwise it commits, others get the lock, and the next one goes on.
 *
 * @param work gets the number after which new ones begin, and the clock
 */
export async function runCompacted<T>(
  client: Client,
  work: (transaction: SQL, locked: Locked) => Promise<T>,
): Promise<T> {
  // Nobody waits for a standby that is not there.
  await client.run(checkStandbys)
  const { newest } = await client.run(readInbox)
  for (;;) {
    const done = await client.transact(async (transaction) => {
      const { hasMore, ...locked } = await moveSlice(transaction)
      if (hasMore || (await forgetReturned(transaction))) return undefined
      await expectGone(transaction, newest)
      return { result: await work(transaction, locked) }
    })
    if (done) return done.result
    await Bun.sleep(SLICE_PAUSE_MS)
  }
}
