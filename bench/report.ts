/** Sums up samples: medians with their range, goals, and the report in Markdown. */

import type { Contender } from './contenders.ts'
import type { Sample } from './measure.ts'
import { type Goal, METRICS, type Metric, type Trial } from './trials.ts'

/** A median, with the smallest and the largest value. */
export interface Figure {
  readonly median: number
  readonly min: number
  readonly max: number
}

/** A goal, or a comparison without one, with what was measured. */
export interface Finding extends Goal {
  readonly text: string
  readonly figure: Figure
  readonly isMet: boolean | undefined
}

/** The outcome of a trial, as it is reported. */
export interface Outcome {
  readonly name: string
  readonly title: string
  readonly contenders: readonly {
    readonly title: string
    readonly role: Contender['role']
    readonly figures: Figures
  }[]
  readonly findings: readonly Finding[]
  /** One sample for each round, by contender. */
  readonly samples: Readonly<Record<string, readonly Sample[]>>
}

export type Figures = Readonly<Partial<Record<Metric, Figure>>>

/** A run, as it is saved. */
export interface Run {
  readonly at: string
  readonly commit: string
  readonly machine: string
  readonly method: readonly string[]
  readonly outcomes: readonly Outcome[]
}

const NAMES = Object.keys(METRICS) as Metric[]

/** Sums up a trial. Contenders that did not run are left out, and so are the goals that need them. */
export function toOutcome(
  { name, title, goals }: Trial,
  samples: Readonly<Record<string, readonly Sample[]>>,
  contenders: Readonly<Record<string, Contender>>,
): Outcome {
  const rows = Object.entries(samples).map(([key, taken]) => {
    const metrics = NAMES.filter((metric) => taken[0]?.[metric] !== undefined)
    const figures = metrics.map((metric) => [metric, toFigure(taken.map((sample) => sample[metric] ?? Number.NaN))])
    return {
      title: contenders[key]?.title ?? key,
      role: contenders[key]?.role ?? 'limit',
      figures: Object.fromEntries(figures),
    }
  })
  return {
    name,
    title,
    contenders: rows,
    samples,
    findings: goals.flatMap((goal) => toFinding(goal, samples, contenders) ?? []),
  }
}

function toFinding(
  goal: Goal,
  samples: Readonly<Record<string, readonly Sample[]>>,
  contenders: Readonly<Record<string, Contender>>,
): Finding | undefined {
  const { metric, subject = 'rollcall', against = [], called, atLeast, atMost } = goal
  const own = samples[subject]
  if (!own || against.some((name) => !samples[name])) return undefined
  const best = METRICS[metric].isMoreBetter ? Math.max : Math.min
  const values = own.map((sample, round) => {
    const value = sample[metric] ?? Number.NaN
    return against.length === 0
      ? value
      : value / best(...against.map((name) => samples[name]?.[round]?.[metric] ?? Number.NaN))
  })
  const figure = toFigure(values)
  const isMet = figure.median >= (atLeast ?? -Infinity) && figure.median <= (atMost ?? Infinity)
  const who = subject === 'rollcall' ? '' : `${contenders[subject]?.title}: `
  const text = `${who}${METRICS[metric].title}${called ? `, compared with ${called}` : ''}`
  return { ...goal, text, figure, isMet: atLeast === undefined && atMost === undefined ? undefined : isMet }
}

function toFigure(values: readonly number[]): Figure {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = (sorted.length - 1) / 2
  const median = ((sorted[Math.floor(middle)] ?? Number.NaN) + (sorted[Math.ceil(middle)] ?? Number.NaN)) / 2
  return { median, min: sorted[0] ?? Number.NaN, max: sorted.at(-1) ?? Number.NaN }
}

export function toMarkdown({ at, commit, machine, method, outcomes }: Run): string {
  const findings = outcomes.flatMap(({ title, findings: found }) =>
    found.map(({ text, metric, against, figure, atLeast, atMost, isMet }) => [
      title,
      text,
      toText(figure, against ? 2 : METRICS[metric].digits),
      [atLeast !== undefined && `at least ${atLeast}`, atMost !== undefined && `at most ${atMost}`]
        .filter(Boolean)
        .join(', '),
      isMet === undefined ? '' : isMet ? 'yes' : 'no',
    ]),
  )
  return [
    '# Results of the benchmark',
    '',
    `Commit ${commit}, ${at.slice(0, 10)}. [benchmark.md](benchmark.md) says how to measure. Median, and the range of all rounds:`,
    '',
    ...[machine, ...method].map((line) => `- ${line}`),
    '',
    ...toTable(['Trial', 'Figure', 'Median (range)', 'Goal', 'Met'], findings),
    ...outcomes.flatMap(({ title, contenders }) => {
      const metrics = NAMES.filter((metric) => contenders.some(({ figures }) => figures[metric]))
      const rows = contenders.map((row) => [
        row.title,
        ...metrics.map((metric) => (row.figures[metric] ? toText(row.figures[metric], METRICS[metric].digits) : '')),
      ])
      return ['', `## ${title}`, '', ...toTable(['', ...metrics.map((metric) => METRICS[metric].title)], rows)]
    }),
    '',
  ].join('\n')
}

function toText({ median, min, max }: Figure, digits: number): string {
  const [middle, low, high] = [median, min, max].map((value) =>
    value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits }),
  )
  return low === high ? `${middle}` : `${middle} (${low} to ${high})`
}

function toTable(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const toLine = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [toLine(head), toLine(head.map(() => '---')), ...rows.map(toLine)]
}
