/** The text of a progress bar (pure). */

export interface ProgressState {
  readonly verb: string
  readonly unit: 'rows' | 'bytes'
  /** The part of the total that is done. */
  readonly done: number
  /** In the same unit as `done`; undefined when it is not known. */
  readonly total: number | undefined
  /** The number that is shown with its rate. */
  readonly amount: number
  /** Seconds since the start. */
  readonly seconds: number
}

const MIN_BAR = 8
const MAX_BAR = 24

/** Returns the longest form that fits: with a bar, without it, or without the amount. Without a total: no share, no time. */
export function toProgressLine(state: ProgressState, columns: number): string {
  const { verb, unit, done, total, amount, seconds } = state
  const rate = seconds > 0 ? amount / seconds : 0
  const [head, tail] =
    unit === 'rows'
      ? [`${toNumber(amount)} ${amount === 1 ? 'row' : 'rows'}`, `${toNumber(rate)} rows/s`]
      : toBytePair(amount, rate)
  if (!total) return toFirst([`${verb} ${head}, ${tail}`, `${verb} ${head}`], columns)
  const share = Math.min(done / total, 1)
  const percent = `${Math.floor(share * 100)}%`
  const left = share > 0 ? `, ${toDuration((seconds * (1 - share)) / share)} left` : ''
  const long = `${percent}, ${head}, ${tail}${left}`
  const width = Math.min(MAX_BAR, columns - verb.length - long.length - 2)
  const bar = width < MIN_BAR ? [] : [`${verb} ${toBar(share, width)} ${long}`]
  const short = [`${tail}${left}`, `${tail.replace(' rows', '')}${left}`].map((end) => `${verb} ${percent}, ${end}`)
  return toFirst([...bar, `${verb} ${long}`, ...short, `${percent}${left}`], columns)
}

function toFirst(forms: readonly string[], columns: number): string {
  return forms.find((form) => form.length <= columns) ?? forms.at(-1)?.slice(0, columns) ?? ''
}

// U+2588 is a full block, U+2591 a light one.
function toBar(share: number, width: number): string {
  const full = Math.round(share * width)
  return '\u2588'.repeat(full) + '\u2591'.repeat(width - full)
}

const toNumber = (value: number) => Math.round(value).toLocaleString('en')

function toBytePair(bytes: number, rate: number): [string, string] {
  const toMegabytes = (value: number) => `${(value / 1e6).toFixed(1)} MB`
  return [toMegabytes(bytes), `${toMegabytes(rate)}/s`]
}

/** Such as `8s`, `2m08s` or `1h02m`. */
function toDuration(seconds: number): string {
  const [whole, pad] = [Math.ceil(seconds), (value: number) => String(value).padStart(2, '0')]
  if (whole < 60) return `${whole}s`
  const minutes = Math.floor(whole / 60)
  if (minutes < 60) return `${minutes}m${pad(whole % 60)}s`
  return `${Math.floor(minutes / 60)}h${pad(minutes % 60)}m`
}
