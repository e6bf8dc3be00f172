/**
 * `npm run endurance`: runs the trials one after the other and reports them. Stops at the first broken promise.
 *
 * Exit codes: 0 every promise was kept, 1 a promise is broken, 2 wrong usage, or something is missing on this machine.
 */

import { randomInt } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Command, InvalidArgumentError, Option } from 'commander'
import { createRandom } from './random.ts'
import { describeMachine, type Outcome, type Report, toMarkdown, writeReport } from './report.ts'
import { checkLogs, endProcesses } from './rollcall.ts'
import { BrokenPromise, type Figures, STORES, type StoreKind, type Trial } from './trial.ts'
import { TRIALS } from './trials.ts'

const toFolder = (path: string) => fileURLToPath(new URL(path, import.meta.url))

interface Options {
  readonly only: readonly string[]
  readonly minutes?: number
  readonly seed: number
  readonly store?: StoreKind
  readonly out: string
  readonly writeDocs?: true
}

/** A trial that takes longer than this many times its length does not finish. */
const PATIENCE = 4
const PATIENCE_MINUTES = 5

const program = new Command('endurance')
  .description('Tries to break the promises of Rollcall: kills, power cuts, faults, strange requests, long load.')
  .addOption(
    new Option('--only <name...>', 'only these trials').choices(TRIALS.map(({ name }) => name)).default([], 'all'),
  )
  .option('--minutes <number>', 'about how long each trial takes; its numbers scale with it', parseMinutes)
  .option('--seed <number>', 'repeats the random choices of a run', parseSeed, randomInt(2 ** 31))
  .addOption(new Option('--store <kind>', 'only this store').choices(STORES))
  .option('--out <folder>', 'where the report goes', toFolder('./results'))
  .option('--write-docs', 'copy the report to docs/ as well')
  .exitOverride()

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130))
process.on('exit', endProcesses)

try {
  program.parse()
} catch {
  // Commander has printed its own message.
  process.exit(process.argv.includes('--help') || process.argv.includes('-h') ? 0 : 2)
}
process.exit(await run(program.opts<Options>()))

async function run(options: Options): Promise<number> {
  const { only, store, minutes, seed } = options
  const chosen = TRIALS.filter(({ name }) => only.length === 0 || only.includes(name))
  if (process.platform !== 'linux') {
    say('the trials need Linux: they read /proc, and load a library with LD_PRELOAD')
    return 2
  }
  const missing = new Set(chosen.flatMap(({ name, findMissing }) => toList(findMissing?.(), name)))
  for (const line of missing) say(line)
  if (missing.size > 0) return 2

  const outcomes: Outcome[] = []
  const runs = chosen.flatMap((trial) =>
    trial.stores.filter((kind) => store === undefined || kind === store).map((kind) => ({ trial, kind })),
  )
  if (runs.length === 0) {
    say(`none of these trials applies to ${store}`)
    return 2
  }
  for (const { trial, kind } of runs) {
    const outcome = await runTrial(trial, kind, options)
    outcomes.push(outcome)
    say(`${trial.name}, ${kind}: ${outcome.broken === undefined ? 'kept' : 'BROKEN'} (${outcome.seconds} s)`)
    if (outcome.broken !== undefined) break
  }
  const report = { at: new Date().toISOString(), seed, minutes, machine: describeMachine(), outcomes }
  write(report, options)
  const failed = outcomes.find(({ broken }) => broken !== undefined)
  if (failed) say(explain(failed, options))
  return failed ? 1 : 0
}

function toList(line: string | undefined, name: string): string[] {
  return line === undefined ? [] : [`${name}: ${line}`]
}

async function runTrial(trial: Trial, store: StoreKind, { minutes, seed }: Options): Promise<Outcome> {
  const { name, promise } = trial
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-endurance-'))
  const scale = minutes === undefined ? 1 : minutes / trial.minutes
  const start = performance.now()
  const toOutcome = (figures: Figures, broken?: string): Outcome => ({
    trial: name,
    store,
    promise,
    ...(broken !== undefined && { broken }),
    seconds: Math.round((performance.now() - start) / 100) / 10,
    figures,
  })
  let lists = 0
  try {
    const figures = await within(
      (minutes ?? trial.minutes) * PATIENCE + PATIENCE_MINUTES,
      trial.run({
        store,
        folder,
        scale,
        random: createRandom(seed).fork(`${name} ${store}`),
        amount: (atDefaultLength, least = 1) => Math.max(Math.round(atDefaultLength * scale), least),
        createList: () => createList(store, join(folder, `list-${++lists}`)),
        progress: (line) => say(`${name}, ${store}: ${line}`),
      }),
    )
    checkLogs(folder)
    return toOutcome(figures)
  } catch (error) {
    return toOutcome({}, error instanceof BrokenPromise ? error.message : `the trial failed: ${toText(error)}`)
  } finally {
    endProcesses()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function createList(store: StoreKind, folder: string): Promise<string> {
  if (store === 'sqlite') return `sqlite:${join(folder, 'rollcall.db')}`
  // The server takes a second to start, so it is started only when a trial needs it.
  const { getServer } = await import('../test/support/postgres.ts')
  return await (await getServer()).createUrl()
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

function write(report: Report, { out, writeDocs }: Options): void {
  process.stdout.write(toMarkdown(report))
  writeReport(out, report)
  if (writeDocs) writeReport(toFolder('../docs'), report)
}

function explain({ trial, store, promise, broken }: Outcome, { seed, minutes }: Options): string {
  const length = minutes === undefined ? '' : ` --minutes ${minutes}`
  return [
    '',
    `A promise is broken: ${promise}`,
    `Seen: ${broken}`,
    `Seed: ${seed}`,
    `Repeat: npm run endurance -- --only ${trial} --store ${store} --seed ${seed}${length}`,
  ].join('\n')
}

function toText(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

function parseMinutes(text: string): number {
  const minutes = Number(text)
  if (minutes > 0 && minutes <= 10_000) return minutes
  throw new InvalidArgumentError('Use a number above 0.')
}

function parseSeed(text: string): number {
  if (/^\d{1,10}$/.test(text) && Number(text) < 2 ** 32) return Number(text)
  throw new InvalidArgumentError('Use a whole number below 4294967296.')
}

function say(line: string): void {
  process.stderr.write(`${line}\n`)
}
