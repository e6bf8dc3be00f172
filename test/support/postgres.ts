/** A real PostgreSQL for the tests: one server for the whole run, started at the first use, removed after the run. */

import { onTestFinished } from 'bun:test'
import { SQL } from 'bun'
import { parseListUrl } from '../../src/config/list-url.ts'
import type { PostgresServer } from '../../src/config/postgres-url.ts'
import { openStore } from '../../src/store/open.ts'
import type { SubscriberStore } from '../../src/subscriber.ts'
import { createNode, type PostgresNode, startPgBouncer } from './postgres-server.ts'

/** The password in every URL. No output may contain it. */
export const PASSWORD = 'HushHushHush'

export interface TestServer {
  /** The folder of the server's data, with its settings. */
  readonly data: string
  /** The URL of a database that is not a list. */
  readonly admin: string
  /**
   * Creates an empty database, and returns the URL of a list in it. On Citus, the list exists and is distributed. With a
   * pooler, the URL leads to it.
   */
  createUrl(): Promise<string>
  /** The workers of Citus. */
  readonly workers: readonly PostgresNode[]
  /** Runs statements as the superuser, in the database of a URL. */
  run<Row = Record<string, unknown>>(statements: string, url: string): Promise<Row[]>
  /** Terminates the connections to the database of a URL, as a failover does. */
  disconnect(url: string): Promise<void>
  /** Suspends the server and all of its processes until the returned function is called. */
  freeze(): Promise<() => void>
  /** Kills the server and all of its processes, and waits until it has ended. */
  kill(): Promise<void>
  /** Starts the server again, with the same data and port. */
  start(): Promise<void>
}

/** What `npm run test:only -- poolers` and `npm run test:only -- citus` use instead. */
const { TEST_POSTGRES: kind } = process.env
const isCitus = kind === 'citus'

// In globalThis, because each test file has modules of its own.
const shared = globalThis as { postgresOfTheRun?: Promise<TestServer> }

/** Returns the server of the run. */
export function getServer(): Promise<TestServer> {
  shared.postgresOfTheRun ??= createServerOfTheRun()
  return shared.postgresOfTheRun
}

/** The settings of each server of Citus. */
const CITUS_SETTINGS = [
  ...['shared_preload_libraries=citus', 'citus.local_hostname=127.0.0.1', 'max_worker_processes=300'],
  ...['max_connections=300', 'max_prepared_transactions=300', 'citus.recover_2pc_interval=2s'],
  // Each database has a process that would look for deadlocks on all nodes every two seconds.
  'citus.distributed_deadlock_detection_factor=-1',
]

async function createServerOfTheRun(): Promise<TestServer> {
  const settings = isCitus ? CITUS_SETTINGS : ['max_connections=33']
  const node = await createNode(PASSWORD, settings)
  const workers = await Promise.all(isCitus ? [1, 2].map(() => createNode(PASSWORD, settings)) : [])
  const nodes = [node, ...workers]
  for (const { start, run } of nodes) {
    await start()
    // Not a superuser, for whom the server reserves connections.
    await run(`CREATE ROLE owner LOGIN PASSWORD '${PASSWORD}'`)
  }
  const port = kind === 'poolers' ? await startPgBouncer(node.port, PASSWORD) : node.port
  let databases = 0
  return {
    data: node.data,
    admin: node.toUrl('postgres', 'postgres'),
    workers,
    run: (statements, url) => node.run(statements, { database: toDatabase(url) }),
    start: node.start,
    kill: node.kill,
    async createUrl() {
      databases++
      const name = `list_${databases}`
      for (const { run } of nodes) await run(`CREATE DATABASE ${name} OWNER owner STRATEGY wal_log`)
      if (isCitus) await distribute(name, node, workers)
      const url = new URL(node.toUrl('owner', name))
      url.port = String(port)
      return url.href
    },
    async disconnect(url) {
      const database = toDatabase(url)
      await node.run(`SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '${database}'`)
    },
    async freeze() {
      const pids = node.signal('SIGSTOP')
      return () => {
        for (const pid of pids.splice(0)) process.kill(pid, 'SIGCONT')
      }
    },
  }
}

/** Makes an empty database one of Citus, creates a list in it, and distributes its inbox. */
async function distribute(database: string, coordinator: PostgresNode, workers: readonly PostgresNode[]) {
  const run = (statements: string) => coordinator.run(statements, { database })
  for (const node of [coordinator, ...workers]) await node.run('CREATE EXTENSION citus', { database })
  await run(`SELECT citus_set_coordinator_host('127.0.0.1', ${coordinator.port})`)
  for (const { port } of workers) await run(`SELECT citus_add_node('127.0.0.1', ${port})`)
  // A superuser does it, because Citus changes the user on the workers.
  await run('CREATE SCHEMA rollcall AUTHORIZATION owner')
  await withStore(coordinator.toUrl('owner', database), (store) => store.count())
  const inbox = `SELECT create_distributed_table('rollcall.inbox', 'id', shard_count => 8)`
  await coordinator.run(inbox, { database, role: 'owner' })
}

/** Returns the name of the database in a URL. */
export function toDatabase(url: string): string {
  return new URL(url).pathname.slice(1)
}

/** Returns how to connect to the list of a URL. */
export function toServer(url: string): PostgresServer {
  const list = parseListUrl('URL', url)
  if (list.kind !== 'postgres') throw new Error(`${url} is not the URL of a PostgreSQL list`)
  return list.server
}

/** Opens the list of a URL for some work. */
export async function withStore<T>(url: string, work: (store: SubscriberStore) => Promise<T>): Promise<T> {
  const store = await openStore(parseListUrl('URL', url), { access: 'create' })
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

/** Runs a statement in a transaction that stays open until the returned function is called, or the test ends. */
export async function holdTransaction(url: string, statement: string): Promise<() => Promise<void>> {
  const sql = new SQL({ url, max: 1 })
  const [held, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const holding = sql.begin(async (transaction) => {
    await transaction.unsafe(statement)
    held.resolve()
    await release.promise
  })
  await held.promise
  const end = async () => {
    release.resolve()
    await holding
    await sql.close()
  }
  onTestFinished(end)
  return end
}
