/** The report of a run, as Markdown and as JSON. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus, release, totalmem } from 'node:os'
import { join } from 'node:path'
import type { Figures, StoreKind } from './trial.ts'

export interface Outcome {
  readonly trial: string
  readonly store: StoreKind
  readonly promise: string
  /** What went wrong; undefined when the promise was kept. */
  readonly broken?: string
  readonly seconds: number
  readonly figures: Figures
}

export interface Report {
  readonly at: string
  readonly seed: number
  /** Minutes for each trial; undefined for the default lengths. */
  readonly minutes: number | undefined
  readonly machine: readonly string[]
  readonly outcomes: readonly Outcome[]
}

/** Describes the machine in lines for people. */
export function describeMachine(): string[] {
  const [cpu] = cpus()
  return [
    `${cpus().length} cores${cpu ? ` (${cpu.model})` : ''}, ${Math.round(totalmem() / 2 ** 30)} GiB of memory`,
    `${process.platform} ${release()}, Bun ${Bun.version}`,
  ]
}

/** Writes the report into a folder, as endurance.md and endurance.json. */
export function writeReport(folder: string, report: Report): void {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'endurance.md'), toMarkdown(report))
  writeFileSync(join(folder, 'endurance.json'), `${JSON.stringify(report, null, 1)}\n`)
}

export function toMarkdown({ at, seed, minutes, machine, outcomes }: Report): string {
  const length = minutes === undefined ? 'every trial at its default length' : `about ${minutes} minutes for each trial`
  return [
    '# Endurance',
    '',
    '`npm run endurance` writes this report. Each trial tries to break a promise.',
    '',
    `- Run on ${at}, seed ${seed}, ${length}`,
    ...machine.map((line) => `- ${line}`),
    '',
    ...toTable(
      ['Trial', 'Store', 'Must show', 'Kept', 'Seconds'],
      outcomes.map(({ trial, store, promise, broken, seconds }) => [
        trial,
        store,
        promise,
        broken === undefined ? 'yes' : '**no**',
        seconds.toFixed(0),
      ]),
    ),
    ...outcomes.flatMap(toSection),
    '',
  ].join('\n')
}

function toSection({ trial, store, broken, figures }: Outcome): string[] {
  const rows = Object.entries(figures).map(([name, value]) => [
    name,
    typeof value === 'number' ? value.toLocaleString('en', { maximumFractionDigits: 4 }) : value,
  ])
  return [
    '',
    `## ${trial}, ${store}`,
    '',
    ...(broken === undefined ? [] : [`Broken: ${broken.trim()}`, '']),
    ...(rows.length > 0 ? toTable(['', 'Measured'], rows) : []),
  ]
}

function toTable(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const toLine = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const escaped = rows.map((row) => row.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')))
  return [toLine(head), toLine(head.map(() => '---')), ...escaped.map(toLine)]
}
