/** Runs trials one after the other, each in a folder of its own and for a limited time. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BrokenPromise } from './check.ts'
import { createRandom } from './random.ts'
import { describeMachine, describeVersion, type Outcome } from './report.ts'
import { checkLogs, endProcesses, type List, toList } from './rollcall.ts'
import { type Findings, STORES, type StoreKind, type Trial } from './trial.ts'
import { readCpuOfOthers } from './usage.ts'

export interface Run {
  readonly trial: Trial
  readonly store: StoreKind
  /** At the default length. */
  readonly minutes: number
}

export interface RunSettings {
  readonly seed: number
  /** Minutes for each trial; undefined for the default lengths. */
  readonly minutes: number | undefined
  /** Tells the person who waits. */
  readonly say: (line: string) => void
}

/** A trial that takes longer than this many times its length, and so many minutes, does not finish. */
const PATIENCE = 3
const PATIENCE_MINUTES = 5

/** Lists the runs of the chosen trials: one for each store that a trial applies to. */
export function toRuns(trials: readonly Trial[], only: readonly string[], store: StoreKind | undefined): Run[] {
  return trials
    .filter(({ name }) => only.length === 0 || only.includes(name))
    .flatMap((trial) => STORES.map((kind) => ({ trial, store: kind, minutes: trial.minutes[kind] ?? 0 })))
    .filter((run) => run.minutes > 0 && (store === undefined || run.store === store))
}

/** Runs the trials in order, up to the first broken promise. */
export async function runAll(runs: readonly Run[], settings: RunSettings): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  for (const run of runs) {
    const outcome = await runTrial(run, settings)
    outcomes.push(outcome)
    const { trial, store, broken, seconds } = outcome
    settings.say(`${trial}, ${store}: ${broken === undefined ? 'kept' : 'BROKEN'} (${seconds} s)`)
    if (broken !== undefined) break
  }
  return outcomes
}

async function runTrial(
  { trial, store, ...run }: Run,
  { seed, minutes = run.minutes, say }: RunSettings,
): Promise<Outcome> {
  const { name, promise } = trial
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-endurance-'))
  const scale = minutes / run.minutes
  const start = { at: performance.now(), others: readCpuOfOthers() }
  const toOutcome = (findings: Findings, broken?: string): Outcome => {
    const milliseconds = performance.now() - start.at
    return {
      trial: name,
      store,
      promise,
      ...(broken !== undefined && { broken }),
      seconds: Math.round(milliseconds / 100) / 10,
      othersCores: Math.max(Math.round(((readCpuOfOthers() - start.others) / milliseconds) * 100) / 100, 0),
      at: new Date().toISOString(),
      version: describeVersion(),
      machine: describeMachine(),
      seed,
      ...(minutes !== run.minutes && { minutes }),
      ...findings,
    }
  }
  const remove = () => rmSync(folder, { recursive: true, force: true })
  // Also after Ctrl+C: a trial may have written gigabytes.
  process.once('exit', remove)
  let lists = 0
  try {
    const findings = await within(
      minutes * PATIENCE + PATIENCE_MINUTES,
      trial.run({
        store,
        folder,
        scale,
        random: createRandom(seed).fork(`${name} ${store}`),
        amount: (atDefaultLength, least = 1) => Math.max(Math.round(atDefaultLength * scale), least),
        createList: () => createList(store, folder, `list-${++lists}`),
        progress: (line) => say(`${name}, ${store}: ${line}`),
      }),
    )
    checkLogs(folder)
    return toOutcome(findings)
  } catch (error) {
    const isBroken = error instanceof BrokenPromise
    return toOutcome({ figures: {} }, isBroken ? error.message : `the trial failed: ${toText(error)}`)
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

function toText(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
