/**
 * `npm run endurance`: runs the trials one after the other and reports them. strace records every write, sync and response, so
 * that a power cut can be replayed at any moment, and makes calls fail as a broken disk does.
 *
 * Exit codes: 0 every promise was kept, 1 a promise is broken, 2 wrong usage, or something is missing on this machine.
 */

import { randomInt } from 'node:crypto'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { end, readCommit, writeFigures } from '../bench/document.ts'
import { getServer } from '../test/support/postgres.ts'
import { within } from '../test/support/wait.ts'
import { createFolder, endProcesses, removeLogs } from '../test/support/workspace.ts'
import { BrokenPromise } from './check.ts'
import { createRandom } from './random.ts'
import { type Outcome, type Run, TRIALS, toRepeat, toSummary, writeReport } from './report.ts'
import { toList } from './rollcall.ts'
import { STORES, type StoreKind, type Trial } from './trial.ts'

const HELP = `Usage: npm run endurance -- [options]

Tries to break the promises of Rollcall: kills, power cuts, faults, long load. The report is in endurance/results.

  --only NAME       only this trial; may be repeated
  --store KIND      only this store: ${STORES.join(' or ')}
  --scale NUMBER    a share of the full length, such as 0.1
  --seed NUMBER     repeats the random choices of a run
  --write-docs      write docs/figures.md and endurance/report.txt, in which other trials keep their results: in full, on
                    both stores, from a clean commit
  --help            print help

Trials, with the minutes that each takes:
${TRIALS.map(({ name, minutes, promise }) => `  ${name}: ${JSON.stringify(minutes)}\n      ${promise}`).join('\n')}
`

const RESULTS = join(import.meta.dir, 'results/report.txt')
const REPORT = join(import.meta.dir, 'report.txt')

/** A trial that takes longer than this many times its length, and so many minutes, does not finish. */
const PATIENCE = 3
const PATIENCE_MINUTES = 5

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    store: { type: 'string' },
    scale: { type: 'string', default: '1' },
    seed: { type: 'string', default: String(randomInt(2 ** 31)) },
    'write-docs': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) end(HELP, 0)
const [scale, seed] = [Number(values.scale), Number(values.seed)]
const chosen = TRIALS.filter(({ name }) => values.only?.includes(name) ?? true)
const stores = STORES.filter((store) => (values.store ?? store) === store)
const runs = chosen.flatMap((trial) =>
  stores.flatMap((store) => (trial.minutes[store] === undefined ? [] : { trial, store })),
)
if (runs.length === 0 || !(scale > 0) || !Number.isSafeInteger(seed)) end(HELP, 2)
const missing = chosen.flatMap(({ needs = [] }) => needs).find((program) => !Bun.which(program))
if (missing) end(`${missing} is not installed: apt-get install ${missing}`, 2)
const commit = await readCommit()
if (values['write-docs'] && (values.store || scale !== 1 || commit.endsWith('-dirty')))
  end('--write-docs needs a clean commit and trials in full: commit your changes, and leave out --store and --scale', 2)

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130))
process.on('exit', endProcesses)
const outcomes: Outcome[] = []
const run: Run = { commit, seed, scale, outcomes }
for (const { trial, store } of runs) {
  const outcome = await runTrial(trial, store)
  outcomes.push(outcome)
  const { broken, seconds } = outcome
  say(`${trial.name}, ${store}: ${broken === undefined ? 'kept' : 'BROKEN'} (${seconds.toFixed(0)} s)`)
  if (broken !== undefined)
    say(`A promise is broken: ${trial.promise}\nSeen: ${broken}\nRepeat: ${toRepeat(outcome, run)}`)
  writeReport(RESULTS, run, '')
}
if (values['write-docs']) {
  writeReport(REPORT, run, readFileSync(REPORT, 'utf8'))
  writeFigures('endurance', toSummary(readFileSync(REPORT, 'utf8')))
}
say(`The report is in ${RESULTS}`)
process.exit(outcomes.every(({ broken }) => broken === undefined) ? 0 : 1)

/** Runs a trial in a folder of its own and for a limited time. */
async function runTrial(trial: Trial, store: StoreKind): Promise<Outcome> {
  const folder = await createFolder()
  const start = performance.now()
  let lists = 0
  const context = {
    store,
    folder,
    random: createRandom(seed).fork(`${trial.name} ${store}`),
    amount: (inFull: number, least = 1) => Math.max(Math.round(inFull * scale), least),
    async createList() {
      const file = join(folder, `list-${++lists}`, 'data/rollcall.db')
      return toList(store === 'sqlite' ? `sqlite:${file}` : await (await getServer()).createUrl(), folder)
    },
    progress: (line: string) => say(`${trial.name}, ${store}: ${line}`),
  }
  const toOutcome = (findings: Pick<Outcome, 'figures' | 'broken'>): Outcome => {
    return { trial, store, seconds: (performance.now() - start) / 1000, ...findings }
  }
  try {
    const patience = (trial.minutes[store] ?? 0) * scale * PATIENCE + PATIENCE_MINUTES
    const figures = await within(trial.run(context), 'the end of the trial', patience * 60_000)
    removeLogs()
    return toOutcome({ figures, broken: undefined })
  } catch (error) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
    const broken = error instanceof BrokenPromise ? error.message : `the trial failed: ${text}`
    return toOutcome({ figures: {}, broken })
  } finally {
    endProcesses()
    // A trial may have written gigabytes.
    rmSync(folder, { recursive: true, force: true })
  }
}

function say(line: string): void {
  process.stderr.write(`${line}\n`)
}
