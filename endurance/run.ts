/**
 * `npm run endurance`: runs the trials one after the other and reports them. Stops at the first broken promise.
 *
 * Exit codes: 0 every promise was kept, 1 a promise is broken, 2 wrong usage, or something is missing on this machine.
 */

import { randomInt } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { BrokenPromise } from './check.ts'
import { createRandom } from './random.ts'
import { describeMachine, describeVersion, mergeWithReport, type Outcome, toRepeat, writeReport } from './report.ts'
import { checkLogs, endProcesses, type List, toList } from './rollcall.ts'
import { STORES, type StoreKind, type Trial } from './trial.ts'
import { faults } from './trials/faults.ts'
import { fsync } from './trials/fsync.ts'
import { model } from './trials/model.ts'
import { powerCuts } from './trials/power-cuts.ts'
import { soak } from './trials/soak.ts'
import { timing } from './trials/timing.ts'

/** Every trial, in the order in which they run: the quick ones first. */
const TRIALS: readonly Trial[] = [fsync, timing, powerCuts, faults, model, soak]

const HELP = `Usage: npm run endurance -- [options]

Tries to break the promises of Rollcall: kills, power cuts, faults, long load.

  --only NAME       only this trial; may be repeated
  --store KIND      only this store: ${STORES.join(' or ')}
  --minutes NUMBER  about how long each trial takes; its numbers scale with it
  --seed NUMBER     repeats the random choices of a run
  --out FOLDER      where the report goes, endurance.md and endurance.json (default: endurance/results)
  --write-docs      also write it to docs/, where other trials keep the result of their last run
  --help            print help

Trials, with the minutes that each takes:
${TRIALS.map(({ name, minutes, promise }) => `  ${name}: ${JSON.stringify(minutes)}\n      ${promise}`).join('\n')}
`

interface Run {
  readonly trial: Trial
  readonly store: StoreKind
  readonly minutes: number
  /** The length as a share of the default length. */
  readonly scale: number
  readonly seed: number
}

/** A trial that takes longer than this many times its length, and so many minutes, does not finish. */
const PATIENCE = 3
const PATIENCE_MINUTES = 5

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: [] },
    store: { type: 'string' },
    minutes: { type: 'string' },
    seed: { type: 'string', default: String(randomInt(2 ** 31)) },
    out: { type: 'string', default: join(import.meta.dir, 'results') },
    'write-docs': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) {
  process.stdout.write(HELP)
  process.exit(0)
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130))
process.on('exit', endProcesses)
const runs = toRuns()
const missing = new Set(runs.flatMap(({ trial }) => trial.findMissing?.() ?? []))
if (runs.length === 0) say(HELP)
for (const line of missing) say(line)
if (missing.size > 0 || runs.length === 0) process.exit(2)
process.exit(await runAll())

/** One run for each store that a chosen trial applies to. */
function toRuns(): Run[] {
  const seed = Number(values.seed)
  const chosen = TRIALS.filter(({ name }) => values.only.length === 0 || values.only.includes(name))
  return chosen.flatMap((trial) =>
    STORES.flatMap((store) => {
      const length = trial.minutes[store]
      if (length === undefined || (values.store !== undefined && values.store !== store)) return []
      const minutes = Number(values.minutes ?? length)
      return minutes > 0 && Number.isSafeInteger(seed) ? [{ trial, store, minutes, scale: minutes / length, seed }] : []
    }),
  )
}

async function runAll(): Promise<number> {
  say(`${runs.length} runs, about ${Math.ceil(runs.reduce((sum, { minutes }) => sum + minutes, 0))} minutes`)
  const outcomes: Outcome[] = []
  for (const run of runs) {
    const outcome = await runTrial(run)
    outcomes.push(outcome)
    const { trial, store, promise, broken, seconds } = outcome
    say(`${trial}, ${store}: ${broken === undefined ? 'kept' : 'BROKEN'} (${seconds} s)`)
    if (broken === undefined) continue
    say(`\nA promise is broken: ${promise}\nSeen: ${broken}\nRepeat: ${toRepeat(outcome)}`)
    break
  }
  writeReport(values.out, outcomes)
  say(`the report is in ${values.out}/endurance.md`)
  const docs = resolve(import.meta.dir, '../docs')
  const order = TRIALS.flatMap(({ name }) => STORES.map((store) => `${name} ${store}`))
  if (values['write-docs']) writeReport(docs, mergeWithReport(docs, outcomes, order))
  return outcomes.every(({ broken }) => broken === undefined) ? 0 : 1
}

/** Runs a trial in a folder of its own and for a limited time. */
async function runTrial({ trial, store, minutes, scale, seed }: Run): Promise<Outcome> {
  const { name, promise } = trial
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-endurance-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  // Also after Ctrl+C: a trial may have written gigabytes.
  process.once('exit', remove)
  const start = performance.now()
  let lists = 0
  const toOutcome = (findings: Pick<Outcome, 'figures' | 'details' | 'broken'>): Outcome => ({
    ...{ trial: name, store, promise, seed, version: describeVersion(), machine: describeMachine() },
    seconds: Math.round((performance.now() - start) / 100) / 10,
    load: Math.round((loadavg()[1] ?? 0) * 10) / 10,
    at: new Date().toISOString(),
    ...(scale !== 1 && { minutes }),
    ...findings,
  })
  try {
    const work = trial.run({
      store,
      folder,
      scale,
      random: createRandom(seed).fork(`${name} ${store}`),
      amount: (atDefaultLength, least = 1) => Math.max(Math.round(atDefaultLength * scale), least),
      createList: () => createList(store, folder, `list-${++lists}`),
      progress: (line) => say(`${name}, ${store}: ${line}`),
    })
    const findings = await within(minutes * PATIENCE + PATIENCE_MINUTES, work)
    checkLogs()
    return toOutcome(findings)
  } catch (error) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
    return toOutcome({
      figures: {},
      broken: error instanceof BrokenPromise ? error.message : `the trial failed: ${text}`,
    })
  } finally {
    endProcesses()
    remove()
    process.off('exit', remove)
  }
}

async function createList(store: StoreKind, folder: string, name: string): Promise<List> {
  if (store === 'sqlite') return toList(`sqlite:${join(folder, name, 'data/rollcall.db')}`, folder)
  // The server takes a second to start, so it is started only when a trial needs it.
  const { getServer } = await import('../test/support/postgres.ts')
  return toList(await (await getServer()).createUrl(), folder)
}

async function within<Value>(minutes: number, work: Promise<Value>): Promise<Value> {
  const { promise, reject } = Promise.withResolvers<never>()
  const end = () => reject(new BrokenPromise(`the trial did not finish within ${minutes} minutes`))
  const timer = setTimeout(end, minutes * 60_000)
  try {
    return await Promise.race([work, promise])
  } finally {
    clearTimeout(timer)
  }
}

function say(line: string): void {
  process.stderr.write(`${line}\n`)
}
