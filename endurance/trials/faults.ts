/** Faults under load: nothing acknowledged is lost, callers get a 500 in time, and the service recovers by itself. */

import { join } from 'node:path'
import { check, checkDuring, waitFor } from '../check.ts'
import { checkDocument, checkLog, checkResponses, countFailed, type Fault, type Scene } from '../faults/fault.ts'
import { POSTGRES_FAULTS } from '../faults/postgres-faults.ts'
import { SQLITE_FAULTS } from '../faults/sqlite-faults.ts'
import { type Exchange, startLoad } from '../load.ts'
import { byIdentity, checkAllSent, checkNoneLost, readRows } from '../rows.ts'
import type { Trial, TrialContext } from '../trial.ts'

/** The service accepts addresses again within this many milliseconds after a fault ends. */
const RECOVERY_MS = 3_000

/** Acknowledged addresses before the fault. */
const BEFORE = 200

export const faults: Trial = {
  name: 'faults',
  promise: 'disk, file, lock and server faults: nothing lost, 500 within 5 s, recovers without help',
  minutes: { sqlite: 1, postgres: 2 },
  needs: ['strace'],
  async run(context) {
    const figures: Record<string, string> = {}
    for (const fault of context.store === 'sqlite' ? SQLITE_FAULTS : POSTGRES_FAULTS) {
      context.progress(fault.name)
      figures[fault.name] = await checkDuring(fault.name, () => runFault(fault, context))
    }
    return figures
  },
}

let scratches = 0

/** Causes a fault under load. Returns what was seen. */
async function runFault(fault: Fault, { folder, createList, random }: TrialContext): Promise<string> {
  const list = await createList()
  const service = await list.serve()
  const scene = { service, list, scratch: join(folder, `scratch-${++scratches}`) }
  try {
    return await observe(fault, scene, random.between(2, 8))
  } finally {
    if (service.process.exitCode === null) await service.stop('SIGKILL')
  }
}

async function observe(fault: Fault, scene: Scene, pauseMs: number): Promise<string> {
  const { service, list } = scene
  const exchanges: Exchange[] = []
  const sent = new Set<string>()
  const load = startLoad(() => service.port, {
    callers: 8,
    pauseMs,
    next() {
      const email = `fault${sent.size}@example.org`
      sent.add(email)
      return { email, onReply: (exchange) => exchanges.push(exchange) }
    },
  })
  const listAcknowledged = () => exchanges.filter(({ status }) => status === 200).map(({ email }) => email)
  await waitFor('the service accepts addresses before the fault', () => listAcknowledged().length >= BEFORE, 60_000)

  const logBefore = service.log().length
  const end = await fault.cause(scene)
  const from = performance.now()
  await checkDocument(service.port)
  await Bun.sleep(Math.max(fault.lasts - (performance.now() - from), 0))
  const failed = countFailed(exchanges, from)
  await end()
  const ended = performance.now()

  const isBack = () => exchanges.some(({ status, startedAt }) => status === 200 && startedAt > ended)
  await waitFor('the service accepts addresses again after the fault', isBack, RECOVERY_MS)
  await waitFor('/readyz says 200 again', () => service.isReady(), RECOVERY_MS)
  const recovered = ((performance.now() - ended) / 1000).toFixed(1)
  await load.stop()
  const code = await service.stop()
  check(code === 0, () => `the service stopped with exit code ${code}`)

  checkResponses(fault, exchanges, from)
  checkLog(fault, service.log().slice(logBefore))
  const listed = byIdentity(await readRows(list))
  checkNoneLost(listed, listAcknowledged())
  checkAllSent(listed, (identity) => sent.has(identity))
  const slowest = Math.max(...exchanges.map(({ startedAt, endedAt }) => endedAt - startedAt)) / 1000
  return `${failed} × 500, slowest ${slowest.toFixed(2)} s, back in ${recovered} s`
}
