/** Turns samples into medians with their range. */

import { CONTENDERS, type ContenderName } from './contenders.ts'
import { METRICS, type Metric, type Sample } from './sample.ts'
import type { Comparison, Goal, Trial } from './trial.ts'

/** A median, with the smallest and the largest value. */
export interface Figure {
  readonly median: number
  readonly min: number
  readonly max: number
}

/** The samples of a trial: one per round for each contender. */
export type Samples = Readonly<Partial<Record<ContenderName, readonly Sample[]>>>

/** The outcome of a trial, as it is reported. */
export interface Outcome {
  readonly name: string
  readonly title: string
  readonly samples: Samples
  readonly contenders: readonly Row[]
  readonly findings: readonly Finding[]
}

/** The figures of one contender. */
export interface Row {
  readonly name: ContenderName
  readonly title: string
  readonly figures: Readonly<Partial<Record<Metric, Figure>>>
}

/** A ratio or a single figure, with its goal. */
export interface Finding {
  readonly text: string
  readonly metric: Metric
  readonly isRatio: boolean
  readonly figure: Figure
  readonly goal: Goal | undefined
  readonly met: boolean | undefined
}

/** Sums up a trial. */
export function toOutcome(trial: Trial, samples: Samples): Outcome {
  const contenders = trial.contenders.flatMap((name) => (samples[name] ? [toRow(name, samples[name])] : []))
  const compared = (trial.comparisons ?? []).flatMap((comparison) => {
    const figure = toRatio(comparison, samples)
    return figure ? [toFinding(`compared with ${comparison.called}`, { ...comparison, figure, isRatio: true })] : []
  })
  const bounded = (trial.ceilings ?? []).flatMap(({ metric, subject, atMost }) => {
    const figure = contenders.find(({ name }) => name === subject)?.figures[metric]
    return figure ? [toFinding('alone', { metric, figure, isRatio: false, goal: { atMost } })] : []
  })
  return { name: trial.name, title: trial.title, samples, contenders, findings: [...compared, ...bounded] }
}

function toRow(name: ContenderName, samples: readonly Sample[]): Row {
  const figures = METRICS.filter((metric) => samples[0]?.[metric] !== undefined).map((metric) => [
    metric,
    toFigure(samples.map((sample) => sample[metric] ?? Number.NaN)),
  ])
  return { name, title: CONTENDERS[name].title, figures: Object.fromEntries(figures) }
}

/** The ratio to the best of the others in the same round; undefined if one of them did not run. */
function toRatio({ metric, subject, against }: Comparison, samples: Samples): Figure | undefined {
  const own = samples[subject]
  const others = against.flatMap((name) => (samples[name] ? [samples[name]] : []))
  if (!own || others.length < against.length) return undefined
  const best = metric === 'rate' ? Math.max : Math.min
  return toFigure(
    own.map((sample, round) => {
      const baselines = others.map((rounds) => rounds[round]?.[metric] ?? Number.NaN)
      return (sample[metric] ?? Number.NaN) / best(...baselines)
    }),
  )
}

function toFinding(
  text: string,
  { metric, figure, isRatio, goal }: Omit<Finding, 'text' | 'met' | 'goal'> & { goal?: Goal | undefined },
): Finding {
  return { text, metric, isRatio, figure, goal, met: goal && isMet(figure.median, goal) }
}

function isMet(value: number, goal: Goal): boolean {
  return 'atLeast' in goal ? value >= goal.atLeast : value <= goal.atMost
}

/** The median, for an even number of values the mean of the middle two. */
export function toFigure(values: readonly number[]): Figure {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = (sorted.length - 1) / 2
  const median = ((sorted[Math.floor(middle)] ?? Number.NaN) + (sorted[Math.ceil(middle)] ?? Number.NaN)) / 2
  return { median, min: sorted[0] ?? Number.NaN, max: sorted.at(-1) ?? Number.NaN }
}
