/**
 * `npm run bench`: runs the trials and reports their results.
 *
 * The servers of a trial start with new lists and are warmed up. Then they get the load in turn, in many short rounds, forward
 * and backward, because the speed of a machine changes within seconds: a ratio is the median of the ratios of the rounds.
 * After two rounds, new servers start. Addresses are random, because consecutive names flatter an index. The trials on ten
 * million share a copy, which grows. Every figure counts what a server does after the load (compaction). CPU and memory are
 * those of all its threads and processes; the CPU of PostgreSQL counts, its memory does not. With two cores, the load
 * generator has one to itself.
 */

import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { ROOT } from '../test/support/paths.ts'
import { type Contender, createContenders, NODE } from './contenders.ts'
import { DOCS, describeMachine, end, writeFigures } from './document.ts'
import { RESULTS, toCheckout } from './lists.ts'
import { keepCoresAwake } from './load.ts'
import { prepare, type Sample, type Subject } from './measure.ts'
import { type Outcome, type Run, toAnswers, toChart, toReport } from './report.ts'
import { TRIALS, type Trial } from './trials.ts'

const HELP = `Usage: npm run bench -- [options]

Compares Rollcall with other servers and with one that stores nothing. Needs Linux and wrk, and takes about 40 minutes.

  --only NAME        run this trial; may be repeated: ${TRIALS.map(({ name }) => name).join(', ')}
  --rounds NUMBER    run each contender this often, in turn with the others
  --seconds NUMBER   send load for this many seconds
  --against FOLDER   compare with the Rollcall of another checkout too, which has its own node_modules
  --write-docs       write docs/figures.md, docs/bench.svg and bench/report.txt: all trials in full, from a clean commit
  --help             print help

The results are in bench/results.
`

const REPORT = join(RESULTS, 'report.txt')

/** Rounds for which a server runs before another one starts on a new list. */
const ROUNDS_OF_A_SERVER = 2

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
const own = await toCheckout(ROOT)
const { commit } = own
if (writeDocs && (only || rounds || seconds || commit.endsWith('-dirty')))
  end('--write-docs needs a clean commit and all trials in full: commit your changes, and use no other option', 2)

const isAwake = keepCoresAwake()
if (!isAwake) console.error('The cores may sleep during the trials, so that rates vary more: only root can prevent it.')
const other = against === undefined ? undefined : await toCheckout(resolve(against))
const contenders = createContenders(own, other)
const failures: string[] = []
const outcomes: Outcome[] = []
for (const trial of chosen) {
  const load = { rounds: Number(rounds ?? trial.rounds), seconds: Number(seconds ?? trial.seconds) }
  outcomes.push(await runTrial({ ...trial, ...load }))
  mkdirSync(RESULTS, { recursive: true })
  writeFileSync(REPORT, `${toAnswers(toRun())}\n\n${toReport(toRun())}`)
}
if (writeDocs) writeDocuments(toRun())
console.log(`The report is in ${REPORT}`)
// A PostgreSQL server would keep the process alive; it stops with it.
process.exit(0)

/** Takes the samples of a trial: one of each contender in a round. */
async function runTrial(trial: Trial): Promise<Outcome> {
  const names = trial.contenders.filter((name) => contenders[name])
  const samples: Record<string, Sample[]> = Object.fromEntries(names.map((name) => [name, []]))
  const most = trial.load.kind === 'full' ? ROUNDS_OF_A_SERVER : 1
  for (let round = 1, left = trial.rounds; left > 0; left -= most) {
    const subjects: Record<string, Subject | undefined> = {}
    for (const name of toOrder(names, round)) {
      subjects[name] = await attempt(trial, name, (contender) => prepare(contender, trial))
    }
    for (const last = round + Math.min(most, left); round < last; round++) {
      for (const name of toOrder(names, round)) {
        const sample = await attempt(trial, name, () => subjects[name]?.measure())
        samples[name]?.push(sample ?? {})
        console.log(`${trial.name} ${round}/${trial.rounds} ${name}: ${JSON.stringify(sample, toRounded)}`)
      }
    }
    for (const subject of Object.values(subjects)) await subject?.end()
  }
  return { trial, samples }
}

/** Each is first in turn, and next to the same ones: the speed of a machine changes within seconds. */
function toOrder(names: readonly string[], round: number): readonly string[] {
  return round % 2 === 1 ? names : names.toReversed()
}

/** Undefined if it fails: on a busy machine a connection may time out. */
async function attempt<Value>(trial: Trial, name: string, work: (contender: Contender) => Promise<Value> | undefined) {
  const contender = contenders[name]
  try {
    return contender && (await work(contender))
  } catch (error) {
    const line = `${trial.name}, ${contender?.title}: ${error instanceof Error ? error.message : error}`
    failures.push(line.replaceAll('\n', ' '))
    console.error(line)
    return undefined
  }
}

function toRun(): Run {
  const [date, titles] = [new Date().toISOString().slice(0, 10), Object.entries(contenders)]
  const named = Object.fromEntries(titles.map(([name, { title }]) => [name, { title }]))
  const machine = describeMachine()
  return { commit, compared: other?.commit, date, machine, isAwake, failures, contenders: named, outcomes }
}

function writeDocuments(run: Run): void {
  writeFigures('bench', toAnswers(run))
  writeFileSync(join(import.meta.dir, 'report.txt'), toReport(run))
  const drawn = run.outcomes.find(({ trial }) => trial.name === 'new')
  if (drawn) writeFileSync(join(DOCS, 'bench.svg'), toChart(drawn, run))
}

function toRounded(_key: string, value: unknown): unknown {
  return typeof value === 'number' ? Number(value.toPrecision(5)) : value
}
