/** The texts of the page in one language, from the words of the owner and those of Rollcall. */

import { expect, test } from 'bun:test'
import { parseSite } from '../../src/config/site-file.ts'
import { type Language, toTexts } from '../../src/config/texts.ts'
import { LOCALES } from '../../src/locales/languages.ts'

const textsOf = (file: string, language: Language) => toTexts(parseSite(file, 'site.yaml'), language)

// test/page/owner.test.ts has texts in several languages.
test('one text is used in all languages, and is in the first', () => {
  const file = 'languages: [fr, en]\nname: La Gazette'
  expect(textsOf(file, 'fr').name).toEqual({ text: 'La Gazette' })
  expect(textsOf(file, 'en').name).toEqual({ text: 'La Gazette', language: 'fr' })
  expect(parseSite(file, 'site.yaml').description).toBe(LOCALES.fr.site.description)
})

test('a phrase without a translation is that of Rollcall', () => {
  const file = 'phrases: { subscribe: { de: Los }, again: Another, outcomes: { empty: { de: Leer } } }'
  const outcomes = { ...LOCALES.de.outcomes, empty: 'Leer' }
  expect(textsOf(file, 'de').phrases).toEqual({ ...LOCALES.de, subscribe: 'Los', again: 'Another', outcomes })
  expect(textsOf(file, 'fr').phrases).toEqual({ ...LOCALES.fr, again: 'Another' })
})
