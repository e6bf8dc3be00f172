/** The list in a PostgreSQL database. Any number of processes on any number of machines can share it. */

import type { SQL } from 'bun'
import { toListName } from '../../config/list-url.ts'
import type { PostgresServer } from '../../config/postgres-url.ts'
import type { Address } from '../../email.ts'
import type { Failure } from '../../failure.ts'
import { GIVE_UP_MS } from '../../limits.ts'
import type { Log } from '../../log.ts'
import type { Count, ListCopy, ServiceStore, StoreOptions, SubscriberStore } from '../../subscriber.ts'
import { createBatches } from '../batches.ts'
import { toNewList } from '../check.ts'
import { createSchedule } from '../schedule.ts'
import type { OnOutdated } from '../version.ts'
import { type Client, createClient } from './client.ts'
import { append, compact, compactSlice, readInboxSince, runCompacted, STATEMENT_MS } from './inbox.ts'
import {
  checkAccepts,
  checkStandbys,
  listSubscribers,
  listSuppressions,
  lookUp,
  readCount,
  readHead,
  readStatus,
  tryWrite,
} from './read.ts'
import { createUpgrade } from './upgrade.ts'
import { applyChanges, insertList } from './write.ts'

/** Opens a list for a command. It connects at the first call, and creates the schema with the access `create`. */
export function openPostgresStore(server: PostgresServer, { access, notify }: StoreOptions): SubscriberStore {
  const client = createClient({ server, create: access === 'create' })

  async function read<T>(work: (sql: SQL) => Promise<T>): Promise<T> {
    await compact(client)
    return await client.read(work)
  }

  return {
    ...createBatches(({ addresses, plan }) =>
      runCompacted(client, async (transaction, { last, now }) => {
        const lockedAt = performance.now()
        const { changes, outcomes } = plan(await lookUp(transaction, addresses), now)
        await applyChanges(transaction, changes, last)
        return { outcomes, lockedAt }
      }),
    ),
    // Compacted first: addresses in the inbox have no numbers yet.
    head: () => read(readHead),
    add: (addresses) => client.run((sql) => append(sql, addresses)),
    probe: () => client.run((sql) => append(sql, [])),
    ready: () => client.rollBack(tryWrite),
    count: () => read(readCount),
    async status() {
      const failure = await compact(client).then(
        () => undefined,
        (error: Failure) => error,
      )
      // Throws when the list cannot be read either, which is the reason then.
      const status = await client.read(readStatus)
      if (failure) notify?.(`the addresses in the inbox are not included: ${failure.message}`)
      return status
    },
    lookUp: (addresses) => read((sql) => lookUp(sql, addresses)),
    async *list(after) {
      await compact(client)
      await using snapshot = await client.snapshot()
      yield* wrapPages(client, listSubscribers(snapshot.transaction, after))
    },
    async snapshot() {
      await compact(client)
      // The transaction ends here when its head cannot be read; otherwise the caller ends it.
      await using open = new AsyncDisposableStack()
      const { transaction } = open.use(await client.snapshot())
      const head = await client.run(() => readHead(transaction))
      const subscribers = wrapPages(client, listSubscribers(transaction, 0))
      const suppressions = wrapPages(client, listSuppressions(transaction))
      return Object.assign(open.move(), { head, subscribers, suppressions })
    },
    close: () => client.close(),
  }
}

/** As `fillList` of open.ts, in one transaction. */
export async function fillPostgresList(server: PostgresServer, copy: ListCopy, signal: AbortSignal): Promise<Count> {
  const client = createClient({ server, create: true })
  try {
    return await runCompacted(client, async (transaction) => {
      const count = await insertList(transaction, copy)
      signal.throwIfAborted()
      return count
    })
  } finally {
    await client.close()
  }
}

async function* wrapPages<Page>(client: Client, pages: AsyncIterator<Page>): AsyncGenerator<Page> {
  for (;;) {
    const { done, value } = await client.run(() => pages.next())
    if (done) return
    yield value
  }
}

/** Most milliseconds that a call of the service takes. It ends before the intake gives up, so that its reason is logged. */
const DEADLINE_MS = GIVE_UP_MS - 300

/**
 * Milliseconds for which the service waits for a process that migrates the list. It is less than DEADLINE_MS, so that the server ends
 * the wait: otherwise each attempt would leave a connection there.
 */
const SERVICE_LOCK_MS = 1_000

/** Opens a list for the service. It connects, and creates the schema, a moment later: the server may be down now. */
export function openPostgresServiceStore(server: PostgresServer, log: Log, onOutdated?: OnOutdated): ServiceStore {
  const onCreate = () => log.warn(toNewList(toListName({ kind: 'postgres', server })))
  const upgrade = createUpgrade(server, log)
  async function check(sql: SQL): Promise<void> {
    upgrade.refuse()
    await checkStandbys(sql)
  }
  const service = { server, create: true, check, onCreate, lockMs: SERVICE_LOCK_MS, onOlder: upgrade.start, onOutdated }
  const client = createClient({ ...service, deadlineMs: DEADLINE_MS })
  // A connection of its own, so that no address waits for compaction. The server usually gives up first, so that it ends its statement.
  const compacting = createClient({ ...service, max: 1, deadlineMs: STATEMENT_MS + 1000 })
  const schedule = createSchedule(
    () => compactSlice(compacting),
    (level, text) => log[level](text),
  )

  async function appendAll(addresses: readonly Address[]): Promise<void> {
    // An address may be in the inbox twice: compaction makes a set of it.
    await client.repeat((sql) => append(sql, addresses))
    schedule.committed()
  }

  return {
    add: appendAll,
    // Compaction deletes its row.
    probe: () => appendAll([]),
    ready: () => client.repeat(checkAccepts),
    measure: async () => ({ inboxSince: await client.repeat(readInboxSince), compactionFails: schedule.isFailing() }),
    async close() {
      // A slice in progress fails, and is done again by another process or after the next start.
      await Promise.all([schedule.stop(), compacting.close(), client.close(), upgrade.close()])
    },
  }
}
