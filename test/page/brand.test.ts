/** What the page makes of an accent, a name and a logo, as pure functions. */

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createColors, createFavicon, toInitial, toLabel, toSize } from '../../src/page/brand.ts'

/** The contrast ratio of WCAG 2.2, from 1 to 21. */
function contrast(one: string, other: string): number {
  const luminances = [one, other].map((color) => {
    const [red, green, blue] = [1, 3, 5].map((start) => {
      const channel = Number.parseInt(color.slice(start, start + 2), 16) / 255
      return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4
    }) as [number, number, number]
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
  })
  return (Math.max(...luminances) + 0.05) / (Math.min(...luminances) + 0.05)
}

describe('an accent', () => {
  test.each([
    ['pale yellow', '#fff3b0', '#000000', 'var(--edge)', 'var(--fill)'],
    ['black', '#000000', '#ffffff', 'var(--fill)', 'var(--edge)'],
    ['navy', '#000080', '#ffffff', 'var(--fill)', 'var(--edge)'],
    ['red', '#d00000', '#ffffff', 'var(--fill)', 'var(--fill)'],
  ])('%s stays as it is, with a label and a border that can be seen', (_name, accent, label, light, dark) => {
    const fill = `:root{--fill:${accent};--label:${label};`
    expect(createColors({ light: accent, dark: accent })).toBe(
      `${fill}--background:#faf9f6;--rim:${light}}` +
        `@media (prefers-color-scheme:dark){${fill}--background:#161513;--rim:${dark}}}`,
    )
  })

  test('of any color has a label with a contrast of at least 4.58', () => {
    const colors = fc.integer({ min: 0, max: 0xffffff }).map((rgb) => `#${rgb.toString(16).padStart(6, '0')}`)
    fc.assert(fc.property(colors, (color) => contrast(toLabel(color), color) >= 4.58))
  })
})

test.each([
  ['The Gazette', 'T'],
  ['🗞️ Harbor News', 'H'],
  ['👩‍👩‍👧', '👩‍👩‍👧'],
  ['E\u0301tudes', 'E\u0301'],
  ['їжак', 'Ї'],
  ['الجريدة', 'ا'],
  ['& <', '&'],
])('the initial of %p is %p', (name, initial) => {
  expect(toInitial(name)).toBe(initial)
})

test('the letter of the icon is escaped', () => {
  expect(createFavicon('<', '#fff3b0')).toEndWith('fill="#000000">&lt;</text></svg>\n')
})

describe('a logo', () => {
  const png = (width: number, height: number) => {
    const bytes = Buffer.alloc(24)
    bytes.writeUInt32BE(width, 16)
    bytes.writeUInt32BE(height, 20)
    return bytes
  }
  test.each([
    [[180, 180], 'image/png', png(180, 180)],
    [[180, 60], 'image/png', png(180, 60)],
    [undefined, 'image/png', Buffer.alloc(8)],
    [[32, 32], 'image/svg+xml', '<?xml version="1.0"?><svg xmlns="x" viewBox="0 0 32 32" width="2em">'],
    [[3.5, 3.5], 'image/svg+xml', "<svg viewBox='-1,-1, 3.5,3.5'>"],
    [[40, 40], 'image/svg+xml', '<svg width="40" height="40px">'],
    [[64, 48], 'image/svg+xml', "<svg width='64' height = '48'>"],
    [[120, 32], 'image/svg+xml', '<svg viewBox="0 0 120 32" width="32" height="32">'],
    [undefined, 'image/svg+xml', '<svg>'],
  ] as const)('has the size %j: %s %s', (expected, mediaType, content) => {
    const size = expected && { width: expected[0], height: expected[1] }
    expect(toSize({ mediaType, bytes: Buffer.from(content) })).toEqual(size)
  })
})
