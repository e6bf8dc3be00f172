/** The report of a run, as Markdown and as JSON. */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus, release, totalmem } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Findings, StoreKind } from './trial.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

export interface Outcome extends Findings {
  readonly trial: string
  readonly store: StoreKind
  readonly promise: string
  /** What went wrong; undefined when the promise was kept. */
  readonly broken?: string
  readonly seconds: number
  /** The cores that other work on the machine used meanwhile. */
  readonly othersCores: number
}

export interface Report {
  readonly at: string
  /** Of Rollcall: the version and the commit. */
  readonly version: string
  readonly seed: number
  /** Minutes for each trial; undefined for the default lengths. */
  readonly minutes: number | undefined
  readonly machine: string
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

/** The command that repeats the run of a trial. */
export function toRepeat({ trial, store }: Outcome, { seed, minutes }: Pick<Report, 'seed' | 'minutes'>): string {
  const length = minutes === undefined ? '' : ` --minutes ${minutes}`
  return `npm run endurance -- --only ${trial} --store ${store} --seed ${seed}${length}`
}

const STORE_NAMES: Readonly<Record<StoreKind, string>> = { sqlite: 'SQLite', postgres: 'PostgreSQL' }

const GUIDE = `# Endurance

\`npm run endurance\` attacks Rollcall, kills it, cuts its power, breaks its disk and loads it for a long time, and checks
that it keeps its promises. It writes this report. The exit code is 0 if every promise was kept, 1 at the first broken
one, and 2 if this machine lacks something. A full run takes more than an hour, so \`npm test\` does not include it. Run
it on a machine that does nothing else.

| Option | Effect |
| --- | --- |
| \`--only model fuzz\` | Runs only these trials. |
| \`--store sqlite\` or \`postgres\` | Runs the trials on one store only. |
| \`--minutes 1\` | Each trial takes about a minute. Its numbers scale with it. |
| \`--seed 7\` | Repeats the random choices of a run. The order in which processes run is not repeated. |
| \`--out FOLDER\` | Writes the report there. The default is \`endurance/results\`. |
| \`--write-docs\` | Writes the report to \`docs/\` as well. |

The trials need Linux, \`cc\`, \`prlimit\` and a limit of 10,200 open files. PostgreSQL comes with \`npm ci\`.
`

export function toMarkdown(report: Report): string {
  const { outcomes } = report
  return [
    GUIDE,
    '## Latest run',
    '',
    ...toFacts(report),
    '',
    ...toTable(
      ['Trial', 'Store', 'Must show', 'Measured', 'Seconds', 'Kept'],
      outcomes.map(({ trial, store, promise, broken, seconds, figures }) => [
        trial,
        STORE_NAMES[store],
        promise,
        Object.entries(figures)
          .map(([name, value]) => `${name}: ${toText(value)}`)
          .join('; '),
        seconds.toFixed(0),
        broken === undefined ? 'yes' : '**no**',
      ]),
    ),
    ...outcomes.flatMap((outcome) => [...toBroken(outcome, report), ...toDetails(outcome)]),
    '',
  ].join('\n')
}

function toFacts({ at, version, seed, minutes, machine, outcomes, missing }: Report): string[] {
  const total = outcomes.reduce((sum, { seconds }) => sum + seconds, 0)
  const others = outcomes.reduce((sum, { seconds, othersCores }) => sum + seconds * othersCores, 0) / (total || 1)
  const isFull = minutes === undefined
  const length = isFull ? 'at the default lengths' : `with about ${minutes} minutes for each trial`
  const [example] = outcomes
  return [
    `- ${at.slice(0, 16).replace('T', ' ')} UTC, Rollcall ${version}`,
    `- ${machine}; other work used ${others.toFixed(1)} cores on average`,
    `- ${outcomes.length} ${outcomes.length === 1 ? 'run' : 'runs'} ${length} in ${(total / 60).toFixed(0)} minutes, seed ${seed}`,
    ...(isFull ? [] : ['- The numbers are those of a shorter run, not those that must be shown']),
    ...(missing.length > 0 ? [`- Not in this run: ${missing.join(', ')}`] : []),
    ...(example ? [`- To repeat one, such as the first: \`${toRepeat(example, { seed, minutes })}\``] : []),
  ]
}

function toBroken(outcome: Outcome, report: Report): string[] {
  const { trial, store, broken } = outcome
  if (broken === undefined) return []
  return [
    ...['', `## Broken: ${trial}, ${STORE_NAMES[store]}`, '', broken.trim().replaceAll('\n', ' '), ''],
    `Repeat it with \`${toRepeat(outcome, report)}\`.`,
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
