/** The workers of a Citus, for `npm run test:citus`. The server of the run coordinates. */

import { SQL } from 'bun'
import { parseListUrl } from '../../src/config/list-url.ts'
import { openStore } from '../../src/store/open.ts'
import { createNode, type PostgresNode } from './postgres-node.ts'

/** The settings of each node. */
export const CITUS_SETTINGS = [
  ...['shared_preload_libraries=citus', 'citus.local_hostname=127.0.0.1', 'max_worker_processes=300'],
  ...['max_connections=300', 'max_prepared_transactions=300', 'citus.recover_2pc_interval=2s'],
  // Each database has a process that would look for deadlocks on all nodes every two seconds.
  'citus.distributed_deadlock_detection_factor=-1',
]

export interface Workers {
  readonly nodes: readonly PostgresNode[]
  /** Makes an empty database of the coordinator one of Citus, creates a list in it, and distributes its inbox. */
  distribute(database: string): Promise<void>
}

/**
 * Starts two workers with the users of the coordinator.
 *
 * @param options.roles the statements that create the users
 * @param options.toUrl returns the URL of a database on a node, for a user
 */
export async function startWorkers(
  coordinator: number,
  options: {
    readonly password: string
    readonly roles: string
    readonly toUrl: (port: number, role: string, name: string) => string
  },
): Promise<Workers> {
  const { password, roles, toUrl } = options
  const nodes = await Promise.all([1, 2].map(() => createNode(password, CITUS_SETTINGS)))
  const run = async (port: number, statements: string, { role = 'postgres', name = 'postgres' } = {}) => {
    const sql = new SQL({ url: toUrl(port, role, name), max: 1 })
    await sql.unsafe(statements).finally(() => sql.close())
  }
  for (const node of nodes) {
    await node.start()
    await run(node.port, roles)
  }
  return {
    nodes,
    async distribute(name) {
      for (const { port } of nodes) await run(port, `CREATE DATABASE ${name} OWNER owner`)
      for (const port of [coordinator, ...nodes.map((node) => node.port)]) {
        await run(port, 'CREATE EXTENSION citus', { name })
      }
      await run(coordinator, `SELECT citus_set_coordinator_host('127.0.0.1', ${coordinator})`, { name })
      for (const { port } of nodes) await run(coordinator, `SELECT citus_add_node('127.0.0.1', ${port})`, { name })
      // A superuser does it, because Citus changes the user on the workers.
      await run(coordinator, 'CREATE SCHEMA rollcall AUTHORIZATION owner', { name })
      const store = await openStore(parseListUrl('URL', toUrl(coordinator, 'owner', name)))
      await store.count().finally(() => store.close())
      const distribute = `SELECT create_distributed_table('rollcall.inbox', 'id', shard_count => 8)`
      await run(coordinator, distribute, { role: 'owner', name })
    },
  }
}
