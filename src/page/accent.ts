/** The colours of the page: the background, and an accent that is legible on it, for each theme. */

/** The background of the page, which is also the colour of text on the accent. */
export const BACKGROUND = { light: '#faf9f6', dark: '#17181b' } as const

/** A colour for each theme, as `#rrggbb` in lower case. */
export type Accent = Readonly<Record<keyof typeof BACKGROUND, string>>

/** The minimum contrast of text: WCAG 2.2, success criterion 1.4.3, level AA. */
const MIN_CONTRAST = 4.5

/**
 * Makes an accent legible: darkens it for the light theme and lightens it for the dark theme, only as much as the
 * contrast needs.
 *
 * @param colour `#rrggbb`
 */
export function createAccent(colour: string): Accent {
  const mixUntilLegible = (end: number, background: string) =>
    SHARES.map((share) => mix(colour, end, share)).find((mixed) => toContrast(mixed, background) >= MIN_CONTRAST)
  return {
    light: mixUntilLegible(0, BACKGROUND.light) ?? '#000000',
    dark: mixUntilLegible(255, BACKGROUND.dark) ?? '#ffffff',
  }
}

/** Returns the contrast of two colours, from 1 to 21 (WCAG 2.2, definition of contrast ratio). */
function toContrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [toLuminance(one), toLuminance(other)].sort((a, b) => a - b)
  return (light + 0.05) / (dark + 0.05)
}

const SHARES = Array.from({ length: 101 }, (_, percent) => percent / 100)

/** Moves each channel of a colour towards `end` (0 or 255) by a share from 0 to 1. */
function mix(colour: string, end: number, share: number): string {
  const mixed = toChannels(colour).map((channel) => Math.round(channel + (end - channel) * share))
  return `#${mixed.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`
}

function toLuminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = toChannels(colour).map((channel) => {
    const value = channel / 255
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function toChannels(colour: string): number[] {
  return [1, 3, 5].map((start) => Number.parseInt(colour.slice(start, start + 2), 16))
}
