/**
 * `npm run test:failover`: kills the primary of a cluster five times, while two services accept addresses.
 *
 * With strict synchronous replication, no confirmed address may be lost, and each service must confirm addresses again
 * within 10 s. With asynchronous replication the loss is measured. Not part of `npm test`: PostgreSQL 15, Patroni and etcd must
 * be installed. Exit code 1 when one is missing, or when a promise is broken.
 */

import { join } from 'node:path'
import { requirePrograms } from '../support/programs.ts'
import { type RunningService, runCommand, startService } from '../support/service.ts'
import { until } from '../support/wait.ts'
import { BIN, type Cluster, startCluster } from './cluster.ts'

requirePrograms({ etcd: 'etcd-server', patroni: 'patroni', [join(BIN, 'postgres')]: 'postgresql-15' })

const KILLS = 5
const CALLERS = 16
/** Most milliseconds until a service confirms addresses again. */
const MAX_OUTAGE_MS = 10_000
/** Confirmed addresses of each service before a kill. */
const ROUND = 2_000

interface Load {
  readonly service: RunningService
  readonly confirmed: string[]
  failed: number
  /** When the last address was confirmed, and the longest time without one, in milliseconds. */
  last: number
  longest: number
}

const results = [await run('strict synchronous', true), await run('asynchronous', false)]
process.exit(results.every(Boolean) ? 0 : 1)

/** Returns whether the promises were kept. */
async function run(name: string, isSynchronous: boolean): Promise<boolean> {
  const cluster = await startCluster(isSynchronous)
  try {
    await cluster.settle()
    return await measure(name, { cluster, isSynchronous })
  } finally {
    await cluster.stop()
  }
}

async function measure(
  name: string,
  { cluster, isSynchronous }: { cluster: Cluster; isSynchronous: boolean },
): Promise<boolean> {
  const env = { DATABASE_URL: cluster.url }
  const services = await Promise.all([startService({ env }), startService({ env })])
  let isOver = false
  const loads = services.map((service): Load => ({ service, confirmed: [], failed: 0, last: 0, longest: 0 }))
  const callers = loads.flatMap((load, index) =>
    Array.from({ length: CALLERS }, (_, caller) => subscribe(load, `${index}.${caller}`, () => isOver)),
  )
  const outages: number[] = []
  for (let kill = 0; kill < KILLS; kill++) {
    const before = loads.map(({ confirmed }) => confirmed.length)
    await until(
      () => loads.every(({ confirmed }, index) => confirmed.length > before[index]! + ROUND),
      'both services confirm',
    )
    await cluster.settle()
    for (const load of loads) load.longest = 0
    const failed = loads.map((load) => load.failed)
    const restart = await cluster.killPrimary()
    const [killed, atKill] = [performance.now(), loads.map(({ confirmed }) => confirmed.length)]
    await until(
      () => loads.every((load, index) => load.failed > failed[index]! || performance.now() > killed + MAX_OUTAGE_MS),
      'both services notice',
    )
    await until(
      () => loads.every(({ confirmed }, index) => confirmed.length > atKill[index]! + 500),
      'both services confirm again',
    )
    outages.push(...loads.map(({ longest }) => longest))
    restart()
    await cluster.settle()
  }
  isOver = true
  await Promise.all(callers)
  const confirmed = loads.flatMap((load) => load.confirmed)
  const { stdout, stderr } = await runCommand(['export', '--format', 'txt'], { env })
  const listed = new Set(stdout.split('\n'))
  const lost = confirmed.filter((email) => !listed.has(email)).length
  if (listed.size < confirmed.length / 2) console.error(stderr)
  await Promise.all(services.map((service) => service.stop()))
  const longest = Math.max(...outages)
  const seconds = outages.map((outage) => (outage / 1000).toFixed(1)).join(', ')
  console.log(`${name}: ${lost} of ${confirmed.length} confirmed addresses lost; seconds without a 200: ${seconds}`)
  return !isSynchronous || (lost === 0 && longest <= MAX_OUTAGE_MS)
}

/** Posts new addresses, one after the other. */
async function subscribe(load: Load, name: string, isOver: () => boolean): Promise<void> {
  for (let step = 0; !isOver(); step++) {
    const email = `user${name}.${step}@mail.io`
    const { status } = await load.service.subscribe(email)
    if (status !== 200) {
      load.failed++
      continue
    }
    const now = performance.now()
    if (load.last > 0) load.longest = Math.max(load.longest, now - load.last)
    load.last = now
    load.confirmed.push(email)
  }
}
