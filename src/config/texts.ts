/** The owner's words: one text for all languages, or one for each. */

import { z } from 'zod'
import { LOCALES } from '../locales/languages.ts'
import type { Locale } from '../locales/locale.ts'
import { line, object } from './schema.ts'

export type Language = keyof typeof LOCALES

/** All tags, in the default order. */
export const LANGUAGE_TAGS = Object.freeze(Object.keys(LOCALES) as [Language, ...Language[]])

/** Returns the path of the page in a language. The first language of the site is the default, at `/`. */
export function toPagePath(language: Language, languages: readonly Language[]): string {
  return language === languages[0] ? '/' : `/${language}`
}

/** A text for all languages, or texts by language. */
export type Localized = string | { readonly [Tag in Language]?: string | undefined }

/** Words of the site file that may be in several languages. */
export interface Words {
  readonly name?: Localized | undefined
  readonly description?: Localized | undefined
  readonly note?: Localized | undefined
  readonly phrases?: z.infer<typeof phrases> | undefined
}

/** The part of a site that has its texts. The first language is the default. */
interface TextSource {
  readonly words: Words
  readonly languages: readonly Language[]
}

/** A text with its language, if that is not the language of the page. */
export interface Text {
  readonly text: string
  readonly language?: Language
}

/** All texts of the page in one language. */
export interface Texts {
  readonly name: Text
  readonly description: Text
  readonly note?: Text | undefined
  readonly phrases: Locale
}

/** A text, or a map from language tags to texts. */
export function localized(text: z.ZodType<string>) {
  const byLanguage = object(Object.fromEntries(LANGUAGE_TAGS.map((tag) => [tag, text.optional()])))
  return z.union([byLanguage, text])
}

const phrase = localized(line(300)).optional()
const TYPO_ERROR = 'use one line of 1 to 300 characters with {address}, which stands for the likely address'
const question = line(300).refine((text) => text.includes('{address}'), { error: TYPO_ERROR })

/** The phrases of the page that the owner may replace. */
export const phrases = object({
  email: phrase,
  subscribe: phrase,
  kept: phrase,
  contact: phrase,
  home: phrase,
  sample: phrase,
  privacy: phrase,
  imprint: phrase,
  license: phrase,
  languages: phrase,
  suggestion: phrase,
  next: phrase,
  again: phrase,
  developers: object({ title: phrase, lead: phrase }).optional(),
  outcomes: object({
    accepted: phrase,
    empty: phrase,
    non_ascii: phrase,
    invalid_email: phrase,
    invalid_body: phrase,
    storage_failure: phrase,
    too_many: phrase,
    typo: localized(question).optional(),
    sending: phrase,
    unreachable: phrase,
  } satisfies Record<keyof Locale['outcomes'], z.ZodType>).optional(),
} satisfies Record<Exclude<keyof Locale, 'language' | 'direction' | 'site'>, z.ZodType>)

/**
 * Returns the texts of the page in a language. A text without a translation is in the first language of the site, a
 * phrase without one is Rollcall's own.
 */
export function toTexts({ words, languages }: TextSource, language: Language): Texts {
  const locale = LOCALES[language]
  const [first = language] = languages
  const toText = (own: Localized | undefined): Text | undefined => {
    const translation = typeof own === 'object' ? own[language] : undefined
    if (translation !== undefined) return { text: translation }
    const text = typeof own === 'object' ? own[first] : own
    return text === undefined ? undefined : { text, ...(language !== first && { language: first }) }
  }
  return {
    name: toText(words.name) ?? { text: locale.site.name },
    description: toText(words.description) ?? { text: locale.site.description },
    note: toText(words.note),
    phrases: replacePhrases(locale, words.phrases, language),
  }
}

function replacePhrases(locale: Locale, own: Words['phrases'], language: Language): Locale {
  if (own === undefined) return locale
  const { developers, outcomes, ...phrases } = own
  return {
    ...locale,
    ...choose(phrases, language),
    developers: { ...locale.developers, ...choose(developers, language) },
    outcomes: { ...locale.outcomes, ...choose(outcomes, language) },
  }
}

/** Returns the phrases that exist in a language. */
function choose(phrases: { readonly [name: string]: Localized | undefined } = {}, language: Language) {
  const entries = Object.entries(phrases).flatMap(([name, words]) => {
    const text = typeof words === 'object' ? words[language] : words
    return text === undefined ? [] : [[name, text] as const]
  })
  return Object.fromEntries(entries)
}
