/** The list in a PostgreSQL database. Any number of processes on any number of machines can share it. */

import type { SQL } from 'bun'
import type { Address } from '../../email.ts'
import { GIVE_UP_MS } from '../../limits.ts'
import type { Log } from '../../log.ts'
import type { Found, ServiceStore, Snapshot, StoreStatus, Subscriber, SubscriberStore } from '../../subscriber.ts'
import { type ChangePlan, planImport, planOptOuts, planRemoval } from '../changes.ts'
import { createPace } from '../pace.ts'
import { type CompactionProgress, createSchedule } from '../schedule.ts'
import { type ClientOptions, createClient } from './client.ts'
import { append, compact, compactSlice, readInboxSince, runCompacted } from './inbox.ts'
import {
  checkWritable,
  listSubscribers,
  listSuppressions,
  listWhole,
  lookUp,
  readCount,
  readHead,
  readStatus,
  rehearseWrite,
} from './read.ts'
import { applyChanges, fillList } from './write.ts'

export interface CommandOptions extends ClientOptions {
  /** Gets the progress of a compaction. */
  readonly onCompaction?: CompactionProgress | undefined
}

/** Opens a list for a command. It connects, and creates the schema, at the first call. */
export function openPostgresStore({ onCompaction, ...options }: CommandOptions): SubscriberStore {
  const client = createClient(options)
  const pace = createPace()

  async function read<T>(work: (sql: SQL) => Promise<T>): Promise<T> {
    await compact(client, onCompaction)
    return await client.run(work)
  }

  async function* list(after: number): AsyncGenerator<readonly Subscriber[]> {
    await compact(client, onCompaction)
    await using snapshot = await client.snapshot()
    yield* snapshot.list((transaction) => listSubscribers(transaction, after))
  }

  /** Leaves the inbox out when addresses cannot be stored. */
  async function status(): Promise<StoreStatus> {
    const isWritable = await client.rehearse(rehearseWrite).then(
      () => true,
      () => false,
    )
    if (isWritable) await compact(client)
    return await client.run(readStatus)
  }

  async function openSnapshot(): Promise<Snapshot> {
    await compact(client, onCompaction)
    const snapshot = await client.snapshot()
    try {
      return {
        head: await snapshot.run(readHead),
        subscribers: snapshot.list(listWhole),
        suppressions: snapshot.list(listSuppressions),
        [Symbol.asyncDispose]: () => snapshot[Symbol.asyncDispose](),
      }
    } catch (error) {
      await snapshot[Symbol.asyncDispose]()
      throw error
    }
  }

  /** Plans a change from what the list holds of the addresses, and writes it, under one lock. */
  async function change<Outcome>(
    addresses: readonly Address[],
    plan: (found: readonly Found[], now: Date) => ChangePlan<Outcome>,
  ): Promise<Outcome> {
    let lockedAt = 0
    const outcome = await runCompacted(client, async (transaction, locked) => {
      lockedAt = performance.now()
      const found = await lookUp(transaction, addresses)
      return await applyChanges(transaction, plan(found, locked.now), locked)
    })
    pace.record(addresses.length, performance.now() - lockedAt)
    return outcome
  }

  const toAddresses = (rows: readonly { readonly email: Address }[]) => rows.map(({ email }) => email)

  return {
    pace,
    head: () => read(readHead),
    add: (addresses) => client.run((sql) => append(sql, addresses)),
    probe: () => client.run((sql) => append(sql, [])),
    check: () => client.rehearse(rehearseWrite),
    count: () => read(readCount),
    status,
    lookUp: (addresses) => read((sql) => lookUp(sql, addresses)),
    list,
    snapshot: openSnapshot,
    import: (rows) => change(toAddresses(rows), (found, now) => planImport(rows, found, now)),
    suppress: (rows, options) =>
      change(toAddresses(rows), (found, now) => planOptOuts(rows, found, { ...options, now })),
    remove: (addresses, options) =>
      change(addresses, (found, now) => planRemoval(addresses, found, { ...options, now })),
    // Without a limit: the other list may be slow.
    fill: (copy) => runCompacted(client, (transaction) => fillList(transaction, copy), { idleMs: 0 }),
    close: () => client.close(),
  }
}

/** Most milliseconds that a call of the service takes. It ends before the intake gives up, so that its reason is logged. */
const DEADLINE_MS = GIVE_UP_MS - 300

/** Milliseconds for which the service waits for a slice of compaction, which takes about 0.1 s. */
const COMPACTION_DEADLINE_MS = 15_000

/** Opens a list for the service. It connects, and creates the schema, at the first call: the server may be down now. */
export function openPostgresServiceStore({ log, ...options }: ClientOptions & { readonly log: Log }): ServiceStore {
  const client = createClient({ ...options, deadlineMs: DEADLINE_MS })
  // A connection of its own, so that no address waits for compaction. The server gives up first, so that it ends its statement.
  const compacting = createClient({ ...options, max: 1, deadlineMs: COMPACTION_DEADLINE_MS + 1000 })
  const schedule = createSchedule(
    () => compactSlice(compacting, { deadlineMs: COMPACTION_DEADLINE_MS }),
    (level, text) => log[level](text),
  )

  return {
    async add(addresses) {
      await client.run((sql) => append(sql, addresses))
      schedule.committed()
    },
    probe: () => client.run((sql) => append(sql, [])),
    check: () => client.run(checkWritable),
    measure: async () => ({ inboxSince: await client.run(readInboxSince), compactionFails: schedule.isFailing() }),
    async close() {
      // A slice in progress fails, and is done again by another process or after the next start.
      await Promise.all([schedule.stop(), compacting.close(), client.close()])
    },
  }
}
