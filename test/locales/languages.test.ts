/** The languages: each file is in the index, in the order of the page. */

import { expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { LOCALES } from '../../src/locales/languages.ts'
import { OUTCOMES } from '../../src/locales/locale.ts'
import { type Language, toOwnName } from '../../src/locales/texts.ts'
import { ROOT } from '../support/paths.ts'

test('each file is in the index: English first, the others in the order of their own names', () => {
  const files = readdirSync(join(ROOT, 'src/locales')).map((file) => file.replace(/\.ts$/, ''))
  const order = new Intl.Collator('en')
  const [first, ...others] = Object.entries(LOCALES)
  expect(['languages', 'locale', 'texts', ...Object.keys(LOCALES)].toSorted()).toEqual(files.toSorted())
  expect(first?.[0]).toBe('en')
  const names = others.map(([tag]) => toOwnName(tag as Language))
  expect(names).toEqual(names.toSorted(order.compare))
  expect(names).toContain('Polski')
})

test.each(Object.entries(LOCALES))('%s has the phrases of English, in their order', (_tag, phrases) => {
  expect(Object.keys(phrases)).toEqual(Object.keys(LOCALES.en))
})

test.each(Object.entries(LOCALES))('%s says something else for each outcome', (_tag, phrases) => {
  expect(new Set(OUTCOMES.map((name) => phrases[name])).size).toBe(OUTCOMES.length)
})
