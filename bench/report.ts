/** The report of a run, as Markdown. */

import type { Figure, Finding, Outcome, Row } from './figures.ts'
import { METRICS, type Metric } from './sample.ts'

/** A run, as it is saved. */
export interface Run {
  readonly at: string
  readonly machine: readonly string[]
  readonly method: readonly string[]
  readonly outcomes: readonly Outcome[]
}

/** The name of each metric, and its number of decimal digits. */
const COLUMNS: Record<Metric, { readonly title: string; readonly digits: number }> = {
  rate: { title: 'requests/s', digits: 0 },
  cpu: { title: 'CPU µs/request', digits: 1 },
  memory: { title: 'memory MiB', digits: 0 },
  p50: { title: 'p50 ms', digits: 2 },
  p99: { title: 'p99 ms', digits: 2 },
  start: { title: 'start ms', digits: 0 },
  time: { title: 'time ms', digits: 1 },
}

/** Renders the report. */
export function toMarkdown({ machine, method, outcomes }: Run): string {
  const findings = outcomes.flatMap((outcome) => outcome.findings.map((finding) => toFindingCells(outcome, finding)))
  return [
    ...[...machine, ...method].map((line) => `- ${line}`),
    '',
    ...toTable(['Trial', 'Comparison', 'Median (range)', 'Goal', 'Met'], findings),
    ...outcomes.flatMap(({ title, contenders }) => ['', `**${title}**`, '', ...toContenderTable(contenders)]),
    '',
  ].join('\n')
}

function toFindingCells({ title }: Outcome, { text, metric, isRatio, figure, goal, met }: Finding): string[] {
  const digits = isRatio ? 2 : COLUMNS[metric].digits
  const bound = goal && ('atLeast' in goal ? `at least ${goal.atLeast}` : `at most ${goal.atMost}`)
  return [
    title,
    `${COLUMNS[metric].title}, ${text}`,
    toText(figure, digits),
    bound ?? '',
    met === undefined ? '' : met ? 'yes' : 'no',
  ]
}

function toContenderTable(rows: readonly Row[]): string[] {
  const metrics = METRICS.filter((metric) => rows.some(({ figures }) => figures[metric]))
  return toTable(
    ['', ...metrics.map((metric) => COLUMNS[metric].title)],
    rows.map(({ title, figures }) => [
      title,
      ...metrics.map((metric) => (figures[metric] ? toText(figures[metric], COLUMNS[metric].digits) : '')),
    ]),
  )
}

function toText({ median, min, max }: Figure, digits: number): string {
  return min === max
    ? toNumber(median, digits)
    : `${toNumber(median, digits)} (${toNumber(min, digits)} to ${toNumber(max, digits)})`
}

function toNumber(value: number, digits: number): string {
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })
}

function toTable(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const all = [head, ...rows]
  const widths = head.map((_, column) => Math.max(3, ...all.map((row) => row[column]?.length ?? 0)))
  const toLine = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`
  return [toLine(head), toLine(widths.map((width) => '-'.repeat(width))), ...rows.map(toLine)]
}
