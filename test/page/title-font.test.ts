/** The font of titles has all letters of a text, or is not used for it. */

import { expect, test } from 'bun:test'
import { isInTitleFont, readTitleFont } from '../../src/page/title-font.ts'

test.each(['The Gazette', 'Größe, Café & Œuvre — n° 1', '🗞️ News', '2026', 'São Paulo™'])(
  '%s is in the font',
  (text) => {
    expect(isInTitleFont(text)).toBe(true)
  },
)

test.each(['الجريدة', '日本の朝', 'Газета', 'Łódź', 'İstanbul', 'Tiếng Việt', 'The Gazette 日', '🗞️', '…'])(
  '%s is not in the font',
  (text) => {
    expect(isInTitleFont(text)).toBe(false)
  },
)

test('the font is WOFF2', async () => {
  const bytes = await readTitleFont()
  // WOFF 2.0, section 4.1.
  expect(Buffer.from(bytes.subarray(0, 4)).toString()).toBe('wOF2')
})
