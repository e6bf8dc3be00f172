/** The font of titles: Fraunces, in the subset for Latin. It has no Arabic, Chinese, Cyrillic or Japanese letters. */

import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { latin } from '@fontsource/fraunces/unicode.json'

/** The code points of the subset, as the bounds of each range. */
const RANGES = latin.split(',').map((range) => {
  const [first = '', last = first] = range.slice(2).split('-')
  return [Number.parseInt(first, 16), Number.parseInt(last, 16)] as const
})

/** Reads the font, as WOFF2. */
export function readTitleFont(): Promise<Uint8Array> {
  return readFile(fileURLToPath(import.meta.resolve('@fontsource/fraunces/files/fraunces-latin-600-normal.woff2')))
}

/**
 * Whether the font has every letter of a text. A title in two fonts is ugly, so a text with another letter is in a font
 * of the system. Symbols and emoji may come from another font.
 */
export function isInTitleFont(text: string): boolean {
  const letters = text.replace(/\p{RGI_Emoji}/gv, '').match(/[\p{L}\p{M}\p{N}]/gu) ?? []
  return letters.length > 0 && letters.every((letter) => isInSubset(letter.codePointAt(0) ?? 0))
}

function isInSubset(codePoint: number): boolean {
  return RANGES.some(([first, last]) => codePoint >= first && codePoint <= last)
}
