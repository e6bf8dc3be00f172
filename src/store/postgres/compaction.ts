/**
 * Compaction moves accepted addresses from the inbox into the list, where each identity is unique and has a seq.
 *
 * Accepting an address appends it to `inbox`. Nothing is looked up, so a response takes as long for a new address as for a
 * known one. Compaction later moves the groups in slices. Each slice is a transaction under the lock of the list, so one
 * process compacts at a time. A process that dies or stops in a slice loses the lock, and the slice was not done. Another one
 * does it again. Acceptances do not wait for the lock.
 *
 * The ids of the inbox are not the order of the commits: a group with a low id may become visible after one with a higher
 * id. So compaction takes what it sees, and gives out the seqs when it moves the addresses.
 *
 * Readers use the list up to `visible_seq`, which a later transaction raises. In one PostgreSQL the rows of a slice become
 * visible all at once. On the nodes of Citus they do not: there the lock waits for them (nodes.ts).
 */

import type { SQL } from 'bun'
import type { Address } from '../../email.ts'
import { readBacklog, type SliceOptions, takeSlice } from './inbox.ts'
import type { Pool } from './pool.ts'
import { confirmOnStandbys } from './replication.ts'
import { insertSubscribers } from './subscribers.ts'
import { deleteSuppressions, findSuppressed } from './suppressions.ts'

interface Entry {
  readonly email: Address
  readonly subscribedAt: Date
}

/** Addresses in a slice of a command, which takes about 0.1 s. */
const COMMAND_SLICE = 5000

/** Addresses in a slice of the service: short, because it shares the event loop with requests. */
const SERVICE_SLICE = 2000

/** Milliseconds between two slices of the service. In this time another process gets the lock. */
const PAUSE_MS = 2

/** A change moves this many addresses under one lock, so that new ones cannot keep it from beginning. */
const MAX_LOCKED = 20_000

/**
 * Moves all that was accepted before the call, and makes it visible to readers. Takes no lock when there is nothing to do.
 *
 * @returns how many addresses were moved; undefined when the database cannot be written, such as a standby
 */
export async function compact(pool: Pool): Promise<number | undefined> {
  const { until, isVisible, isReadOnly } = await pool.run(readBacklog)
  if (isReadOnly) return undefined
  if (until === undefined && isVisible) return 0
  const moved = until === undefined ? 0 : await moveSlices(pool.runLocked, until)
  await pool.runLocked(raiseVisibleSeq)
  return moved
}

/**
 * Compacts, and does work in the same transaction under the lock. All that was accepted before the transaction began is on
 * the list then.
 */
export async function runCompacted<T>(pool: Pool, work: (transaction: SQL) => Promise<T>): Promise<T> {
  // While others write, as long as each round leaves half as much as the last one.
  for (let last = Number.POSITIVE_INFINITY; ; ) {
    const moved = (await compact(pool)) ?? 0
    if (moved <= MAX_LOCKED || moved > last / 2) break
    last = moved
  }
  const result = await pool.runLocked(async (sql) => {
    const { until } = await readBacklog(sql)
    if (until !== undefined) await moveSlices((move) => move(sql), until)
    return await work(sql)
  })
  await pool.run(confirmOnStandbys)
  // The work is done even if this fails. Every reader and every compaction tries it again.
  await pool.runLocked(raiseVisibleSeq).catch(() => {})
  return result
}

/**
 * Like compact, but for the service: in small slices, and only while no other process has the lock.
 *
 * @returns whether all is done
 */
export async function compactWhileFree(pool: Pool): Promise<boolean> {
  const { until, isReadOnly } = await pool.run(readBacklog)
  if (until === undefined || isReadOnly) return true
  for (let after: number | undefined; ; await Bun.sleep(PAUSE_MS)) {
    const turn = await pool.tryLocked(async (sql) => ({
      slice: await moveSlice(sql, { after, until, size: SERVICE_SLICE }),
    }))
    if (!turn) return false
    if (!turn.slice) break
    after = turn.slice.last
  }
  await pool.runLocked(raiseVisibleSeq)
  return true
}

/** Moves the groups up to an id. Returns how many addresses were moved. */
async function moveSlices(runLocked: Pool['runLocked'], until: number): Promise<number> {
  let moved = 0
  for (let after: number | undefined; ; ) {
    const slice = await runLocked((sql) => moveSlice(sql, { after, until, size: COMMAND_SLICE }))
    if (!slice) return moved
    moved += slice.size
    after = slice.last
  }
}

interface Slice {
  /** The id of the last group. */
  readonly last: number
  /** The number of addresses. */
  readonly size: number
}

/** Moves a slice to the list. The caller must hold the lock. Returns undefined when no group is left. */
async function moveSlice(sql: SQL, options: SliceOptions): Promise<Slice | undefined> {
  const groups = await takeSlice(sql, options)
  const last = groups.at(-1)
  if (!last) return undefined
  const entries = groups.flatMap(({ acceptedAt, addresses }) =>
    addresses.map((email) => ({ email, subscribedAt: acceptedAt })),
  )
  await insertSubscribers(sql, await liftSuppressions(sql, entries))
  return { last: last.id, size: entries.length }
}

/**
 * Deletes the suppressions of accepted addresses, because a new subscription is a new consent. Its date is after that of
 * the suppression: an address that was accepted during the removal may have an earlier date, and copies compare dates.
 */
async function liftSuppressions(sql: SQL, entries: readonly Entry[]): Promise<readonly Entry[]> {
  const addresses = entries.map(({ email }) => email)
  const suppressed = await findSuppressed(sql, addresses)
  if (suppressed.size === 0) return entries
  await deleteSuppressions(
    sql,
    addresses.filter((_, index) => suppressed.has(index)),
  )
  return entries.map(({ email, subscribedAt }, index) => {
    const earliest = (suppressed.get(index)?.getTime() ?? Number.NEGATIVE_INFINITY) + 1
    return { email, subscribedAt: new Date(Math.max(subscribedAt.getTime(), earliest)) }
  })
}

/** Lets readers see all that was moved. The caller must hold the lock, and have committed the move before it took it. */
async function raiseVisibleSeq(sql: SQL): Promise<void> {
  await sql`UPDATE rollcall.list SET visible_seq = next_seq - 1 WHERE visible_seq < next_seq - 1`
}
