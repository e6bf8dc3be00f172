/** Sums up the samples: medians with their spread, goals, the report in Markdown, and a chart. */

import type { Contender } from './contenders.ts'
import { describeMachine, toTable } from './document.ts'
import type { Sample } from './measure.ts'
import { type Goal, METRICS, type Metric, type Trial } from './trials.ts'

/** A trial that ran, with one sample for each round, by contender. */
export interface Outcome {
  readonly trial: Trial
  readonly samples: Readonly<Record<string, readonly Sample[]>>
}

export interface Run {
  readonly commit: string
  /** The commit of the other checkout. */
  readonly compared: string | undefined
  /** Whether the cores were kept awake. */
  readonly isAwake: boolean
  /** The samples that failed. */
  readonly failures: readonly string[]
  readonly contenders: Readonly<Record<string, Contender>>
  readonly outcomes: readonly Outcome[]
}

/** A median, and where the middle half of the values begins and ends: of two or three, the smallest and the largest. */
interface Figure {
  readonly median: number
  readonly low: number
  readonly high: number
}

const NAMES = Object.keys(METRICS) as Metric[]

export function toMarkdown(run: Run): string {
  const { commit, compared, isAwake, failures, outcomes, contenders } = run
  const findings = outcomes.flatMap((outcome) => outcome.trial.goals.flatMap((goal) => judge(goal, outcome, run)))
  const missed = findings.filter((cells) => cells.at(-1) === 'no').length
  return [
    '# Results of the benchmark',
    `Commit ${commit}${compared ? `, beside ${compared}` : ''}, ${new Date().toISOString().slice(0, 10)}, on ${describeMachine()}, with cores that ${isAwake ? 'stay awake' : 'may sleep'}. [The method](benchmark.md#method). Goals that are missed: ${missed}.`,
    ...failures.map((line) => `A sample failed: ${line}`),
    '## Goals',
    'The median of all rounds, and in parentheses the middle half of them, or all if there are two or three. [endurance.md](endurance.md) compares the response times of single new and known addresses (AUC).',
    toTable(['Trial', 'Figure', 'Measured', 'Goal', 'Met'], findings),
    '## Figures',
    ...outcomes.flatMap(({ trial, samples }) => {
      const metrics = NAMES.filter((name) => Object.values(samples).some((taken) => taken.some((one) => name in one)))
      const rows = Object.entries(samples).map(([key, taken]) => [
        contenders[key]?.title ?? key,
        ...metrics.map((name) => toText(toFigure(taken.map((sample) => sample[name])), METRICS[name].digits)),
      ])
      const load = trial.load.kind === 'full' ? ` with ${trial.seconds} s of load` : ''
      return [
        `### ${trial.title}`,
        `Rounds: ${trial.rounds}${load}.`,
        toTable(['', ...metrics.map((name) => METRICS[name].title)], rows),
      ]
    }),
  ]
    .join('\n\n')
    .concat('\n')
}

/** A row of the table of goals. Without the other checkout, there is nothing to compare with it. */
function judge(goal: Goal, { trial, samples }: Outcome, { contenders }: Run): string[][] {
  const { metric, subject = 'rollcall', against = [], atLeast, atMost } = goal
  const called = goal.called ?? contenders[against[0] ?? '']?.title
  if (against.some((name) => !samples[name])) return []
  const { title, digits, isMoreBetter } = METRICS[metric]
  const best = isMoreBetter ? Math.max : Math.min
  const values = (samples[subject] ?? []).map((sample, round) => {
    const others = against.map((name) => samples[name]?.[round]?.[metric] ?? Number.NaN)
    return (sample[metric] ?? Number.NaN) / (others.length > 0 ? best(...others) : 1)
  })
  const figure = toFigure(values)
  const bounds = [
    ...(atLeast === undefined ? [] : [`at least ${atLeast}`]),
    ...(atMost === undefined ? [] : [`at most ${atMost}`]),
  ]
  const isMet = figure !== undefined && figure.median >= (atLeast ?? 0) && figure.median <= (atMost ?? Infinity)
  const who = subject === 'rollcall' ? '' : `${contenders[subject]?.title}: `
  const what = `${who}${title}${called ? `, compared with ${called}` : ''}`
  const verdict = bounds.length === 0 ? '' : isMet ? 'yes' : 'no'
  return [[trial.title, what, toText(figure, called ? 2 : digits), bounds.join(', '), verdict]]
}

/** Rounds without a result are left out. */
function toFigure(values: readonly (number | undefined)[]): Figure | undefined {
  const sorted = values.filter((value): value is number => !Number.isNaN(value ?? Number.NaN)).sort((a, b) => a - b)
  const { length } = sorted
  if (length === 0) return undefined
  /** The value with a number of values before it, and the one with as many after it. */
  const at = (before: number) => [sorted[before] ?? 0, sorted[length - 1 - before] ?? 0] as const
  const [[below, above], [low, high]] = [at(Math.floor((length - 1) / 2)), at(Math.floor(length / 4))]
  return { median: (below + above) / 2, low, high }
}

function toText(figure: Figure | undefined, digits: number): string {
  if (!figure) return 'no result'
  const [median, low, high] = [figure.median, figure.low, figure.high].map((value) =>
    value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits }),
  )
  return low === high ? `${median}` : `${median} (${low} to ${high})`
}

const STYLE = `
  text { font: 13px system-ui, sans-serif; fill: #24292f } .others { fill: #8c959f } .rollcall { fill: #1a7f37 }
  @media (prefers-color-scheme: dark) { text { fill: #d1d7e0 } .others { fill: #6e7681 } .rollcall { fill: #3fb950 } }
`

/** Draws the rates of a trial as SVG, the highest first. */
export function toChart({ trial, samples }: Outcome, { contenders }: Run): string {
  const rates = Object.entries(samples).map(([key, taken]) => {
    return { key, rate: toFigure(taken.map(({ rate }) => rate))?.median ?? 0 }
  })
  const [width, row, left] = [760, 26, 240]
  const scale = (width - left - 70) / Math.max(...rates.map(({ rate }) => rate))
  const bars = rates
    .sort((one, other) => other.rate - one.rate)
    .map(({ key, rate }, index) => {
      const [y, length] = [index * row + 20, Math.round(rate * scale)]
      const color = key === 'rollcall' ? 'rollcall' : 'others'
      return `<text x="${left - 10}" y="${y}" text-anchor="end">${contenders[key]?.title}</text>
<rect class="${color}" x="${left}" y="${y - 13}" width="${length}" height="18" rx="3"/>
<text x="${left + length + 8}" y="${y}">${Math.round(rate).toLocaleString('en')}</text>`
    })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${rates.length * row + 10}" role="img" aria-label="${trial.title}: requests per second">
<style>${STYLE}</style>
${bars.join('\n')}
</svg>
`
}
