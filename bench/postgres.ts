/** The PostgreSQL of a run: one server, with a new database for each sample, and one with a large list. */

import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { getServer, type TestServer, withStore } from '../test/support/postgres.ts'
import type { Pins } from './machine.ts'

/** Addresses on the large list. load.lua sends them as `listed`. */
export const LARGE = 5_000_000

export interface Database {
  readonly url: string
  /** The process of its server. */
  readonly server: number
}

let started: Promise<TestServer> | undefined
let large: Promise<string> | undefined

/** The server keeps the indexes of the large list in its memory, as one that is set up for such a list does. */
async function restartWithMemory(): Promise<TestServer> {
  const server = await getServer()
  await server.run(`ALTER SYSTEM SET shared_buffers = '1GB'`, server.admin)
  await server.kill()
  await server.start()
  return server
}

function startServer(): Promise<TestServer> {
  started ??= restartWithMemory()
  return started
}

/** Creates an empty database. */
export async function createDatabase(pins: Pins | undefined): Promise<Database> {
  const server = await startServer()
  return { url: await server.createUrl(), server: pinServer(server, pins) }
}

/** Returns the database with the large list, to which the samples add. Creates it at the first call, in a minute or two. */
export async function getLargeDatabase(pins: Pins | undefined): Promise<Database> {
  const server = await startServer()
  large ??= createLargeList(server)
  return { url: await large, server: pinServer(server, pins) }
}

/** The processes of later connections inherit the cores. */
function pinServer({ data }: TestServer, pins: Pins | undefined): number {
  const [pid = ''] = readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')
  const cores = pins?.server ?? `0-${availableParallelism() - 1}`
  Bun.spawnSync(['taskset', '-a', '-c', '-p', cores, pid])
  return Number(pid)
}

async function createLargeList(server: TestServer): Promise<string> {
  process.stderr.write(`adding ${LARGE.toLocaleString('en')} addresses to a list in PostgreSQL\n`)
  const url = await server.createUrl()
  await withStore(url, (store) => store.check())
  // The addresses of load.lua with seed 0, in an order that does not suit the index.
  await server.run(
    `INSERT INTO rollcall.subscribers (seq, identity, email, subscribed_at)
     SELECT n, email, email, timestamptz '2026-01-01T00:00Z' + n * interval '1 second'
     FROM (SELECT n, 'user.' || 1000000000 + n * 40503 % 4294967296 * 65521 % 4294967296
                     || '.1000000000@rollcall.example' AS email
           FROM generate_series(1::bigint, ${LARGE}) AS n) AS addresses;
     UPDATE rollcall.list SET next_seq = ${LARGE} + 1, visible_seq = ${LARGE}, subscribers = ${LARGE}, reserved = ${LARGE}`,
    url,
  )
  await server.run('VACUUM (ANALYZE) rollcall.subscribers', url)
  // What is not written yet would be written during the samples.
  await server.run('CHECKPOINT', url)
  return url
}
