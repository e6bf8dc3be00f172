/** Sums up the samples: medians with their spread, answers for readers, goals, tables in Markdown, and a chart. */

import { ANSWERS } from './answers.ts'
import type { Contender } from './contenders.ts'
import { toTable } from './document.ts'
import type { Sample } from './measure.ts'
import { type Comparison, type Goal, METRICS, type Metric, type Trial } from './trials.ts'

/** A trial that ran, with one sample for each round, by contender. */
export interface Outcome {
  readonly trial: Trial
  readonly samples: Readonly<Record<string, readonly Sample[]>>
}

/** Everything that the report says. */
export interface Run {
  readonly commit: string
  /** The commit of the other checkout. */
  readonly compared?: string | undefined
  /** The day, such as 2026-11-21. */
  readonly date: string
  readonly machine: string
  /** Whether the cores were kept awake. */
  readonly isAwake: boolean
  /** The samples that failed. */
  readonly failures: readonly string[]
  readonly contenders: Readonly<Record<string, Pick<Contender, 'title'>>>
  readonly outcomes: readonly Outcome[]
}

/** A median and the interquartile range: of two or three values, the smallest and the largest. */
interface Figure {
  readonly median: number
  readonly low: number
  readonly high: number
}

const NAMES = Object.keys(METRICS) as Metric[]

/** A newsletter that grows fast. */
const READERS_A_DAY = 10_000

/** The part for readers: questions, and what was measured. */
export function toAnswers(run: Run): string {
  const { commit, date, machine, outcomes } = run
  const perSecond = (READERS_A_DAY / (24 * 60 * 60)).toFixed(2)
  return [
    `A newsletter that gains ${READERS_A_DAY.toLocaleString('en')} readers a day needs ${perSecond} requests per second. Measured at ${commit}, ${date}, on ${machine}:`,
    toTable(['You ask', 'Measured'], listAnswers(outcomes)),
  ].join('\n\n')
}

/** The part for maintainers: the figures and the goals of every trial. */
export function toReport(run: Run): string {
  const { commit, compared, date, isAwake, failures, outcomes } = run
  const missed = outcomes.flatMap((outcome) => judge(outcome, run)).filter((cells) => cells.at(-1) === 'no').length
  return [
    `Commit ${commit}${compared ? `, beside ${compared}` : ''}, ${date}, with cores that ${isAwake ? 'stay awake' : 'may sleep'}. Medians of all rounds, with the interquartile range (of two or three rounds: all). Goals that are missed: ${missed}.`,
    ...failures.map((line) => `A sample failed: ${line}`),
    ...outcomes.flatMap((outcome) => describeTrial(outcome, run)),
  ]
    .join('\n\n')
    .concat('\n')
}

/** The rows of the questions whose trial ran. */
function listAnswers(outcomes: readonly Outcome[]): string[][] {
  return ANSWERS.flatMap(({ question, unit, ...answer }) => {
    const outcome = outcomes.find(({ trial }) => trial.name === answer.trial)
    if (!outcome) return []
    const { digits } = METRICS[answer.metric]
    return [[question, `${toText(compare(answer, outcome), digits, { isShort: true })}${unit}`]]
  })
}

/** The heading of a trial, its figures and its goals. */
function describeTrial(outcome: Outcome, run: Run): string[] {
  const { trial, samples } = outcome
  const metrics = NAMES.filter((name) => Object.values(samples).some((taken) => taken.some((one) => name in one)))
  const rows = Object.entries(samples).map(([key, taken]) => [
    run.contenders[key]?.title ?? key,
    ...metrics.map((name) =>
      toText(toFigure(taken.map((sample) => sample[name])), METRICS[name].digits, { isShort: true }),
    ),
  ])
  const load = trial.load.kind === 'full' ? ` of ${trial.seconds} s` : ''
  return [
    `### ${trial.title}`,
    `${trial.rounds} rounds${load}.`,
    toTable(['', ...metrics.map((name) => METRICS[name].title)], rows),
    toTable(['Figure', 'Measured', 'Goal', 'Met'], judge(outcome, run)),
  ]
}

/** The rows of the goals of a trial. */
function judge(outcome: Outcome, run: Run): string[][] {
  return outcome.trial.goals.flatMap((goal) => judgeGoal(goal, outcome, run))
}

/** Without the other checkout, there is nothing to compare with it. */
function judgeGoal(goal: Goal, outcome: Outcome, { contenders }: Run): string[][] {
  const { metric, subject = 'rollcall', against = [], atLeast, atMost } = goal
  const called = goal.called ?? contenders[against[0] ?? '']?.title
  if (against.some((name) => !outcome.samples[name])) return []
  const { title, digits } = METRICS[metric]
  const figure = compare(goal, outcome)
  const bounds = [
    ...(atLeast === undefined ? [] : [`at least ${atLeast}`]),
    ...(atMost === undefined ? [] : [`at most ${atMost}`]),
  ]
  const isMet = figure !== undefined && figure.median >= (atLeast ?? 0) && figure.median <= (atMost ?? Infinity)
  const who = subject === 'rollcall' ? '' : `${contenders[subject]?.title}: `
  const what = `${who}${title}${called ? ` ÷ ${called}` : ''}`
  return [[what, toText(figure, called ? 2 : digits), bounds.join(', '), isMet ? 'yes' : 'no']]
}

/** Without others, the figure itself; with others, the ratio to the best of them, round by round. */
function compare({ metric, subject = 'rollcall', against = [] }: Comparison, { samples }: Outcome): Figure | undefined {
  const best = METRICS[metric].isMoreBetter ? Math.max : Math.min
  const values = (samples[subject] ?? []).map((sample, round) => {
    const others = against.map((name) => samples[name]?.[round]?.[metric] ?? Number.NaN)
    return (sample[metric] ?? Number.NaN) / (others.length > 0 ? best(...others) : 1)
  })
  return toFigure(values)
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

/** The median with its range. `isShort`: without the range. */
function toText(figure: Figure | undefined, digits: number, { isShort = false } = {}): string {
  if (!figure) return 'no result'
  const [median, low, high] = [figure.median, figure.low, figure.high].map((value) =>
    value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits }),
  )
  return isShort || low === high ? `${median}` : `${median} (${low}–${high})`
}

const STYLE = `
  text { font: 13px system-ui, sans-serif; fill: #24292f } .others { fill: #8c959f } .rollcall { fill: #1a7f37 }
  @media (prefers-color-scheme: dark) { text { fill: #d1d7e0 } .others { fill: #6e7681 } .rollcall { fill: #3fb950 } }
`

/** Draws the rates of a trial as SVG, the highest first. */
export function toChart({ trial, samples }: Outcome, { contenders }: Run): string {
  const shown = Object.entries(samples).filter(([key]) => key !== 'other')
  const rates = shown.map(([key, taken]) => ({ key, rate: toFigure(taken.map(({ rate }) => rate))?.median ?? 0 }))
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
