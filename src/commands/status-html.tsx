/** @jsxImportSource hono/jsx */

import type { JSX } from 'hono/jsx/jsx-runtime'
import manifest from '../../package.json' with { type: 'json' }
import type { StatusDay, StoreStatus } from '../subscriber.ts'

/**
 * Renders the state of a list as one HTML file without scripts. It shows complete days (UTC) only, and sizes in whole MiB: a
 * picture that moved with each subscription would tell who is on the list.
 *
 * @param list its name, without a password
 * @param problem why the list cannot be written
 */
export function renderStatus(list: string, status: StoreStatus, problem: string | undefined): string {
  const days = status.days.slice(0, -1)
  const { date = '', total = 0 } = days.at(-1) ?? {}
  const best = days.reduce<StatusDay | undefined>((one, day) => (day.added > (one?.added ?? 0) ? day : one), undefined)
  const facts = [
    ['Best day', best ? `${toDate(best.date)}: ${toNumber(best.added)}` : 'none yet'],
    ['The list can be written', problem === undefined ? 'yes' : `no: ${problem}`],
    ['Size', toSize(Math.ceil(status.bytes / MIB))],
    ['Free on the disk', status.freeBytes === undefined ? 'unknown' : toSize(Math.floor(status.freeBytes / MIB))],
    ['Removed people', toNumber(status.suppressed)],
    ['Rollcall', manifest.version],
  ]
  const page = (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <title>{`${toNumber(total)} subscribers · ${list}`}</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <style dangerouslySetInnerHTML={{ __html: STYLE }} />
      </head>
      <body>
        <h1>{list}</h1>
        <p>At the end of {date} (UTC)</p>
        <ul>
          <li>
            <b>{toNumber(total)}</b> subscribers
          </li>
          {[7, 30].map((count) => createPeriod(days, count))}
        </ul>
        {createChart(days)}
        <dl>
          {facts.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      </body>
    </html>
  )
  return `<!doctype html>\n${page}\n`
}

const MIB = 2 ** 20

const STYLE = `:root{color-scheme:light dark;--bar:#2b5a4e;--muted:#5f5b53;--line:#e5e0d6;background:#faf9f6;color:#1f1d1a}
@media(prefers-color-scheme:dark){:root{--bar:#8fd0b8;--muted:#aca79e;--line:#33312d;background:#161513;color:#efece6}}
body{max-width:45rem;margin:2.5rem auto;padding:0 1.25rem;font:1rem/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
h1{margin:0;font-size:1.25rem}
p,dt,small{color:var(--muted)}
p,ul,dd{margin:0}
ul{display:flex;flex-wrap:wrap;gap:1rem 3rem;margin:1.5rem 0;padding:0;list-style:none}
b{display:block;font:600 2.25rem/1.1 Georgia,serif}
small{display:block}
svg{display:block;width:100%;fill:var(--bar)}
line{stroke:var(--line)}
text{fill:var(--muted);font-size:12px}
@media(max-width:30rem){text{font-size:18px}}
dl{display:grid;grid-template-columns:repeat(auto-fill,minmax(13rem,1fr));gap:1rem;margin:2rem 0}`

/** The subscribers of the last days, and how many more or fewer they are than those of as many days before. */
function createPeriod(days: readonly StatusDay[], count: number): JSX.Element {
  const sum = (part: readonly StatusDay[]) => part.reduce((total, { added }) => total + added, 0)
  const now = sum(days.slice(-count))
  const change = now - sum(days.slice(-2 * count, -count))
  const words = change === 0 ? 'as many as' : `${toNumber(Math.abs(change))} ${change > 0 ? 'more' : 'fewer'} than`
  return (
    <li key={count}>
      <b>{toNumber(now)}</b> in {count} days
      <small>
        {words} in the {count} days before
      </small>
    </li>
  )
}

/** The chart in pixels: the plot begins at LEFT and ends at BOTTOM; the dates are below it. */
const [WIDTH, HEIGHT, LEFT, BOTTOM] = [720, 240, 56, 210]

/** Draws a column for each day, with lines at round numbers, and the first day of each month on the axis. */
function createChart(days: readonly StatusDay[]): JSX.Element {
  const highest = Math.max(...days.map(({ added }) => added), 1)
  const step = toStep(highest / 4)
  const top = Math.ceil(highest / step) * step
  const toY = (value: number) => toPixels(BOTTOM - (value / top) * (BOTTOM - 12))
  const toX = (index: number) => toPixels(LEFT + (index * (WIDTH - LEFT)) / days.length)
  return (
    <svg
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      role="img"
      aria-label={`New subscribers on each of the last ${days.length} days`}
    >
      {Array.from({ length: top / step + 1 }, (_, index) => index * step).map((value) => (
        <>
          <line x1={LEFT} x2={WIDTH} y1={toY(value)} y2={toY(value)} />
          <text x={LEFT - 8} y={toY(value) + 4} text-anchor="end">
            {value.toLocaleString('en', { notation: 'compact' })}
          </text>
        </>
      ))}
      {days.map(({ date, added }, index) => (
        <>
          <rect x={toX(index)} y={toY(added)} width="5.5" height={toPixels(BOTTOM - toY(added))}>
            <title>{`${date}: ${added}`}</title>
          </rect>
          {date.endsWith('-01') && (
            <text x={toX(index)} y={HEIGHT - 8}>
              {toDate(date)}
            </text>
          )}
        </>
      ))}
    </svg>
  )
}

/** Returns the smallest of 1, 2, 5, 10, 20 and so on that is not below a number. */
function toStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)))
  return power * ([1, 2, 5].find((factor) => factor * power >= least) ?? 10)
}

function toPixels(value: number): number {
  return Math.round(value * 10) / 10
}

function toNumber(value: number): string {
  return value.toLocaleString('en')
}

function toSize(mebibytes: number): string {
  return mebibytes < 1024 ? `${mebibytes} MiB` : `${toNumber(Math.round(mebibytes / 102.4) / 10)} GiB`
}

function toDate(date: string): string {
  return new Date(date).toLocaleDateString('en', { day: 'numeric', month: 'short', timeZone: 'UTC' })
}
