/** `npm run bench`: runs the trials and reports their results. */

import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { createContenders, NODE } from './contenders.ts'
import { DOCS, describeMachine, ROOT, readCommit } from './document.ts'
import { RESULTS, toCheckout } from './lists.ts'
import { METHOD, measure, type Sample } from './measure.ts'
import { type Outcome, type Run, toChart, toMarkdown } from './report.ts'
import { TRIALS, type Trial } from './trials.ts'

const HELP = `Usage: npm run bench -- [options]

Compares Rollcall with other servers and with one that stores nothing. Needs Linux and wrk, and takes about 40 minutes.

  --only NAME        run this trial; may be repeated: ${TRIALS.map(({ name }) => name).join(', ')}
  --rounds NUMBER    run each contender this often, in turn with the others
  --seconds NUMBER   send load for this many seconds
  --against FOLDER   compare with the Rollcall of another checkout too, which has its own node_modules
  --write-docs       write docs/bench.md, bench.json and bench.svg: all trials in full, from a clean commit
  --help             print help

The results are in bench/results.
`
/** Attempts at one sample: on a busy machine a connection may time out. */
const ATTEMPTS = 3

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    against: { type: 'string' },
    'write-docs': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) end(HELP, 0)
const { only, rounds, seconds, against, 'write-docs': writeDocs } = values
const chosen = TRIALS.filter(({ name }) => only?.includes(name) ?? true)
const isWrong = [rounds, seconds].some((value) => value !== undefined && !(Number(value) > 0))
if (isWrong || chosen.length < (only?.length ?? 0)) end(HELP, 2)
if (!Bun.which('wrk')) end('wrk is not installed: apt-get install wrk', 2)
if (!existsSync(NODE)) end('the other servers are not installed: npm ci --prefix bench/baselines', 2)
const commit = await readCommit()
if (writeDocs && (only || rounds || seconds || commit.endsWith('-dirty')))
  end('--write-docs needs a clean commit and all trials in full: commit your changes, and use no other option', 2)

const other = against === undefined ? undefined : await toCheckout(resolve(against))
const contenders = createContenders(await toCheckout(ROOT), other)
const repeated: string[] = []
const outcomes: Outcome[] = []
for (const trial of chosen) {
  const load = { rounds: Number(rounds ?? trial.rounds), seconds: Number(seconds ?? trial.seconds ?? 5) }
  outcomes.push(await runTrial({ ...trial, ...load }))
  write(RESULTS)
}
if (writeDocs) write(DOCS)
// A PostgreSQL server would keep the process alive; it stops with it.
process.exit(0)

/** Takes the samples of a trial. */
async function runTrial(trial: Required<Trial>): Promise<Outcome> {
  const names = trial.contenders.filter((name) => contenders[name])
  const samples: Record<string, Sample[]> = Object.fromEntries(names.map((name) => [name, []]))
  for (let round = 1; round <= trial.rounds; round++) {
    // Each one is first in turn: the machine may get slower.
    for (const name of round % 2 === 1 ? names : names.toReversed()) {
      const sample = await takeSample(name, trial)
      samples[name]?.push(sample)
      console.log(`${trial.name} ${round}/${trial.rounds} ${name}: ${JSON.stringify(sample, toRounded)}`)
    }
  }
  return { trial, samples }
}

/** Takes a sample, again if it fails. Returns no figures if all attempts fail. */
async function takeSample(name: string, trial: Required<Trial>): Promise<Sample> {
  const contender = contenders[name]
  for (let attempt = 1; contender && attempt <= ATTEMPTS; attempt++) {
    try {
      return await measure(contender, trial, trial.seconds)
    } catch (error) {
      repeated.push(`${trial.name}, ${contender.title}: ${error instanceof Error ? error.message : error}`)
      console.error(repeated.at(-1))
    }
  }
  return {}
}

/** Writes the report into a folder. */
function write(folder: string): void {
  mkdirSync(folder, { recursive: true })
  const notes = repeated.map((line) => `a sample failed: ${line.replaceAll('\n', ' ')}`)
  const compared = other ? [`compared with the checkout at ${other.commit}`] : []
  const run: Run = {
    at: new Date().toISOString(),
    commit,
    machine: describeMachine(),
    method: [...METHOD, ...compared, ...notes],
    contenders,
    outcomes,
  }
  writeFileSync(join(folder, 'bench.md'), toMarkdown(run))
  const samples = Object.fromEntries(outcomes.map(({ trial, samples: taken }) => [trial.name, taken]))
  writeFileSync(join(folder, 'bench.json'), `${JSON.stringify({ commit, samples }, toRounded, 1)}\n`)
  const drawn = outcomes.find(({ trial }) => trial.name === 'baselines')
  if (drawn) writeFileSync(join(folder, 'bench.svg'), toChart(drawn, run))
}

function toRounded(_key: string, value: unknown): unknown {
  return typeof value === 'number' ? Number(value.toPrecision(5)) : value
}

function end(text: string, code: number): never {
  console.error(text.trimEnd())
  process.exit(code)
}
