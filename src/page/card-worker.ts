/** The thread that draws one picture as PNG. A build has the font and the WebAssembly as files of its own. */

import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
// @ts-expect-error TypeScript knows no such file.
import font from '@expo-google-fonts/fraunces/600SemiBold/Fraunces_600SemiBold.ttf' with { type: 'file' }
import { initWasm, Resvg } from '@resvg/resvg-wasm'
// @ts-expect-error TypeScript knows no such file.
import renderer from '@resvg/resvg-wasm/index_bg.wasm' with { type: 'file' }
import type { Picture } from '../config/picture.ts'
import { BACKGROUND, toLabel } from './brand.ts'
import type { Drawing } from './site-assets.ts'
import { toWidth } from './title.ts'

declare const self: Worker

self.onmessage = async ({ data }: MessageEvent<Drawing>) => {
  await initWasm(readFile(renderer))
  const { width, height, accent, content } = data
  // The page shows a logo on this background too.
  const fill = typeof content === 'string' ? accent : BACKGROUND.light
  const shown = typeof content === 'string' ? createText(content, data) : createLogo(content, data)
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}"><rect width="100%" height="100%" fill="${fill}"/>${shown}</svg>`
  self.postMessage(new Resvg(svg, { font: { fontBuffers: [readFile(font)] } }).render().asPng())
}

/** Reads a file of a package. Its path is absolute, or, in the npm package, next to this one. */
const readFile = (path: string) => readFileSync(resolve(import.meta.dir, path))

/** Places a logo: an icon is the whole logo, and a card has room around it. */
function createLogo({ mediaType, bytes }: Picture, { width, height }: Drawing): string {
  const margin = width === height ? 0 : 20
  const size = `${100 - 2 * margin}%`
  const data = `data:${mediaType};base64,${Buffer.from(bytes).toString('base64')}`
  return `<image x="${margin}%" y="${margin}%" width="${size}" height="${size}" href="${data}"/>`
}

/** A text has at most this many lines. */
const MAX_LINES = 4

/** A text takes at most this share of the width of the picture. `toWidth` is a little more than the width of a text. */
const MAX_WIDTH = 0.95

/** A text takes at most this share of the height of the picture. */
const MAX_HEIGHT = 0.75

/** From one line to the next, in em. */
const LINE_HEIGHT = 1.04

/** What is added between letters, in em. Below 0, so that they are closer, as in the titles of the page. */
const LETTER_SPACING = -0.02

/** From the middle of a capital letter to its foot, in em. */
const HALF_CAPITAL = 0.35

/** Places a text in the middle: in as many lines as let it be largest, but not larger than `maxSize`. */
function createText(text: string, { width, height, accent, maxSize }: Drawing): string {
  const choices = Array.from({ length: MAX_LINES }, (_, index) => {
    const lines = toLines(text, index + 1)
    const widest = Math.max(...lines.map(toWidth))
    const sizeForWidth = (MAX_WIDTH * width) / widest
    const sizeForHeight = (MAX_HEIGHT * height) / (LINE_HEIGHT * lines.length)
    return { lines, size: Math.min(sizeForWidth, sizeForHeight, maxSize) }
  })
  const { lines, size } = choices.reduce((best, choice) => (choice.size > best.size ? choice : best))
  const middleLine = (lines.length - 1) / 2
  const texts = lines.map((line, index) => {
    // In em from the middle of the picture to the foot of the line.
    const below = LINE_HEIGHT * (index - middleLine) + HALF_CAPITAL
    return `<text x="50%" y="${height / 2 + below * size}">${Bun.escapeHTML(line)}</text>`
  })
  const spacing = LETTER_SPACING * size
  const style = `font-family="Fraunces" font-weight="600" font-size="${size}" letter-spacing="${spacing}" text-anchor="middle"`
  return `<g ${style} fill="${toLabel(accent)}">${texts.join('')}</g>`
}

/** Breaks a text into at most this many lines, the longest of which is as short as possible. */
function toLines(text: string, count: number): string[] {
  // No line is shorter than the longest word.
  let length = Math.max(...text.split(' ').map((word) => word.length))
  let lines = fillLines(text, length)
  while (lines.length > count) {
    length++
    lines = fillLines(text, length)
  }
  return lines
}

/** Puts into each line as many words as fit. @param length the most characters of a line */
function fillLines(text: string, length: number): string[] {
  return text.match(new RegExp(`\\S.{0,${length - 1}}(?= |$)`, 'g')) ?? []
}
