/** The report of a run, as Markdown and as JSON. */

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus, release, totalmem } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Findings, StoreKind } from './trial.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** A trial on one store, and when, where and with what it ran. */
export interface Outcome extends Findings {
  readonly trial: string
  readonly store: StoreKind
  readonly promise: string
  /** What went wrong; absent when the promise was kept. */
  readonly broken?: string
  readonly seconds: number
  /** The load of the machine over the last five minutes of it (loadavg). */
  readonly load: number
  /** The end of the trial. */
  readonly at: string
  /** Of Rollcall: the version and the commit. */
  readonly version: string
  readonly machine: string
  readonly seed: number
  /** Minutes for each trial; absent for the default lengths. */
  readonly minutes?: number
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
export function writeReport(folder: string, outcomes: readonly Outcome[]): void {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'endurance.md'), toMarkdown(outcomes))
  writeFileSync(join(folder, 'endurance.json'), `${JSON.stringify(outcomes, null, 1)}\n`)
}

/** Replaces the outcomes of an earlier report whose trials ran again. @param order `TRIAL STORE` of every run */
export function mergeWithReport(folder: string, later: readonly Outcome[], order: readonly string[]): Outcome[] {
  const file = join(folder, 'endurance.json')
  const earlier: Outcome[] = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : []
  const toKey = ({ trial, store }: Outcome) => `${trial} ${store}`
  return order.flatMap(
    (key) => [...later, ...(Array.isArray(earlier) ? earlier : [])].find((one) => toKey(one) === key) ?? [],
  )
}

/** The command that repeats the run of a trial. */
export function toRepeat({ trial, store, seed, minutes }: Outcome): string {
  const length = minutes === undefined ? '' : ` --minutes ${minutes}`
  return `npm run endurance -- --only ${trial} --store ${store} --seed ${seed}${length}`
}

const STORE_NAMES: Readonly<Record<StoreKind, string>> = { sqlite: 'SQLite', postgres: 'PostgreSQL' }

const GUIDE = `# Endurance

\`npm run endurance\` kills Rollcall, cuts its power, breaks its disk and its server, compares it with a model and loads it for
a long time. It writes this report. It takes more than an hour, so \`npm test\` does not include it. The exit code is 0 if every promise
was kept, 1 at the first broken one, and 2 if this machine lacks something. \`npm run endurance -- --help\` lists the options.

The trials need Linux, \`strace\` and \`wrk\` (\`apt-get install strace wrk\`), and root, so that strace can attach to a process. PostgreSQL
comes with \`npm ci\`. strace records every write, sync and response, so a power cut can be replayed at any moment, and it makes
calls fail as a broken disk does.
`

function toMarkdown(outcomes: readonly Outcome[]): string {
  return [
    GUIDE,
    '## Latest runs',
    '',
    ...new Set(outcomes.map(({ machine }) => `- ${machine}`)),
    '',
    ...toTable(
      ['Trial', 'Store', 'Must show', 'Measured', 'Seconds', 'Load', 'Run', 'Kept'],
      outcomes.map((outcome) => [
        outcome.trial,
        STORE_NAMES[outcome.store],
        outcome.promise,
        toFigures(outcome),
        outcome.seconds.toFixed(0),
        outcome.load.toFixed(1),
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
