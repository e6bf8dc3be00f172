/** The thread that draws one picture as PNG. An executable has the font and the WebAssembly as files of its own. */

import { readFileSync } from 'node:fs'
// @ts-expect-error TypeScript knows no such file.
import font from '@expo-google-fonts/fraunces/600SemiBold/Fraunces_600SemiBold.ttf' with { type: 'file' }
import { initWasm, Resvg } from '@resvg/resvg-wasm'
// @ts-expect-error TypeScript knows no such file.
import renderer from '@resvg/resvg-wasm/index_bg.wasm' with { type: 'file' }
import { BACKGROUND, toLabel } from './brand.ts'
import type { Drawing } from './card.ts'

declare const self: Worker

self.onmessage = async ({ data }: MessageEvent<Drawing>) => {
  await initWasm(readFileSync(renderer))
  const { width, height, fill } = data
  const background = `<rect width="${width}" height="${height}" fill="${fill}"/>`
  const image = createImage(background + createContent(data), data)
  self.postMessage(image.render().asPng())
}

const FONT = { fontBuffers: [readFileSync(font)] }

function createImage(content: string, { width, height }: Drawing) {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}">${content}</svg>`
  return new Resvg(svg, { font: FONT })
}

function createContent(drawing: Drawing): string {
  const { width, height, fill, text, logo } = drawing
  if (text) return createText(text, drawing)
  const at = (share: number) => `x="${share * width}" y="${share * height}"`
  const size = (share: number) => `width="${share * width}" height="${share * height}"`
  if (logo) {
    const data = `data:${logo.mediaType};base64,${Buffer.from(logo.bytes).toString('base64')}`
    // An icon is the whole logo.
    if (width === height) return `<image ${size(1)} href="${data}"/>`
    // The page shows it on this background too.
    return `<rect ${at(0.2)} ${size(0.6)} rx="${0.06 * height}" fill="${BACKGROUND.light}"/><image ${at(0.28)} ${size(0.44)} href="${data}"/>`
  }
  const move = `translate(${width / 2} ${height / 2}) scale(${height / 110})`
  return `<path d="M-24-17h48v34h-48zl24 19 24-19" transform="${move}" fill="none" stroke="${toLabel(fill)}" stroke-width="4" stroke-linejoin="round"/>`
}

/** The text has at most this many lines, in this share of the width and the height. */
const [MAX_LINES, MAX_WIDTH, MAX_HEIGHT] = [4, 0.84, 0.7]

/** Places a text in the middle: in as many lines as let it be largest, but not larger than `maxSize`. */
function createText(text: string, drawing: Drawing): string {
  const { width, height, fill, maxSize } = drawing
  const places = Array.from({ length: MAX_LINES }, (_, index) => {
    const shape = createLines(toLines(text, index + 1))
    const box = createImage(shape, drawing).getBBox()
    if (!box) throw new Error('the text is empty')
    const scale = Math.min((MAX_WIDTH * width) / box.width, (MAX_HEIGHT * height) / box.height, maxSize / LINE_SIZE)
    const [x, y] = [width / 2 - (box.x + box.width / 2) * scale, height / 2 - (box.y + box.height / 2) * scale]
    return { scale, markup: `<g transform="translate(${x} ${y}) scale(${scale})" fill="${toLabel(fill)}">${shape}</g>` }
  })
  return places.reduce((best, place) => (place.scale > best.scale ? place : best)).markup
}

/** The size of the lines before they are scaled. */
const LINE_SIZE = 100

function createLines(lines: readonly string[]): string {
  const texts = lines.map((line, index) => `<text y="${1.04 * LINE_SIZE * (index + 1)}">${Bun.escapeHTML(line)}</text>`)
  const style = `font-family="Fraunces" font-weight="600" font-size="${LINE_SIZE}" letter-spacing="-2" text-anchor="middle"`
  return `<g ${style}>${texts.join('')}</g>`
}

/** Breaks a text into at most this many lines, the longest of which is as short as possible. */
function toLines(text: string, count: number): string[] {
  for (let length = Math.max(...text.split(' ').map((word) => word.length)); ; length++) {
    const lines = text.match(new RegExp(`\\S.{0,${length - 1}}(?= |$)`, 'g')) ?? []
    if (lines.length <= count) return lines
  }
}
