/** The chart of a run: requests a second of everybody in a trial, as SVG that suits light and dark pages. */

import { CONTENDERS, type Contender } from './contenders.ts'
import type { Outcome, Row } from './figures.ts'

const WIDTH = 760
const ROW = 26
const LEFT = 250
const RIGHT = 80
const TOP = 44
const BOTTOM = 34

const LEGEND: Record<Contender['role'], string> = {
  rollcall: 'Rollcall: on disk before the answer',
  limit: 'keeps nothing',
  durable: 'on disk before the answer',
  relaxed: 'on disk some time later',
}

const STYLE = `
  text { font: 13px system-ui, sans-serif; fill: #24292f }
  .title { font-weight: 600; font-size: 15px }
  .figure { font-variant-numeric: tabular-nums }
  .rollcall { fill: #1a7f37 } .limit { fill: #8c959f } .durable { fill: #0969da } .relaxed { fill: #9a6700 }
  @media (prefers-color-scheme: dark) {
    text { fill: #d1d7e0 }
    .rollcall { fill: #3fb950 } .limit { fill: #6e7681 } .durable { fill: #4493f8 } .relaxed { fill: #d29922 }
  }
`

/** Draws the rates of a trial, the fastest first. */
export function toChart({ title, contenders }: Outcome): string {
  const rows = contenders.filter(({ figures }) => figures.rate).toSorted((a, b) => rateOf(b) - rateOf(a))
  const height = TOP + rows.length * ROW + BOTTOM
  const scale = (WIDTH - LEFT - RIGHT) / Math.max(...rows.map(rateOf))
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${title}: requests a second">
<style>${STYLE}</style>
<text class="title" x="0" y="20">${title}: requests a second</text>
${rows.map((row, index) => toBar(row, TOP + index * ROW, scale)).join('\n')}
${toLegend(height - 10)}
</svg>
`
}

function toBar(row: Row, y: number, scale: number): string {
  const width = Math.max(rateOf(row) * scale, 1)
  const middle = y + ROW / 2 + 1
  const figure = Math.round(rateOf(row)).toLocaleString('en')
  return [
    `<text x="${LEFT - 10}" y="${middle}" text-anchor="end">${row.title.replaceAll('`', '')}</text>`,
    `<rect class="${CONTENDERS[row.name].role}" x="${LEFT}" y="${y}" width="${width.toFixed(1)}" height="${ROW - 8}" rx="3"/>`,
    `<text class="figure" x="${(LEFT + width + 8).toFixed(1)}" y="${middle}">${figure}</text>`,
  ].join('')
}

function toLegend(y: number): string {
  let x = 0
  return (Object.keys(LEGEND) as Contender['role'][])
    .map((role) => {
      const at = x
      x += 30 + LEGEND[role].length * 6.4
      return `<rect class="${role}" x="${at}" y="${y - 10}" width="10" height="10" rx="2"/><text x="${at + 15}" y="${y}">${LEGEND[role]}</text>`
    })
    .join('')
}

function rateOf({ figures }: Row): number {
  return figures.rate?.median ?? 0
}
