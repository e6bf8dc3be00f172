/** The icon of the site: the first letter of its name on a coloured tile as SVG, and an envelope as ICO for clients without SVG support. */

import { BACKGROUND } from './accent.ts'
import { isInEnvelope, setPixel } from './envelope.ts'

export const FAVICON_PATH = '/favicon.svg'

const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' })

/**
 * Returns what stands for a name: its first letter or digit as a reader sees it, with all combining characters, as a
 * capital; else its first emoji, symbol or punctuation mark; else nothing.
 */
export function toInitial(name: string): string {
  const characters = Array.from(graphemes.segment(name), ({ segment }) => segment)
  const first = [/^[\p{L}\p{N}]/u, /^[\p{S}\p{P}]/u].map((kind) => characters.find((character) => kind.test(character)))
  const initial = first.find((character) => character !== undefined) ?? ''
  const capital = initial.toUpperCase()
  // The capital of some letters is two, such as of ß.
  return capital.length === initial.length ? capital : initial
}

/** Builds the icon as SVG. @param colour of the tile, as `#rrggbb`, on which the background of the light theme is legible */
export function createFaviconSvg(name: string, colour: string): string {
  const letter = Bun.escapeHTML(toInitial(name))
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="${colour}"/><text x="16" y="16" dy=".35em" text-anchor="middle" font-family="Georgia,serif" font-size="20" font-weight="700" fill="${BACKGROUND.light}">${letter}</text></svg>\n`
}

/** Width and height of the ICO in pixels. */
const SIZE = 16

const ENVELOPE = { left: 3, top: 4, right: 13, bottom: 12, edge: 0 } as const

const ICON_DIRECTORY_BYTES = 6 + 16
const BITMAP_HEADER_BYTES = 40
const PALETTE_BYTES = 2 * 4
/** One bit per pixel. Each row is padded to four bytes. */
const ROW_BYTES = 4
const PLANE_BYTES = SIZE * ROW_BYTES

/** Builds the icon as ICO: one bitmap of two colours, then its mask. @param colour of the tile, as `#rrggbb` */
export function createFaviconIco(colour: string): Uint8Array {
  const imageBytes = BITMAP_HEADER_BYTES + PALETTE_BYTES + 2 * PLANE_BYTES
  const bytes = new Uint8Array(ICON_DIRECTORY_BYTES + imageBytes)
  const view = new DataView(bytes.buffer)

  // ICONDIR: type 1, one image. ICONDIRENTRY: width, height, colours, planes, bits per pixel, length, offset.
  view.setUint16(2, 1, true)
  view.setUint16(4, 1, true)
  bytes.set([SIZE, SIZE, 2], 6)
  view.setUint16(10, 1, true)
  view.setUint16(12, 1, true)
  view.setUint32(14, imageBytes, true)
  view.setUint32(18, ICON_DIRECTORY_BYTES, true)

  // BITMAPINFOHEADER: its own length, width, the sum of the heights of bitmap and mask, planes, bits per pixel.
  view.setUint32(22, BITMAP_HEADER_BYTES, true)
  view.setInt32(26, SIZE, true)
  view.setInt32(30, 2 * SIZE, true)
  view.setUint16(34, 1, true)
  view.setUint16(36, 1, true)

  const palette = ICON_DIRECTORY_BYTES + BITMAP_HEADER_BYTES
  view.setUint32(palette, Number.parseInt(colour.slice(1), 16), true)
  view.setUint32(palette + 4, 0xffffff, true)
  drawPlane(bytes.subarray(palette + PALETTE_BYTES), (x, y) => isInEnvelope(ENVELOPE, x, y))
  drawPlane(bytes.subarray(palette + PALETTE_BYTES + PLANE_BYTES), isCorner)
  return bytes
}

/** Sets the bit of each pixel that `isSet` selects. Rows go from bottom to top. */
function drawPlane(plane: Uint8Array, isSet: (x: number, y: number) => boolean): void {
  for (let y = 0; y < SIZE; y++) {
    for (let x = 0; x < SIZE; x++) {
      if (isSet(x, y)) setPixel(plane, (SIZE - 1 - y) * ROW_BYTES, x)
    }
  }
}

/** Whether a pixel is transparent. */
function isCorner(x: number, y: number): boolean {
  return (x === 0 || x === SIZE - 1) && (y === 0 || y === SIZE - 1)
}
