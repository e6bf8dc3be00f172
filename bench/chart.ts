/** The chart of a trial: the rate of each contender, as SVG for light and dark pages. */

import type { Contender } from './contenders.ts'
import type { Outcome } from './report.ts'

type Row = Outcome['contenders'][number]

const WIDTH = 760
const ROW = 26
const LEFT = 250
const RIGHT = 80
const TOP = 44
const BOTTOM = 34

const LEGEND: readonly (readonly [Contender['role'], string])[] = [
  ['rollcall', 'Rollcall: on disk before the response'],
  ['limit', 'stores nothing'],
  ['durable', 'on disk before the response'],
  ['relaxed', 'on disk some time later'],
]

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

/** Draws the rates, the highest first. */
export function toChart({ title, contenders }: Outcome): string {
  const rows = contenders.filter(({ figures }) => figures.rate).toSorted((a, b) => rateOf(b) - rateOf(a))
  const height = TOP + rows.length * ROW + BOTTOM
  const scale = (WIDTH - LEFT - RIGHT) / Math.max(...rows.map(rateOf))
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${title}: requests per second">
<style>${STYLE}</style>
<text class="title" x="0" y="20">${title}: requests per second</text>
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
    `<rect class="${row.role}" x="${LEFT}" y="${y}" width="${width.toFixed(1)}" height="${ROW - 8}" rx="3"/>`,
    `<text class="figure" x="${(LEFT + width + 8).toFixed(1)}" y="${middle}">${figure}</text>`,
  ].join('')
}

function toLegend(y: number): string {
  let x = 0
  return LEGEND.map(([role, text]) => {
    const left = x
    x += 30 + text.length * 6.4
    return `<rect class="${role}" x="${left}" y="${y - 10}" width="10" height="10" rx="2"/><text x="${left + 15}" y="${y}">${text}</text>`
  }).join('')
}

function rateOf({ figures }: Row): number {
  return figures.rate?.median ?? 0
}
