/** The colours of the page: the background, and an accent that is legible on it, for each theme. */

import { formatHex, type Oklch, oklch, toGamut, wcagContrast } from 'culori'

/** The background of the page, which is also the colour of text on the accent. */
export const BACKGROUND = { light: '#faf9f6', dark: '#161513' } as const

/** A colour for each theme, as `#rrggbb` in lower case. */
export type Accent = Readonly<Record<keyof typeof BACKGROUND, string>>

/** The minimum contrast of text: WCAG 2.2, success criterion 1.4.3, level AA. */
const MIN_CONTRAST = 4.5

/**
 * Makes an accent legible: darkens it for the light theme and lightens it for the dark theme, only as much as the
 * contrast needs. It keeps the hue, and the chroma as far as a screen can show it (OKLCH: CSS Color 4, section 9.4).
 *
 * @param colour `#rrggbb`
 */
export function createAccent(colour: string): Accent {
  return { light: moveUntilLegible(colour, 0, BACKGROUND.light), dark: moveUntilLegible(colour, 1, BACKGROUND.dark) }
}

/** Moves the lightness towards 0 or 1 in steps of a percent of the way. */
function moveUntilLegible(colour: string, end: 0 | 1, background: string): string {
  for (let percent = 0; percent < 100; percent++) {
    const moved = percent === 0 ? colour : moveLightness(colour, end, percent / 100)
    if (wcagContrast(moved, background) >= MIN_CONTRAST) return moved
  }
  return end === 0 ? '#000000' : '#ffffff'
}

const toScreen = toGamut('rgb', 'oklch')

function moveLightness(colour: string, end: 0 | 1, share: number): string {
  const own: Oklch = oklch(colour) ?? { mode: 'oklch', l: end, c: 0 }
  return formatHex(toScreen({ ...own, l: own.l + (end - own.l) * share }))
}
