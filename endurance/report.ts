/** The report of the trials: a table in Markdown for each, and a summary. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { describeMachine, toTable } from '../bench/document.ts'
import { type Figures, STORES, type StoreKind, type Trial } from './trial.ts'
import { commands, commandsLarge } from './trials/commands.ts'
import { failedWrites } from './trials/failed-writes.ts'
import { faults } from './trials/faults.ts'
import { fsync } from './trials/fsync.ts'
import { model } from './trials/model.ts'
import { forgetfulDisk, powerCuts } from './trials/power-cuts.ts'
import { soak } from './trials/soak.ts'
import { timing } from './trials/timing.ts'
import { timingLater } from './trials/timing-later.ts'

/** Every trial, in the order in which they run: the quick ones first. */
export const TRIALS: readonly Trial[] = [
  fsync,
  timing,
  timingLater,
  commands,
  powerCuts,
  forgetfulDisk,
  failedWrites,
  faults,
  model,
  soak,
  commandsLarge,
]

/** A trial on one store. */
export interface Outcome {
  readonly trial: Trial
  readonly store: StoreKind
  readonly figures: Figures
  /** What went wrong; undefined when the promise was kept. */
  readonly broken: string | undefined
  readonly seconds: number
}

export interface Run {
  readonly commit: string
  readonly seed: number
  readonly scale: number
  readonly outcomes: readonly Outcome[]
}

const STORE_NAMES: Readonly<Record<StoreKind, string>> = { sqlite: 'SQLite', postgres: 'PostgreSQL' }

/**
 * Writes a report: a section for each trial, which names its commit. A trial that the run does not have keeps the section of an
 * earlier run.
 *
 * @param earlier the report of that run, empty if there is none
 */
export function writeReport(file: string, run: Run, earlier: string): void {
  mkdirSync(dirname(file), { recursive: true })
  const sections = TRIALS.flatMap((trial) => {
    const outcomes = run.outcomes.filter((outcome) => outcome.trial === trial)
    return outcomes.length > 0 ? toSection(trial, outcomes, run) : findSection(earlier, trial)
  })
  writeFileSync(file, sections.join('\n\n').concat('\n'))
}

/** Sums up a report: what each trial must show, whether it did, and at which commit. */
export function toSummary(report: string): string {
  const rows = TRIALS.flatMap((trial) =>
    findSection(report, trial).map((section) => {
      const commit = /^Commit (\S+),/m.exec(section)?.[1] ?? ''
      return [trial.promise, section.includes('**Broken') ? '**no**' : 'yes', commit]
    }),
  )
  return toTable(['It must show', 'Kept', 'At'], rows)
}

function findSection(report: string, { name }: Trial): readonly string[] {
  const section = report.split(/\n\n(?=### )/).find((text) => text.startsWith(`### ${name}\n`))
  return section === undefined ? [] : [section.trimEnd()]
}

/** The command that repeats the run of a trial. */
export function toRepeat({ trial, store }: Outcome, { seed, scale }: Run): string {
  return `npm run endurance -- --only ${trial.name} --store ${store} --seed ${seed}${scale === 1 ? '' : ` --scale ${scale}`}`
}

function toSection(trial: Trial, outcomes: readonly Outcome[], run: Run): readonly string[] {
  const { commit, seed, scale } = run
  const length = scale === 1 ? '' : `, at ${scale} of the full length`
  const broken = outcomes.filter((outcome) => outcome.broken !== undefined)
  return [
    `### ${trial.name}`,
    `Must show: ${trial.promise}.`,
    `Commit ${commit}, ${new Date().toISOString().slice(0, 10)}, seed ${seed}${length}, on ${describeMachine()}.`,
    toTrialTable(outcomes),
    ...broken.map((outcome) => {
      const text = outcome.broken?.trim().replaceAll('\n', ' ')
      return `**Broken: ${STORE_NAMES[outcome.store]}**: ${text}. Repeat it with \`${toRepeat(outcome, run)}\`.`
    }),
  ]
}

/** A column for each store, and a row for each figure that one of them has. */
function toTrialTable(outcomes: readonly Outcome[]): string {
  const stores = STORES.flatMap((store) => outcomes.find((outcome) => outcome.store === store) ?? [])
  const names = new Set(stores.flatMap(({ figures }) => Object.keys(figures)))
  return toTable(
    ['', ...stores.map(({ store }) => STORE_NAMES[store])],
    [
      ['promise kept', ...stores.map(({ broken }) => (broken === undefined ? 'yes' : '**no**'))],
      ['seconds', ...stores.map(({ seconds }) => seconds.toFixed(0))],
      ...[...names].map((name) => [name, ...stores.map(({ figures }) => toText(figures[name] ?? ''))]),
    ],
  )
}

/** Whole numbers as they are, and others with three significant digits. */
function toText(value: string | number): string {
  if (typeof value === 'string') return value
  return value.toLocaleString('en', Number.isInteger(value) ? {} : { maximumSignificantDigits: 3 })
}
