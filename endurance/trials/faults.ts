/** Faults under load: nothing acknowledged is lost, callers get a 500 in time, and the service recovers by itself. */

import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import {
  checkDocument,
  checkKept,
  checkLines,
  checkLost,
  checkResponses,
  countErrors,
  DEADLINE_MS,
} from '../faults/checks.ts'
import type { Fault, Scene } from '../faults/fault.ts'
import { SQLITE_FAULTS } from '../faults/sqlite-faults.ts'
import { type Exchange, startLoad } from '../load.ts'
import { startService } from '../rollcall.ts'
import { buildShim, createFaults, findMissingCompiler, toShimEnvironment } from '../shim/shim.ts'
import { BrokenPromise, check, type Trial, type TrialContext, waitFor } from '../trial.ts'

/** The service accepts addresses again within this many milliseconds after a fault ends. */
const RECOVERY_MS = 10_000

/** Acknowledged addresses before the fault. */
const BEFORE = 200

export const faults: Trial = {
  name: 'faults',
  promise: 'disk, file, clock, lock, thread and server faults: nothing lost, 500 within 5 s, recovers without help',
  stores: ['sqlite', 'postgres'],
  minutes: 5,
  findMissing: findMissingCompiler,
  async run(context) {
    const { store, amount, progress } = context
    const table = store === 'sqlite' ? SQLITE_FAULTS : (await import('../faults/postgres-faults.ts')).POSTGRES_FAULTS
    const library = buildShim(context.folder)
    const rounds = amount(3)
    const slowest: Record<string, string> = {}
    for (let round = 0; round < rounds; round++) {
      for (const [index, fault] of table.entries()) {
        const name = `${round}-${index}`
        progress(`${fault.name} (${round + 1} of ${rounds})`)
        slowest[fault.name] = await runFault(fault, context, { name, library })
      }
    }
    return { rounds, ...slowest }
  },
}

/** Runs one fault, and says in a line what was seen. */
async function runFault(
  fault: Fault,
  { folder, store, random, createList }: TrialContext,
  { name, library }: { readonly name: string; readonly library: string },
): Promise<string> {
  const dataFolder = join(folder, `data-${name}`)
  mkdirSync(dataFolder)
  const file = join(dataFolder, 'rollcall.db')
  const list = store === 'sqlite' ? `sqlite:${file}` : await createList()
  const shim = createFaults(join(folder, `control-${name}`))
  const shimEnvironment = store === 'sqlite' ? toShimEnvironment(library, { folder: dataFolder, faults: shim }) : {}
  const service = await startService(list, { folder, env: { ...shimEnvironment, ...fault.env } })
  const scene: Scene = { service, list, dataFolder, file, shim }
  try {
    return await observe(fault, scene, { folder, pauseMs: random.between(2, 8) })
  } catch (error) {
    if (!(error instanceof BrokenPromise)) throw error
    throw new BrokenPromise(`${fault.name}: ${error.message}`)
  } finally {
    if (service.process.exitCode === null) await service.stop('SIGKILL')
  }
}

async function observe(
  fault: Fault,
  scene: Scene,
  { folder, pauseMs }: { readonly folder: string; readonly pauseMs: number },
): Promise<string> {
  const { service, list, dataFolder, shim } = scene
  const exchanges: Exchange[] = []
  const sent = new Set<string>()
  const load = startLoad(() => service.port, {
    callers: 8,
    pauseMs,
    nextEmail() {
      const email = `fault${sent.size}@example.org`
      sent.add(email)
      return email
    },
    onReply: (exchange) => exchanges.push(exchange),
  })
  const acknowledged = () => exchanges.filter(({ status }) => status === 200)
  await waitFor('the service accepts addresses before the fault', () => acknowledged().length >= BEFORE, 60_000)

  const end = await fault.cause(scene)
  const from = performance.now()
  const errorsBefore = countErrors(service.log())
  if (fault.responses === 'lost') await checkLost(scene, exchanges, from)
  await checkDocument(service.port)
  await Bun.sleep(Math.max(fault.lasts - (performance.now() - from), 0))
  const failed = exchanges.filter(({ status, startedAt }) => status === 500 && startedAt > from - DEADLINE_MS)
  if (fault.isFromShim) check(shim.hits() > 0, () => 'the fault was never met: the trial itself does not work')
  await end()
  const until = performance.now()

  if (!fault.isFinal) {
    const isBack = () => exchanges.some(({ status, startedAt }) => status === 200 && startedAt > until)
    await waitFor('the service accepts addresses again after the fault', isBack, RECOVERY_MS)
    await waitFor('/readyz says 200 again', async () => (await service.opsStatus('/readyz')) === 200, RECOVERY_MS)
  }
  const recoveredAfter = performance.now() - until
  await load.stop()
  const code = await service.stop()
  check(code === 0 || fault.isFinal === true, () => `the service stopped with exit code ${code}`)

  checkResponses(fault, exchanges, { failed: failed.length, from })
  if (fault.responses === 'lost') checkLines(countErrors(service.log()) - errorsBefore)
  if (!fault.isFinal) await checkKept(list, { folder, sent, acknowledged: acknowledged() })
  const rescued = existsSync(dataFolder) ? readdirSync(dataFolder).filter((name) => /rescue/i.test(name)) : []
  const slowest = Math.max(...exchanges.map(({ startedAt, endedAt }) => endedAt - startedAt))
  return [
    `${failed.length} times 500, slowest response ${(slowest / 1000).toFixed(1)} s`,
    fault.isFinal ? `${rescued.length} rescue files` : `recovered in ${(recoveredAfter / 1000).toFixed(1)} s`,
  ].join(', ')
}
