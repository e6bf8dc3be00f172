/** The report of a run, as Markdown and as JSON. */

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus, release, totalmem } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Findings, StoreKind } from './trial.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** When, where and with what a trial ran. */
export interface Circumstances {
  /** The end of the trial. */
  readonly at: string
  /** Of Rollcall: the version and the commit. */
  readonly version: string
  readonly machine: string
  readonly seed: number
  /** Minutes for each trial; absent for the default lengths. */
  readonly minutes?: number
}

export interface Outcome extends Findings, Circumstances {
  readonly trial: string
  readonly store: StoreKind
  readonly promise: string
  /** What went wrong; absent when the promise was kept. */
  readonly broken?: string
  readonly seconds: number
  /** The cores that other work on the machine used meanwhile. */
  readonly othersCores: number
}

export interface Report {
  readonly outcomes: readonly Outcome[]
  /** Runs of the suite that are not part of this report, such as `soak (postgres)`. */
  readonly missing: readonly string[]
}

/** Describes the machine in one line. */
export function describeMachine(): string {
  const [cpu] = cpus()
  const cores = `${cpus().length} cores${cpu ? ` (${cpu.model.trim()})` : ''}`
  return `${cores}, ${Math.round(totalmem() / 2 ** 30)} GiB of memory, ${process.platform} ${release()}, Bun ${Bun.version}`
}

/** The version of package.json and, in a checkout, the commit. */
export function describeVersion(): string {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }
  const git = (...args: string[]) =>
    Bun.spawnSync(['git', ...args], { cwd: ROOT })
      .stdout.toString()
      .trim()
  const commit = Bun.which('git') ? git('rev-parse', '--short=12', 'HEAD') : ''
  if (commit === '') return version
  const isChanged = git('status', '--porcelain', 'src', 'package-lock.json') !== ''
  return `${version}, commit ${commit}${isChanged ? ' with changes' : ''}`
}

/** Writes the report into a folder, as endurance.md and endurance.json. */
export function writeReport(folder: string, report: Report): void {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'endurance.md'), toMarkdown(report))
  writeFileSync(join(folder, 'endurance.json'), `${JSON.stringify(report, null, 1)}\n`)
}

/** Reads the outcomes of a report that was written into a folder; none when there is no report. */
export function readOutcomes(folder: string): readonly Outcome[] {
  const file = join(folder, 'endurance.json')
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Report).outcomes : []
}

/** Replaces the earlier outcomes of the runs that were repeated. */
export function mergeOutcomes(earlier: readonly Outcome[], later: readonly Outcome[]): Outcome[] {
  const isRepeated = (one: Outcome) => later.some(({ trial, store }) => trial === one.trial && store === one.store)
  return [...earlier.filter((one) => !isRepeated(one)), ...later]
}

/** The command that repeats the run of a trial. */
export function toRepeat({ trial, store, seed, minutes }: Outcome): string {
  const length = minutes === undefined ? '' : ` --minutes ${minutes}`
  return `npm run endurance -- --only ${trial} --store ${store} --seed ${seed}${length}`
}

const STORE_NAMES: Readonly<Record<StoreKind, string>> = { sqlite: 'SQLite', postgres: 'PostgreSQL' }

const GUIDE = `# Endurance

\`npm run endurance\` attacks Rollcall, kills it, cuts its power, breaks its disk and loads it for a long time, and checks
that it keeps its promises. It writes this report. The exit code is 0 if every promise was kept, 1 at the first broken
one, and 2 if this machine lacks something. A full run takes more than an hour, so \`npm test\` does not include it.
Other work on the machine makes the trials slower, so each says how much there was.

| Option | Effect |
| --- | --- |
| \`--only model fuzz\` | Runs only these trials. |
| \`--store sqlite\` or \`postgres\` | Runs the trials on one store only. |
| \`--minutes 1\` | Each trial takes about a minute. Its numbers scale with it. |
| \`--seed 7\` | Repeats the random choices of a run. The order in which processes run is not repeated. |
| \`--out FOLDER\` | Writes the report there. The default is \`endurance/results\`. |
| \`--write-docs\` | Also writes it to \`docs/\`, where the other trials keep the result of their last run. |

The trials need Linux, \`cc\`, \`prlimit\` and a limit of 10,200 open files. PostgreSQL comes with \`npm ci\`. Its
full disks are file systems in memory, which only root can mount; other users skip these two faults.
`

export function toMarkdown({ outcomes, missing }: Report): string {
  return [
    GUIDE,
    '## Latest runs',
    '',
    ...[...new Set(outcomes.map(({ machine }) => machine))].map((machine) => `- ${machine}`),
    ...(missing.length > 0 ? [`- Not run: ${missing.join(', ')}`] : []),
    '',
    ...toTable(
      ['Trial', 'Store', 'Must show', 'Measured', 'Seconds', 'Other work, cores', 'Run', 'Kept'],
      outcomes.map((outcome) => [
        outcome.trial,
        STORE_NAMES[outcome.store],
        outcome.promise,
        toFigures(outcome),
        outcome.seconds.toFixed(0),
        outcome.othersCores.toFixed(1),
        toRun(outcome),
        outcome.broken === undefined ? 'yes' : '**no**',
      ]),
    ),
    ...outcomes.flatMap((outcome) => [...toBroken(outcome), ...toDetails(outcome)]),
    '',
  ].join('\n')
}

function toFigures({ figures }: Outcome): string {
  return Object.entries(figures)
    .map(([name, value]) => `${name}: ${toText(value)}`)
    .join('; ')
}

function toRun({ at, version, seed, minutes }: Outcome): string {
  const length = minutes === undefined ? '' : `, shorter: about ${minutes} minutes`
  return `${at.slice(0, 16).replace('T', ' ')} UTC, ${version}, seed ${seed}${length}`
}

function toBroken(outcome: Outcome): string[] {
  const { trial, store, broken } = outcome
  if (broken === undefined) return []
  return [
    ...['', `## Broken: ${trial}, ${STORE_NAMES[store]}`, '', broken.trim().replaceAll('\n', ' '), ''],
    `Repeat it with \`${toRepeat(outcome)}\`.`,
  ]
}

function toDetails({ trial, store, details }: Outcome): string[] {
  if (!details) return []
  const rows = Object.entries(details).map(([name, value]) => [name, toText(value)])
  return ['', `## Details: ${trial}, ${STORE_NAMES[store]}`, '', ...toTable(['', 'Measured'], rows)]
}

/** Numbers with four significant digits, and whole numbers as they are. */
function toText(value: string | number): string {
  if (typeof value === 'string') return value
  if (Number.isInteger(value) || Math.abs(value) >= 1000) return Math.round(value).toLocaleString('en')
  return value.toLocaleString('en', { maximumSignificantDigits: 3 })
}

function toTable(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const toLine = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const escaped = rows.map((row) => row.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')))
  return [toLine(head), toLine(head.map(() => '---')), ...escaped.map(toLine)]
}
