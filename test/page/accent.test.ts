/** The accent: legible on the background of each theme, and changed only as much as necessary. */

import { expect, test } from 'bun:test'
import { inGamut, oklch } from 'culori'
import fc from 'fast-check'
import { BACKGROUND, createAccent } from '../../src/page/accent.ts'

/** The contrast ratio of WCAG 2.2, from 1 to 21. */
function contrast(one: string, other: string): number {
  const luminances = [one, other].map((colour) => {
    const [red, green, blue] = [1, 3, 5].map((start) => {
      const channel = Number.parseInt(colour.slice(start, start + 2), 16) / 255
      return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4
    }) as [number, number, number]
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
  })
  return (Math.max(...luminances) + 0.05) / (Math.min(...luminances) + 0.05)
}

const colours = fc.integer({ min: 0, max: 0xffffff }).map((rgb) => `#${rgb.toString(16).padStart(6, '0')}`)

test('every accent has a contrast of at least 4.5 in both themes', () => {
  fc.assert(
    fc.property(colours, (colour) => {
      const { light, dark } = createAccent(colour)
      expect(contrast(light, BACKGROUND.light)).toBeGreaterThanOrEqual(4.5)
      expect(contrast(dark, BACKGROUND.dark)).toBeGreaterThanOrEqual(4.5)
    }),
  )
})

test('a legible accent stays unchanged', () => {
  fc.assert(
    fc.property(colours, (colour) => {
      const { light, dark } = createAccent(colour)
      if (contrast(colour, BACKGROUND.light) >= 4.5) expect(light).toBe(colour)
      if (contrast(colour, BACKGROUND.dark) >= 4.5) expect(dark).toBe(colour)
    }),
  )
})

test('an accent that is not legible is darkened or lightened until it is', () => {
  expect(createAccent('#ffcc00')).toEqual({ light: '#906d00', dark: '#ffcc00' })
  expect(createAccent('#2b5a4e')).toEqual({ light: '#2b5a4e', dark: '#59887b' })
  expect(createAccent('#ffffff').light).toBe('#717171')
  expect(createAccent('#000000').dark).toBe('#808080')
})

/** Half the smallest difference in chroma that people notice, which rounding to 8 bits may cause. */
const CHROMA_ROUNDING = 0.01

test('an accent keeps its chroma where the screen has the colour, so it does not turn grey', () => {
  const isDisplayable = inGamut('rgb')
  fc.assert(
    fc.property(colours, (colour) => {
      const { l: _, ...own } = oklch(colour)!
      for (const legible of Object.values(createAccent(colour))) {
        const { l, c } = oklch(legible)!
        if (isDisplayable({ ...own, l })) expect(Math.abs(c - own.c)).toBeLessThan(CHROMA_ROUNDING)
      }
    }),
  )
})
