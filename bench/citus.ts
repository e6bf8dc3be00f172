/**
 * `npm run bench:citus [-- --bin FOLDER] [--rounds 5] [--seconds 4]`: one service with 64 callers on a Citus of a coordinator and
 * two workers, and on one plain PostgreSQL of the same installation, in turn. Prints the rates with the load of the machine.
 */

import { loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { SQL } from 'bun'
import { findCitus } from '../test/support/installed-postgres.ts'
import { CLI, requireTools } from './machine.ts'
import { startContender } from './process.ts'
import { NEW } from './requests.ts'
import { runWrk } from './wrk.ts'

const CALLERS = 64

const { values } = parseArgs({
  options: {
    bin: { type: 'string' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '4' },
  },
})
requireTools()
const found = findCitus(values.bin)
if (!found.ok) {
  console.error(found.missing)
  process.exit(1)
}
// The modules of the tests read these when they are loaded.
Object.assign(process.env, { TEST_CITUS: '1', TEST_POSTGRES_BIN: found.bin })
const { getServer, PASSWORD } = await import('../test/support/postgres.ts')
const { createNode } = await import('../test/support/postgres-node.ts')
const citus = await getServer()
const plain = await createNode(PASSWORD, [])
await plain.start()

/** Creates an empty database on the plain server. */
async function createPlainUrl(name: string): Promise<string> {
  const toUrl = (database: string) => `postgres://postgres:${PASSWORD}@127.0.0.1:${plain.port}/${database}`
  const sql = new SQL({ url: toUrl('postgres'), max: 1 })
  await sql.unsafe(`CREATE DATABASE ${name}`)
  await sql.close()
  return toUrl(name)
}

/** Returns the addresses that a service accepts in a second, and the seconds until they are all in the list. */
async function measure(url: string): Promise<{ rate: number; drain: number }> {
  const launch = ({ port }: { port: number }) => ({
    command: [process.execPath, CLI, 'serve'],
    environment: { HOST: '127.0.0.1', PORT: String(port), DATABASE_URL: url },
  })
  const running = await startContender({ title: 'Rollcall', role: 'rollcall', probe: '/llms.txt', launch }, undefined)
  const wrk = { origins: running.origins, requests: NEW, connections: CALLERS, pins: undefined }
  await runWrk({ ...wrk, seconds: 1 })
  const { requests, seconds } = await runWrk({ ...wrk, seconds: Number(values.seconds) })
  const end = performance.now()
  const sql = new SQL({ url, max: 1 })
  while ((await sql`SELECT FROM rollcall.inbox LIMIT 1`).length > 0) await Bun.sleep(50)
  const drain = (performance.now() - end) / 1000
  await sql.close()
  await running.stop()
  return { rate: Math.round(requests / seconds), drain }
}

console.log('| Load | Citus | until compacted | PostgreSQL | until compacted | ratio |\n|---|---|---|---|---|---|')
for (let round = 1; round <= Number(values.rounds); round++) {
  const load = loadavg()[0] ?? 0
  const one = await measure(await citus.createUrl())
  const other = await measure(await createPlainUrl(`plain_${round}`))
  const cells = [one, other].flatMap(({ rate, drain }) => [rate.toLocaleString('en'), `${drain.toFixed(1)} s`])
  console.log(`| ${[load.toFixed(1), ...cells, (one.rate / other.rate).toFixed(2)].join(' | ')} |`)
}
process.exit(0)
