/**
 * `npm run endurance`: runs the trials one after the other and reports them. Stops at the first broken promise.
 *
 * Exit codes: 0 every promise was kept, 1 a promise is broken, 2 wrong usage, or something is missing on this machine.
 */

import { randomInt } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { Command, InvalidArgumentError, Option } from 'commander'
import { mergeOutcomes, type Outcome, type Report, readOutcomes, toRepeat, writeReport } from './report.ts'
import { endProcesses } from './rollcall.ts'
import { type Run, runAll, toRuns } from './runner.ts'
import { STORES, type StoreKind } from './trial.ts'
import { TRIALS } from './trials.ts'

const toFolder = (path: string) => fileURLToPath(new URL(path, import.meta.url))

const DOCS = toFolder('../docs')

interface Options {
  readonly only: readonly string[]
  readonly minutes?: number
  readonly seed: number
  readonly store?: StoreKind
  readonly out: string
  readonly writeDocs?: true
}

const program = new Command('endurance')
  .description('Tries to break the promises of Rollcall: kills, power cuts, faults, strange requests, long load.')
  .addOption(
    new Option('--only <name...>', 'only these trials').choices(TRIALS.map(({ name }) => name)).default([], 'all'),
  )
  .option('--minutes <number>', 'about how long each trial takes; its numbers scale with it', parseMinutes)
  .option('--seed <number>', 'repeats the random choices of a run', parseSeed, randomInt(2 ** 31))
  .addOption(new Option('--store <kind>', 'only this store').choices(STORES))
  .option('--out <folder>', 'where the report goes, endurance.md and endurance.json', toFolder('./results'))
  .option('--write-docs', 'also write it to docs/, where other trials keep the result of their last run')
  .addHelpText('after', () => `\nTrials, with the minutes that each takes:\n${listTrials()}`)
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

async function run({ only, store, minutes, seed, out, writeDocs }: Options): Promise<number> {
  const runs = toRuns(TRIALS, only, store)
  const missing = findMissing(runs)
  for (const line of missing) say(line)
  if (missing.length > 0) return 2

  const estimate = runs.reduce((sum, run) => sum + (minutes ?? run.minutes), 0)
  say(`${runs.length} runs, about ${Math.ceil(estimate)} minutes, seed ${seed}`)
  const outcomes = await runAll(runs, { seed, minutes, say })
  write(out, outcomes)
  if (writeDocs) write(DOCS, mergeOutcomes(readOutcomes(DOCS), outcomes))
  const failed = outcomes.find(({ broken }) => broken !== undefined)
  if (!failed) return 0
  say(`\nA promise is broken: ${failed.promise}\nSeen: ${failed.broken}\nRepeat: ${toRepeat(failed)}`)
  return 1
}

function write(folder: string, outcomes: readonly Outcome[]): void {
  writeReport(folder, createReport(outcomes))
  say(`the report is in ${folder}/endurance.md`)
}

/** Brings the outcomes into the order of the trials. */
function createReport(outcomes: readonly Outcome[]): Report {
  const find = ({ trial, store }: Run) => outcomes.find((one) => one.trial === trial.name && one.store === store)
  const runs = toRuns(TRIALS, [], undefined)
  return {
    outcomes: runs.flatMap((run) => find(run) ?? []),
    missing: runs.filter((run) => !find(run)).map(({ trial, store }) => `${trial.name} (${store})`),
  }
}

/** What this machine lacks, one line for each thing. */
function findMissing(runs: readonly Run[]): string[] {
  if (process.platform !== 'linux')
    return ['the trials need Linux: they read /proc, and load a library with LD_PRELOAD']
  if (runs.length === 0) return ['none of these trials applies to this store']
  return [...new Set(runs.flatMap(({ trial }) => trial.findMissing?.() ?? []))]
}

function listTrials(): string {
  const width = Math.max(...TRIALS.map(({ name }) => name.length))
  return TRIALS.map(({ name, minutes, promise }) => {
    const lengths = Object.entries(minutes).map(([store, length]) => `${store} ${length}`)
    return `  ${name.padEnd(width)}  ${lengths.join(', ')}\n      ${promise}`
  }).join('\n')
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
