/** Faults under load: nothing acknowledged is lost, callers get a 500 in time, and the service recovers by itself. */

import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Fault, Scene } from '../faults/fault.ts'
import { SQLITE_FAULTS } from '../faults/sqlite-faults.ts'
import { type Exchange, startLoad } from '../load.ts'
import { byIdentity, readList, startService } from '../rollcall.ts'
import { buildShim, createFaults, findMissingCompiler, toShimEnvironment } from '../shim/shim.ts'
import { BrokenPromise, check, type Trial, type TrialContext, toSample, waitFor } from '../trial.ts'

/** The deadline of the contract, and what a busy machine may add. */
const DEADLINE_MS = 5_000
const TOLERANCE_MS = 2_000

/** The service accepts addresses again within this many milliseconds after a fault ends. */
const RECOVERY_MS = 10_000

/** Acknowledged addresses before the fault. */
const BEFORE = 200

/** More error lines than this about one fault fill a disk. */
const MOST_LINES = 3

const ERROR_LEVEL = 50

export const faults: Trial = {
  name: 'faults',
  promise:
    'disk, file, clock, lock, thread and server faults: nothing lost, 500 within 5 s, recovers without help',
  stores: ['sqlite', 'postgres'],
  minutes: 5,
  findMissing: findMissingCompiler,
  async run(context) {
    const { store, amount, progress } = context
    const table =
      store === 'sqlite' ? SQLITE_FAULTS : (await import('../faults/postgres-faults.ts')).POSTGRES_FAULTS
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
  const shimEnvironment =
    store === 'sqlite' ? toShimEnvironment(library, { folder: dataFolder, faults: shim }) : {}
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
  await waitFor(
    'the service accepts addresses before the fault',
    () => acknowledged().length >= BEFORE,
    60_000,
  )

  const end = await fault.cause(scene)
  const from = performance.now()
  const errorsBefore = countErrors(service.log())
  if (fault.responses === 'lost') await checkLost(scene, exchanges, from)
  await checkDocument(service.port)
  await Bun.sleep(Math.max(fault.lasts - (performance.now() - from), 0))
  const failed = exchanges.filter(({ status, startedAt }) => status === 500 && startedAt > from - DEADLINE_MS)
  if (fault.isFromShim)
    check(shim.hits() > 0, () => 'the fault was never met: the trial itself does not work')
  await end()
  const until = performance.now()

  if (!fault.isFinal) {
    const isBack = () => exchanges.some(({ status, startedAt }) => status === 200 && startedAt > until)
    await waitFor('the service accepts addresses again after the fault', isBack, RECOVERY_MS)
    await waitFor(
      '/readyz says 200 again',
      async () => (await service.opsStatus('/readyz')) === 200,
      RECOVERY_MS,
    )
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

/** The list is no longer where it was: 500s only, and /readyz says 503. */
async function checkLost({ service }: Scene, exchanges: readonly Exchange[], from: number): Promise<void> {
  const limit = DEADLINE_MS + TOLERANCE_MS
  const isTold = () => exchanges.some(({ status, startedAt }) => status === 500 && startedAt > from)
  await waitFor('a 500, because the list is no longer there', isTold, limit)
  await waitFor('/readyz says 503', async () => (await service.opsStatus('/readyz')) === 503, limit)
}

/** A slow or failing store never keeps a document from its reader. */
async function checkDocument(port: number): Promise<void> {
  const signal = AbortSignal.timeout(DEADLINE_MS)
  const response = await fetch(`http://127.0.0.1:${port}/openapi.json`, { signal }).catch(() => undefined)
  check(
    response?.status === 200,
    () => `a document is answered ${response?.status ?? 'not at all'} meanwhile`,
  )
}

function checkResponses(
  { responses, lasts }: Fault,
  exchanges: readonly Exchange[],
  { failed, from }: { readonly failed: number; readonly from: number },
): void {
  for (const { status, startedAt, endedAt } of exchanges) {
    const time = endedAt - startedAt
    check(status === 200 || status === 500, () => `a request is answered ${status ?? 'not at all'}`)
    check(time <= DEADLINE_MS + TOLERANCE_MS, () => `a response (${status}) takes ${time.toFixed(0)} ms`)
  }
  if (responses === '500') check(failed > 0, () => 'no request is answered 500 while the fault lasts')
  if (responses === '200') check(failed === 0, () => `${failed} requests are answered 500`)
  if (responses !== 'lost') return
  const wrong = exchanges.filter(
    ({ status, startedAt, endedAt }) => status === 200 && startedAt > from && endedAt < from + lasts,
  )
  check(
    wrong.length === 0,
    () => `${wrong.length} requests that were sent after the list was lost are answered 200`,
  )
}

function checkLines(lines: number): void {
  check(lines >= 1, () => 'no error line in the log says that the list is lost')
  check(lines <= MOST_LINES, () => `${lines} error lines in the log are about one fault`)
}

async function checkKept(
  list: string,
  {
    folder,
    sent,
    acknowledged,
  }: { folder: string; sent: ReadonlySet<string>; acknowledged: readonly Exchange[] },
): Promise<void> {
  const listed = byIdentity(await readList(list, { folder }))
  const lost = acknowledged.filter(({ email }) => !listed.has(email)).map(({ email }) => email)
  check(lost.length === 0, () => `${lost.length} acknowledged addresses are lost: ${toSample(lost)}`)
  const strange = [...listed.keys()].filter((email) => !sent.has(email))
  check(strange.length === 0, () => `addresses that nobody sent are listed: ${toSample(strange)}`)
}

function countErrors(log: string): number {
  const levels = log.matchAll(/^\{"level":(\d+)/gm)
  return [...levels].filter(([, level]) => Number(level) >= ERROR_LEVEL).length
}
