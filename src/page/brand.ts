/** The colors and icons of the page, from the accent, the name and the logo of the owner. */

import type { Picture } from '../config/picture.ts'

type Accent = Readonly<Record<'light' | 'dark', string>>

/** The background of the page in each theme. */
export const BACKGROUND = { light: '#faf9f6', dark: '#161513' } as const

/**
 * Creates the style of the colors that depend on the accent. `--fill` is the accent exactly as the owner chose it, and
 * `--label` what is legible on it. `--rim` is the border of a fill, which is needed where the fill is close to the
 * background: 3 is the minimum contrast of a control (WCAG 2.2, success criterion 1.4.11).
 *
 * @param accent `#rrggbb` for each theme
 */
export function createColors(accent: Accent): string {
  const rule = (theme: keyof Accent) => {
    const fill = accent[theme]
    const background = BACKGROUND[theme]
    const rim = toContrast(fill, background) < 3 ? 'var(--edge)' : 'var(--fill)'
    return `:root{--fill:${fill};--label:${toLabel(fill)};--background:${background};--rim:${rim}}`
  }
  return `${rule('light')}@media (prefers-color-scheme:dark){${rule('dark')}}`
}

/** Returns black or white, whichever contrasts more: with any color, at least the square root of 21, which is 4.58. */
export function toLabel(color: string): '#000000' | '#ffffff' {
  return toContrast(color, '#000000') > toContrast(color, '#ffffff') ? '#000000' : '#ffffff'
}

/** Returns the contrast ratio of two colors, from 1 to 21: WCAG 2.2, "contrast ratio". */
function toContrast(one: string, other: string): number {
  const luminances = [toLuminance(one), toLuminance(other)]
  const lighter = Math.max(...luminances)
  const darker = Math.min(...luminances)
  return (lighter + 0.05) / (darker + 0.05)
}

/** Returns how bright a color is, from 0 to 1: WCAG 2.2, "relative luminance". @param color `#rrggbb` */
function toLuminance(color: string): number {
  const red = toLinear(color.slice(1, 3))
  const green = toLinear(color.slice(3, 5))
  const blue = toLinear(color.slice(5, 7))
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/** Converts two hexadecimal digits of a color to an amount of light. */
function toLinear(digits: string): number {
  const channel = Number.parseInt(digits, 16) / 255
  return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4
}

/** Builds the icon of a site without a square logo, as SVG: the initial of its name on the accent. */
export function createFavicon(name: string, accent: string): string {
  const letter = Bun.escapeHTML(toInitial(name))
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="${accent}"/><text x="16" y="16" dy=".35em" text-anchor="middle" font-family="Georgia,serif" font-size="20" font-weight="700" fill="${toLabel(accent)}">${letter}</text></svg>\n`
}

/** Returns the first letter or digit of a name with its accents, as a capital; otherwise its first character. */
export function toInitial(name: string): string {
  const characters = Array.from(new Intl.Segmenter().segment(name), ({ segment }) => segment)
  return (characters.find((character) => /[\p{L}\p{N}]/u.test(character)) ?? characters[0] ?? '').toUpperCase()
}

/** The attribute with four numbers: where the picture begins, then its width and its height. */
const VIEW_BOX = /\sviewBox\s*=\s*["']\s*[-\d.e]+[\s,]+[-\d.e]+[\s,]+([\d.e]+)[\s,]+([\d.e]+)/i

/** The bytes with the width and the height of a PNG, 4 for each: after the signature, and the length and the name of the first chunk. */
const PNG_SIZE_START = 16
const PNG_SIZE_END = 24

/** Returns the size in the header of a PNG (section 11.2.1), or in the root element of an SVG; undefined if there is none. */
export function toSize({ mediaType, bytes }: Picture) {
  const file = Buffer.from(bytes)
  if (mediaType === 'image/png') {
    if (file.length < PNG_SIZE_END) return undefined
    return { width: file.readUInt32BE(PNG_SIZE_START), height: file.readUInt32BE(PNG_SIZE_START + 4) }
  }
  const root = /<svg[^>]*>/.exec(file.toString('utf8'))?.[0] ?? ''
  const box = VIEW_BOX.exec(root)
  // The box has the shape of the picture, also where width and height are in units such as `em`.
  const width = box ? box[1] : /\swidth\s*=\s*["']([\d.]+)/.exec(root)?.[1]
  const height = box ? box[2] : /\sheight\s*=\s*["']([\d.]+)/.exec(root)?.[1]
  return width === undefined ? undefined : { width: Number(width), height: Number(height) }
}
