/** A real PostgreSQL for the tests: one server for the whole run, started at the first use, removed after the run. */

import { SQL } from 'bun'
import { parseListUrl } from '../../src/config/list-url.ts'
import type { PostgresServer } from '../../src/config/postgres-url.ts'
import { openStore } from '../../src/store/open.ts'
import type { SubscriberStore } from '../../src/subscriber.ts'
import { CITUS_SETTINGS, startWorkers } from './citus.ts'
import { startPgBouncer } from './pgbouncer.ts'
import { createNode, type PostgresNode } from './postgres-node.ts'

/** The password in every URL. No output may contain it. */
export const PASSWORD = 'HushHushHush'

/** The number of connections that the server accepts, without those reserved for superusers. */
export const MAX_CONNECTIONS = 30

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

/** What `npm run test:poolers` and `npm run test:citus` use instead. */
const { TEST_POSTGRES: kind } = process.env
const isCitus = kind === 'citus'

// In globalThis, because each test file has modules of its own.
const shared = globalThis as { postgresOfTheRun?: Promise<TestServer> }

/** Returns the server of the run. */
export function getServer(): Promise<TestServer> {
  shared.postgresOfTheRun ??= createServerOfTheRun()
  return shared.postgresOfTheRun
}

async function createServerOfTheRun(): Promise<TestServer> {
  const node = await createNode(PASSWORD, isCitus ? CITUS_SETTINGS : [`max_connections=${MAX_CONNECTIONS + 3}`])
  let databases = 0

  const toUrlOf = (port: number, role: string, name: string) =>
    `postgres://${role}:${PASSWORD}@127.0.0.1:${port}/${name}`
  const toUrl = (role: string, name: string) => toUrlOf(node.port, role, name)
  const admin = toUrl('postgres', 'postgres')

  async function run<Row = Record<string, unknown>>(statements: string, url: string): Promise<Row[]> {
    const sql = new SQL({ url: toUrl('postgres', toDatabase(url)), max: 1 })
    try {
      return await sql.unsafe<Row[]>(statements)
    } finally {
      await sql.close()
    }
  }

  await node.start()
  // Not a superuser, for whom the server reserves connections.
  const roles = `CREATE ROLE owner LOGIN PASSWORD '${PASSWORD}'`
  await run(roles, admin)
  const workers = isCitus ? await startWorkers(node.port, { password: PASSWORD, roles, toUrl: toUrlOf }) : undefined
  const port = kind === 'poolers' ? await startPgBouncer(node.port, PASSWORD) : node.port
  return {
    data: node.data,
    admin,
    run,
    start: node.start,
    workers: workers?.nodes ?? [],
    kill: node.kill,
    async createUrl() {
      databases++
      const name = `list_${databases}`
      await run(`CREATE DATABASE ${name} OWNER owner STRATEGY file_copy`, admin)
      await workers?.distribute(name)
      return toUrlOf(port, 'owner', name)
    },
    async disconnect(url) {
      await run(
        `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '${toDatabase(url)}'`,
        admin,
      )
    },
    async freeze() {
      const pids = node.signal('SIGSTOP')
      return () => {
        for (const pid of pids.splice(0)) process.kill(pid, 'SIGCONT')
      }
    },
  }
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
  const store = await openStore(parseListUrl('URL', url))
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}
