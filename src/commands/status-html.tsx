/** @jsxImportSource hono/jsx */

import type { JSX } from 'hono/jsx/jsx-runtime'
import type { Site } from '../config/site-file.ts'
import { createColors } from '../page/brand.ts'
import { countRecent, type StatusDay, type StoreStatus } from '../subscriber.ts'
import { toNumber } from '../words.ts'

/**
 * Renders the days of a list as one HTML file without scripts. It shows complete days (UTC) only: a picture that moved with each
 * subscription would tell who is on the list.
 *
 * @param site gives the heading and the colors
 * @param problem why the list cannot be written
 */
export function renderStatus(site: Site, status: StoreStatus, problem: string | undefined): string {
  const days = status.days.slice(0, -1)
  const { date = '', total = 0 } = days.at(-1) ?? {}
  const page = (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <title>{`${toNumber(total)} subscribers · ${site.name}`}</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <style dangerouslySetInnerHTML={{ __html: createColors(site.accent) + STYLE }} />
      </head>
      <body>
        <main>
          <h1 lang={site.languages[0]}>
            <bdi>{site.name}</bdi>
          </h1>
          <p>At the end of {date} (UTC)</p>
          <ul>
            <li>
              <b>{toNumber(total)}</b> subscribers
            </li>
            {[7, 30].map((count) => (
              <li key={count}>
                <b>{toNumber(countRecent(status.days, count))}</b> in {count} days
              </li>
            ))}
          </ul>
          {createChart(days)}
          {problem !== undefined && <p>The list cannot be written: {problem}</p>}
        </main>
      </body>
    </html>
  )
  return `<!doctype html>\n${page}\n`
}

/** After `createColors`. A column of a pale accent has an edge, as the button of the page. */
const STYLE = `:root{color-scheme:light dark;--edge:#87827a;--muted:#5f5b53;--line:#e5e0d6;background:var(--background);color:#1f1d1a}
@media(prefers-color-scheme:dark){:root{--edge:#7f7b73;--muted:#aca79e;--line:#33312d;color:#efece6}}
body{margin:2.5rem 0;font:1rem/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
main{max-width:45rem;margin:auto;padding:0 1.25rem}
h1,b{font:600 2.25rem/1.1 Georgia,"Noto Serif",serif}
p{color:var(--muted)}
h1,p,ul{margin:0}
ul{display:flex;flex-wrap:wrap;gap:1rem 3rem;margin:1.5rem 0;padding:0;list-style:none}
b{display:block}
svg{display:block;width:100%}
rect{fill:var(--fill);stroke:var(--rim)}
line{stroke:var(--line)}
text{fill:var(--muted);font-size:12px}
@media(max-width:30rem){text{font-size:18px}}`

/** The width of a day in the plot, in pixels. The number is left of the plot, the dates below. */
const DAY_WIDTH = 8

/** The height of the plot, in pixels. */
const HEIGHT = 200

/** The room around the plot, in pixels: for half a line of text above, the number on the left, and the dates below. */
const ROOM = { top: 12, left: 56, bottom: 28 } as const

/** Between two columns, in pixels. */
const GAP = 3

/** From the plot to the foot of the dates below it, in pixels. */
const DATE_OFFSET = 22

/** Draws a column for each day, with a line at the best day, and the first and the last day on the axis. */
function createChart(days: readonly StatusDay[]): JSX.Element {
  const highest = Math.max(...days.map(({ added }) => added), 1)
  const width = days.length * DAY_WIDTH
  return (
    <svg
      viewBox={`${-ROOM.left} ${-ROOM.top} ${width + ROOM.left} ${HEIGHT + ROOM.top + ROOM.bottom}`}
      role="img"
      aria-label={`New subscribers on each of the last ${days.length} days`}
    >
      <line x2={width} />
      <text x="-8" y="4" text-anchor="end">
        {highest.toLocaleString('en', { notation: 'compact' })}
      </text>
      {days.map(({ date, added }, index) => {
        // A day with a subscriber has a column.
        const height = Math.ceil((added / highest) * HEIGHT)
        return (
          <rect x={index * DAY_WIDTH} y={HEIGHT - height} width={DAY_WIDTH - GAP} height={height}>
            <title>{`${date}: ${added}`}</title>
          </rect>
        )
      })}
      <text y={HEIGHT + DATE_OFFSET}>{days[0]?.date}</text>
      <text x={width} y={HEIGHT + DATE_OFFSET} text-anchor="end">
        {days.at(-1)?.date}
      </text>
    </svg>
  )
}
