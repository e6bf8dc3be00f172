/** @jsxImportSource hono/jsx */

import type { JSX } from 'hono/jsx/jsx-runtime'
import manifest from '../../package.json' with { type: 'json' }
import type { StatusDay, StoreStatus } from '../subscriber.ts'
import { toNumber } from './output.ts'

/**
 * Renders the state of a list as one HTML file without scripts. It shows complete days (UTC) only, and sizes in whole MiB: a
 * picture that moved with each subscription would tell who is on the list.
 *
 * @param list its name, without a password
 * @param problem why the list cannot be written
 */
export function renderStatus(list: string, status: StoreStatus, problem: string | undefined): string {
  const { bytes, freeBytes, suppressed } = status
  const days = status.days.slice(0, -1)
  const { date = '', total = 0 } = days.at(-1) ?? {}
  const [best] = days.toSorted((one, other) => other.added - one.added)
  const facts = [
    ['Best day', best?.added ? `${best.date}: ${toNumber(best.added)}` : 'none yet'],
    ['The list can be written', problem === undefined ? 'yes' : `no: ${problem}`],
    ['Size', `${toNumber(Math.ceil(bytes / MIB))} MiB`],
    ['Free on the disk', freeBytes === undefined ? 'unknown' : `${toNumber(Math.floor(freeBytes / MIB))} MiB`],
    ['Removed people', toNumber(suppressed)],
    ['Rollcall', manifest.version],
  ]
  const page = (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <title>{`${toNumber(total)} subscribers · ${list}`}</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
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

/** The size of the plot in pixels. The numbers are left of it, the dates below. */
const [DAY_WIDTH, HEIGHT] = [8, 200]

/** Draws a column for each day, with lines at zero and at the best day, and the first day of each month on the axis. */
function createChart(days: readonly StatusDay[]): JSX.Element {
  const highest = Math.max(...days.map(({ added }) => added), 1)
  const width = days.length * DAY_WIDTH
  return (
    <svg
      viewBox={`-56 -12 ${width + 56} ${HEIGHT + 40}`}
      role="img"
      aria-label={`New subscribers on each of the last ${days.length} days`}
    >
      <line x2={width} />
      <line x2={width} y1={HEIGHT} y2={HEIGHT} />
      <text x="-8" y="4" text-anchor="end">
        {highest.toLocaleString('en', { notation: 'compact' })}
      </text>
      <text x="-8" y={HEIGHT + 4} text-anchor="end">
        0
      </text>
      {days.map(({ date, added }, index) => {
        // A day with a subscriber has a column.
        const height = Math.ceil((added / highest) * HEIGHT)
        return (
          <>
            <rect x={index * DAY_WIDTH} y={HEIGHT - height} width={DAY_WIDTH - 2} height={height}>
              <title>{`${date}: ${added}`}</title>
            </rect>
            {date.endsWith('-01') && (
              <text x={index * DAY_WIDTH} y={HEIGHT + 22}>
                {date}
              </text>
            )}
          </>
        )
      })}
    </svg>
  )
}
