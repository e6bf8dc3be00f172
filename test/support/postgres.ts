/** A real PostgreSQL for the tests: one server for the whole run, started at the first use, removed after the run. */

import type { ChildProcess } from 'node:child_process'
import { chownSync } from 'node:fs'
import { SQL } from 'bun'
import type { ConnectionParameters } from '../../src/config/connection-parameters.ts'
import { parseListUrl } from '../../src/config/list-url.ts'
import { openStore } from '../../src/store/open.ts'
import type { SubscriberStore } from '../../src/subscriber.ts'
import { findBinaries, findPort, findUser, initialize, removeAfterRun, suspend, tryStart } from './postgres-process.ts'
import { createFolder } from './service.ts'
import { until } from './wait.ts'

/** The password in every URL. No output may contain it. */
export const PASSWORD = 'HushHushHush'

/** The number of connections that the server accepts, without those reserved for superusers. */
export const MAX_CONNECTIONS = 30

export interface TestServer {
  /** The folder of the server's data, with its settings. */
  readonly data: string
  /** The URL of a database that is not a list. */
  readonly admin: string
  /** Creates an empty database, and returns the URL of a list in it. */
  createUrl(): Promise<string>
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

// In globalThis, because each test file has modules of its own.
const shared = globalThis as { postgresOfTheRun?: Promise<TestServer> }

/** Returns the server of the run. */
export function getServer(): Promise<TestServer> {
  shared.postgresOfTheRun ??= createServerOfTheRun()
  return shared.postgresOfTheRun
}

async function createServerOfTheRun(): Promise<TestServer> {
  const folder = await createFolder()
  const user = findUser()
  if (user) chownSync(folder, user.uid, user.gid)
  removeAfterRun(folder)
  const { initdb, postgres } = await findBinaries(folder, user)
  const data = initialize(initdb, { folder, user, password: PASSWORD })
  const port = await findPort()
  let child: ChildProcess | undefined
  let databases = 0

  const toUrl = (role: string, name: string) => `postgres://${role}:${PASSWORD}@127.0.0.1:${port}/${name}`
  const admin = toUrl('postgres', 'postgres')

  async function start(): Promise<void> {
    const settings = [
      `max_connections=${MAX_CONNECTIONS + 3}`,
      'listen_addresses=127.0.0.1',
      'unix_socket_directories=',
    ]
    const options = ['-D', data, '-p', String(port), ...settings.flatMap((setting) => ['-c', setting])]
    // After a kill, the shared memory of the last server may still be in use.
    await until(async () => {
      child = await tryStart(postgres, options, { ...user, cwd: folder })
      return child !== undefined
    }, 'PostgreSQL accepts connections')
  }

  async function run<Row = Record<string, unknown>>(statements: string, url: string): Promise<Row[]> {
    const sql = new SQL({ url: toUrl('postgres', toDatabase(url)), max: 1 })
    try {
      return await sql.unsafe<Row[]>(statements)
    } finally {
      await sql.close()
    }
  }

  /** Sends a signal to all processes of the server. A process that came later could keep the shared memory in use. */
  function signal(name: NodeJS.Signals): number[] {
    if (child === undefined) throw new Error('the server does not run')
    const pids = suspend(child)
    for (const pid of pids) process.kill(pid, name)
    return pids
  }

  await start()
  // Not a superuser, for whom the server reserves connections.
  await run(`CREATE ROLE owner LOGIN PASSWORD '${PASSWORD}'`, admin)
  return {
    data,
    admin,
    run,
    start,
    async createUrl() {
      databases++
      const name = `list_${databases}`
      await run(`CREATE DATABASE ${name} OWNER owner STRATEGY file_copy`, admin)
      return toUrl('owner', name)
    },
    async disconnect(url) {
      await run(
        `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '${toDatabase(url)}'`,
        admin,
      )
    },
    async freeze() {
      const pids = signal('SIGSTOP')
      return () => {
        for (const pid of pids.splice(0)) process.kill(pid, 'SIGCONT')
      }
    },
    async kill() {
      const ended = new Promise((resolve) => child?.once('exit', resolve))
      signal('SIGKILL')
      await ended
    },
  }
}

/** Returns the name of the database in a URL. */
export function toDatabase(url: string): string {
  return new URL(url).pathname.slice(1)
}

/** Returns the parameters of a connection to the list of a URL. */
export function toParameters(url: string): ConnectionParameters {
  const list = parseListUrl('URL', url)
  if (list.kind !== 'postgres') throw new Error(`${url} is not the URL of a PostgreSQL list`)
  return list.parameters
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
