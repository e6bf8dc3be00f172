/** `npm run bench`: runs the trials and reports their results. */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Command, InvalidArgumentError, Option } from 'commander'
import { toChart } from './chart.ts'
import { CONTENDERS, type Contender, type ContenderName } from './contenders.ts'
import { type Outcome, toOutcome } from './figures.ts'
import { choosePins, describeMachine, findMissing, RESULTS, requireTools } from './machine.ts'
import { METHOD, type MeasureOptions, measure } from './measure.ts'
import { type Run, toMarkdown } from './report.ts'
import type { Sample } from './sample.ts'
import type { Trial } from './trial.ts'
import { TRIALS } from './trials.ts'

const DOCS = fileURLToPath(new URL('../docs', import.meta.url))

interface Options {
  readonly trial: readonly string[]
  readonly only?: string
  readonly rounds?: number
  readonly seconds?: number
  readonly full?: boolean
  readonly writeDocs?: boolean
}

const names = TRIALS.map(({ name }) => name)
const program = new Command('bench')
  .description('Compare Rollcall with baselines and with servers that store nothing.')
  .helpOption('-h, --help', 'Print help')
  .addOption(new Option('-t, --trial <name...>', 'Run only these trials').choices(names).default(names, 'all'))
  .option('-o, --only <start>', 'Run only the trials whose names start like this, such as postgres')
  .option(
    '-r, --rounds <number>',
    'Run each contender this often, in turn with the others (default: 3, with --full 7)',
    parseCount,
  )
  .option('-s, --seconds <number>', 'Send load for this many seconds per run (default: 3, with --full 6)', parseCount)
  .option('--full', 'Run more and longer rounds')
  .option('--write-docs', 'Write to docs/ too, where other trials keep the result of their last run')
  .action(run)

await program.parseAsync()
// A PostgreSQL server would keep the process alive; it stops with it.
process.exit(0)

async function run({
  trial,
  only = '',
  full,
  writeDocs,
  rounds = full ? 7 : 3,
  seconds = full ? 6 : 3,
}: Options): Promise<void> {
  requireTools()
  const pins = choosePins()
  const chosen = TRIALS.filter(({ name }) => trial.includes(name) && name.startsWith(only))
  const missing = new Set(chosen.flatMap(({ contenders }) => contenders.flatMap(missingOf)))
  for (const line of missing) note(`skipped: ${line}`)

  const notes = [...missing]
  const outcomes: Outcome[] = []
  for (const one of chosen) outcomes.push(toOutcome(one, await runTrial(one, { pins, rounds, seconds, notes })))
  const isAll = chosen.length === TRIALS.length
  const scope = isAll ? '' : `: ${chosen.map(({ name }) => name).join(', ')}`
  const report: Run = {
    at: new Date().toISOString(),
    machine: describeMachine(pins),
    method: [
      `${rounds} rounds of ${seconds} s, each in a fresh process with a fresh list${scope}`,
      ...METHOD,
      ...missing,
    ],
    outcomes,
  }
  process.stdout.write(toMarkdown(report))
  write(RESULTS, report)
  if (isAll) write(DOCS, report)
  else if (writeDocs) write(DOCS, mergeRuns(JSON.parse(readFileSync(join(DOCS, 'bench.json'), 'utf8')), report))
}

interface RunOptions extends MeasureOptions {
  readonly rounds: number
  /** Collects a line for each sample that was repeated. */
  readonly notes: string[]
}

async function runTrial({ name, contenders, load }: Trial, { rounds, notes, ...options }: RunOptions) {
  const samples: Partial<Record<ContenderName, Sample[]>> = {}
  for (let round = 1; round <= rounds; round++) {
    for (const contender of contenders.filter((one) => missingOf(one).length === 0)) {
      const sample = await measureWithRetry(() => measure(contender, load, options), notes)
      samples[contender] = [...(samples[contender] ?? []), sample]
      note(`${name} ${round}/${rounds} ${CONTENDERS[contender].title}: ${JSON.stringify(sample, toRounded)}`)
    }
  }
  return samples
}

/** Attempts at one sample: on a busy machine a connection may time out. */
const ATTEMPTS = 3

async function measureWithRetry(take: () => Promise<Sample>, notes: string[]): Promise<Sample> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await take()
    } catch (error) {
      if (attempt === ATTEMPTS) throw error
      const line = `a sample was repeated: ${error instanceof Error ? error.message : String(error)}`
      notes.push(line)
      note(line)
    }
  }
}

function missingOf(name: ContenderName): string[] {
  const { needs }: Contender = CONTENDERS[name]
  const line = needs && findMissing(needs)
  return line ? [line] : []
}

/** Replaces the outcomes of the trials that ran again. */
function mergeRuns(earlier: Run, later: Run): Run {
  const find = ({ outcomes }: Run, { name }: Trial) => outcomes.find((outcome) => outcome.name === name)
  return {
    at: later.at,
    machine: [...new Set([...earlier.machine, ...later.machine])],
    method: [...new Set([...earlier.method, ...later.method])],
    outcomes: TRIALS.flatMap((trial) => find(later, trial) ?? find(earlier, trial) ?? []),
  }
}

function write(folder: string, report: Run): void {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'bench.md'), toMarkdown(report))
  writeFileSync(join(folder, 'bench.json'), `${JSON.stringify(report, toRounded, 1)}\n`)
  const first = report.outcomes.find(({ name }) => name === TRIALS[0]?.name)
  if (first) writeFileSync(join(folder, 'bench.svg'), toChart(first))
}

function toRounded(_key: string, value: unknown): unknown {
  return typeof value === 'number' ? Number(value.toPrecision(5)) : value
}

function parseCount(text: string): number {
  const count = Number(text)
  if (Number.isInteger(count) && count > 0) return count
  throw new InvalidArgumentError('Use a whole number above 0.')
}

function note(line: string): void {
  process.stderr.write(`${line}\n`)
}
