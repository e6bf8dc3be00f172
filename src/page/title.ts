/** The font and the width of titles. */

import { latin, vietnamese } from '@fontsource/fraunces/unicode.json'

/** The files of Fraunces, with the letters that each has. `extended` has those of Central Europe and Turkish. */
export const SUBSETS = {
  latin,
  vietnamese,
  extended: 'U+0100-0148,U+014A-017E,U+0218-021B,U+1E80-1E85,U+1E9E',
} as const

export type Subset = keyof typeof SUBSETS

/** The files that a text may need, with the smallest first. */
const CHOICES: readonly (readonly Subset[])[] = [
  ['latin'],
  ['latin', 'vietnamese'],
  ['latin', 'extended'],
  ['latin', 'vietnamese', 'extended'],
]

/** Matches a text of characters that are in subsets, which are lists such as `U+0000-00FF,U+0131`. */
function toPattern(subsets: readonly Subset[]): RegExp {
  const ranges = subsets.map((subset) => SUBSETS[subset]).join()
  // From `U+0000-00FF,U+0131` to `\u{0000}-\u{00FF}\u{0131}`.
  const escaped = ranges.replace(/[\dA-F]{4}/g, '\\u{$&}').replace(/U\+|,/g, '')
  return new RegExp(`^[${escaped}]*$`, 'u')
}

/** Two marks belong to emoji. `\p{RGI_Emoji}` would name all emoji, but takes 15 ms to compile. */
const LETTER = /[[\p{L}\p{M}\p{N}]--[\u{FE0F}\u{20E3}]]/gv

/**
 * Returns the files that have every letter of a text; none if a letter is in no file, or the text has none. A title in two fonts is
 * ugly, so such a text is in a font of the system. Symbols and emoji may come from another font.
 */
export function toSubsets(text: string): readonly Subset[] {
  const letters = text.match(LETTER)?.join('')
  if (letters === undefined) return []
  return CHOICES.find((subsets) => toPattern(subsets).test(letters)) ?? []
}

/** Whether the page of a site with this name has the font for another text: it has the files for the name only. */
export function hasTitleFont(name: string, text: string): boolean {
  const files = toSubsets(name)
  const needed = toSubsets(text)
  return needed.length > 0 && needed.every((subset) => files.includes(subset))
}

/** Returns a text as a picture shows it, without symbols and emoji that Fraunces lacks; undefined if it lacks a letter, or there is none. */
export function toCardText(text: string): string | undefined {
  const normal = text.normalize('NFC')
  if (toSubsets(normal).length === 0) return undefined
  const whole = toPattern(['latin', 'vietnamese', 'extended'])
  // The font lists the invisible characters between parts of an emoji.
  const shown = [...normal].filter((character) => whole.test(character) && !/\p{Cf}/u.test(character))
  return shown.join('').trim().replace(/\s+/g, ' ')
}

/**
 * How wide letters are, in em: at least as wide as in Fraunces, Georgia, Noto Serif and DejaVu Serif, less the negative space
 * between the letters of a title. The first class with a letter counts.
 */
const WIDTHS: readonly (readonly [letters: RegExp, width: number])[] = [
  [/\s/, 0.25],
  // The vowels and the last consonants of Hangul are in the square of the first.
  [/[\p{Mn}\p{Cf}\u1160-\u11ff]/u, 0],
  [/[ijlftI1ıіїІЇι.,:;!|'’()·-]/, 0.46],
  [/[ŒЖШЩЮЫ]/, 1.28],
  [/[MWœÆ@%—МΜжшщю]/, 1.12],
  [/[mæ]/, 1.04],
  [/[ACEFJLPSTVYZГҐЕЗРТΑΒΓΕΖΡΣΤ]/, 0.78],
  [/H|(?=\p{sc=Cyrillic})\p{Lu}/u, 0.93],
  [/[\p{Lu}&wмфыψω]/u, 0.9],
  [/[crsyz]/, 0.6],
  [/\p{sc=Cyrillic}/u, 0.72],
  [/[\p{sc=Latin}\p{sc=Greek}\p{N}]/u, 0.71],
  [/[\p{sc=Arabic}\p{sc=Hebrew}\p{P}]/u, 0.8],
  [/./u, 1.05],
]

/** Matches a letter of a script without spaces, in which lines break after each letter. */
export const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]/u

/** Returns how wide the longest word of a name is in a title, in em. */
export function toLongest(name: string): number {
  const words = name.split(new RegExp(`[\\s-]+|(?=${UNSPACED.source})`, 'u'))
  return Math.max(...words.map(toWidth))
}

/** Returns at most how wide a word is in a title, in em. */
export function toWidth(word: string): number {
  const letters = [...word.normalize('NFD')]
  const widths = letters.map((letter) => WIDTHS.find(([pattern]) => pattern.test(letter))?.[1] ?? 0)
  return widths.reduce((sum, width) => sum + width, 0)
}

/**
 * Puts a soft hyphen between the syllables of a word in Latin or Cyrillic script. Most browsers have a dictionary for few
 * languages. Consonants that begin a syllable together stay together.
 */
export function hyphenate(word: string): string {
  return word.replace(SYLLABLE, '$1\u00ad$2')
}

const VOWEL = '[aeiouyàáâãäåæèéêëìíîïòóôõöøùúûüýąęőűаеєиіїоуюяыэё]'
const CONSONANT = `[\\p{L}--${VOWEL}]`
const ONSET = `sch|[bcdfgkpt][lr]|[cpst]h|[crs]z|ck|${CONSONANT}`
/** After a letter and a vowel: the consonants that end the syllable ($1), and those with which the next one begins ($2). */
const SYLLABLE = new RegExp(`(?<=\\p{L}${VOWEL})(${CONSONANT}*?)(${ONSET})(?=${VOWEL})`, 'giv')
