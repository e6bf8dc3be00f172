/** `npm run bench`: runs the trials and reports their results. */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { toChart } from './chart.ts'
import { type Contender, createContenders } from './contenders.ts'
import { RESULTS, toCheckout } from './lists.ts'
import { choosePins, describeMachine } from './load.ts'
import { METHOD, type MeasureOptions, measure, type Sample } from './measure.ts'
import { type Outcome, type Run, toMarkdown, toOutcome } from './report.ts'
import { TRIALS, type Trial } from './trials.ts'

const HELP = `Usage: npm run bench -- [options]

Compares Rollcall with baselines and with servers that store nothing.

  --only NAME        run this trial; may be repeated: ${TRIALS.map(({ name }) => name).join(', ')}
  --rounds NUMBER    run each contender this often, in turn with the others (default: 3)
  --seconds NUMBER   send load for this many seconds (default: 5)
  --against FOLDER   compare with the Rollcall of another checkout too, which has its own node_modules
  --write-docs       write docs/bench.md, bench.json and bench.svg; trials that do not run keep their result
  --help             print help
`
const ROOT = resolve(import.meta.dir, '..')
const DOCS = join(ROOT, 'docs')
/** Attempts at one sample: on a busy machine a connection may time out. */
const ATTEMPTS = 3

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: [] },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '5' },
    against: { type: 'string' },
    'write-docs': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) {
  process.stdout.write(HELP)
  process.exit(0)
}
const [rounds, seconds] = [Number(values.rounds), Number(values.seconds)]
const chosen = TRIALS.filter(({ name }) => values.only.length === 0 || values.only.includes(name))
if (!(rounds > 0) || !(seconds > 0) || chosen.length < new Set(values.only).size) {
  process.stderr.write(HELP)
  process.exit(2)
}
if (!Bun.which('wrk')) {
  console.error('wrk is not installed: apt-get install wrk')
  process.exit(1)
}

const own = toCheckout(ROOT)
const other = values.against === undefined ? undefined : toCheckout(resolve(values.against))
const contenders = createContenders(own, other)
const pins = choosePins()
const notes = new Set<string>()
const outcomes: Outcome[] = []
for (const trial of chosen) {
  outcomes.push(toOutcome(trial, await runTrial(trial, { own, pins, seconds }), contenders))
  save(RESULTS)
}
process.stdout.write(toMarkdown(toRun()))
if (values['write-docs']) save(DOCS)
// A PostgreSQL server would keep the process alive; it stops with it.
process.exit(0)

function toRun(): Run {
  const against = other && `compared with the checkout at ${other.commit}`
  const scope = [`${rounds} rounds of ${seconds} s`, against].filter(Boolean).join(', ')
  return {
    at: new Date().toISOString(),
    commit: own.commit,
    machine: describeMachine(pins),
    method: [scope, ...METHOD, ...notes],
    outcomes,
  }
}

/** Takes the samples of a trial. A contender that fails is noted and left out. */
async function runTrial(trial: Trial, options: MeasureOptions): Promise<Record<string, Sample[]>> {
  const running = trial.contenders.filter(isPresent)
  const samples: Record<string, Sample[]> = {}
  for (let round = 1; round <= rounds; round++) {
    // Each one is first in turn: the machine may get slower.
    const order = round % 2 === 1 ? running : running.toReversed()
    for (const name of order) {
      const contender = contenders[name] as Contender
      const sample = await measureWithRetry(contender, trial, options)
      samples[name] = [...(samples[name] ?? []), sample]
      process.stderr.write(
        `${trial.name} ${round}/${rounds} ${contender.title}: ${JSON.stringify(sample, toRounded)}\n`,
      )
    }
  }
  return Object.fromEntries(running.map((name) => [name, samples[name] ?? []]))
}

function isPresent(name: string): boolean {
  const contender = contenders[name]
  if (!contender) return false
  const missing = contender.missing?.()
  if (missing) notes.add(missing)
  return missing === undefined
}

async function measureWithRetry(contender: Contender, trial: Trial, options: MeasureOptions): Promise<Sample> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await measure(contender, trial, options)
    } catch (error) {
      const line = `${trial.name}, ${contender.title}: ${error instanceof Error ? error.message : String(error)}`
      process.stderr.write(`${line}\n`)
      if (attempt < ATTEMPTS) {
        notes.add(`a sample was repeated: ${line}`)
        continue
      }
      notes.add(`no result: ${line}`)
      return {}
    }
  }
}

function save(folder: string): void {
  mkdirSync(folder, { recursive: true })
  const run = folder === DOCS ? mergeWithDocs(toRun()) : toRun()
  writeFileSync(join(folder, 'bench.md'), toMarkdown(run))
  writeFileSync(join(folder, 'bench.json'), `${JSON.stringify(run, toRounded, 1)}\n`)
  const [first] = run.outcomes
  if (first && first.name === TRIALS[0]?.name) writeFileSync(join(folder, 'bench.svg'), toChart(first))
}

/** Keeps the outcomes of trials that did not run. */
function mergeWithDocs(run: Run): Run {
  const earlier: Run = JSON.parse(readFileSync(join(DOCS, 'bench.json'), 'utf8'))
  const find = ({ outcomes: all }: Run, { name }: Trial) => all.find((outcome) => outcome.name === name)
  return {
    ...run,
    outcomes: TRIALS.flatMap((trial) => find(run, trial) ?? (earlier.commit ? find(earlier, trial) : []) ?? []),
  }
}

function toRounded(_key: string, value: unknown): unknown {
  return typeof value === 'number' ? Number(value.toPrecision(5)) : value
}
