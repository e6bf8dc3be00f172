/** The PostgreSQL server of the trials. */

import { getServer, toDatabase } from '../test/support/postgres.ts'
import { waitFor } from './check.ts'
import type { Environment, List } from './rollcall.ts'

/** Kills the server, and starts it again with more settings in its environment. */
export async function restartServer(env: Environment = {}): Promise<void> {
  const server = await getServer()
  await server.kill()
  Object.assign(process.env, env)
  try {
    await server.start()
  } finally {
    for (const name of Object.keys(env)) delete process.env[name]
  }
}

/** Waits until nobody uses the database of a list: a statement of a killed process ends at its own pace. */
export async function waitForServer(list: List): Promise<void> {
  const server = await getServer()
  const query = `SELECT 1 FROM pg_stat_activity
    WHERE datname = '${toDatabase(list.url)}' AND pid <> pg_backend_pid() AND backend_type = 'client backend'`
  const isIdle = async () => (await server.run(query, server.admin)).length === 0
  await waitFor('the server ends the statements of killed processes', isIdle, 60_000)
}
