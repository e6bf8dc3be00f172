/** The PostgreSQL of a run: one server on the cores of the contenders, with a new database for each sample. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { getServer, type TestServer } from '../test/support/postgres.ts'
import type { Pins } from './machine.ts'

let server: Promise<TestServer> | undefined

/** Creates an empty database, and returns its URL. */
export async function createDatabase(pins: Pins | undefined): Promise<string> {
  server ??= startServer(pins)
  return await (await server).createUrl()
}

async function startServer(pins: Pins | undefined): Promise<TestServer> {
  const started = await getServer()
  const [pid = ''] = readFileSync(join(started.data, 'postmaster.pid'), 'utf8').split('\n')
  // Its child processes inherit the cores.
  if (pins) Bun.spawnSync(['taskset', '-a', '-c', '-p', pins.server, pid])
  return started
}
