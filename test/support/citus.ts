/** The workers of Citus, and the distribution of a list, for `npm run test:citus`. The server of the run coordinates. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SQL } from 'bun'
import { parseListUrl } from '../../src/config/list-url.ts'
import { openStore } from '../../src/store/open.ts'
import { ROOT } from './paths.ts'
import { createNode } from './postgres-node.ts'

/** Whether the run is on Citus. */
export const isCitus = process.env.TEST_CITUS !== undefined

/** The settings of each node. Each database with Citus has a process of its own on each node. */
export const CITUS_SETTINGS = [
  ...['shared_preload_libraries=citus', 'citus.local_hostname=127.0.0.1', 'max_worker_processes=300'],
  // Each of these processes would look for deadlocks on all nodes every two seconds.
  'citus.distributed_deadlock_detection_factor=-1',
]

const DISTRIBUTION = readFileSync(join(ROOT, 'deploy/citus.sql'), 'utf8')

export interface Workers {
  /** The ports of the workers. */
  readonly ports: readonly number[]
  /** Makes a database of the coordinator one of Citus, with a distributed list. */
  distribute(database: string): Promise<void>
}

/**
 * Starts two workers with the users of the coordinator.
 *
 * @param toUrl returns a URL for a port, a user and a database
 * @param roles the statements that create the users
 */
export async function startWorkers(
  coordinator: number,
  {
    password,
    roles,
    toUrl,
  }: { password: string; roles: string; toUrl: (port: number, role: string, name: string) => string },
): Promise<Workers> {
  const workers = await Promise.all([1, 2].map(() => createNode(password, [...CITUS_SETTINGS, 'max_connections=300'])))
  const ports = workers.map(({ port }) => port)
  await Promise.all(workers.map((worker) => worker.start()))
  for (const port of ports) await run(toUrl(port, 'postgres', 'postgres'), roles)
  return {
    ports,
    async distribute(name) {
      for (const port of ports) await run(toUrl(port, 'postgres', 'postgres'), `CREATE DATABASE ${name} OWNER owner`)
      const nodes = [coordinator, ...ports].map((port) => toUrl(port, 'postgres', name))
      await Promise.all(nodes.map((url) => run(url, 'CREATE EXTENSION citus')))
      const admin = nodes[0] ?? ''
      await run(admin, `SELECT citus_set_coordinator_host('127.0.0.1', ${coordinator})`)
      for (const port of ports) await run(admin, `SELECT citus_add_node('127.0.0.1', ${port})`)
      // A superuser does it, because Citus changes the user on the workers.
      await run(admin, 'CREATE SCHEMA rollcall AUTHORIZATION owner')
      const url = toUrl(coordinator, 'owner', name)
      const store = await openStore(parseListUrl('URL', url))
      await store.check()
      await store.close()
      await run(url, DISTRIBUTION)
    },
  }
}

async function run(url: string, statements: string): Promise<void> {
  const sql = new SQL({ url, max: 1 })
  try {
    await sql.unsafe(statements)
  } finally {
    await sql.close()
  }
}
