/** The languages of the page, and its texts: the owner's words where there are any, otherwise those of Rollcall. */

import { LOCALES } from './languages.ts'
import type { Locale } from './locale.ts'

export type Language = keyof typeof LOCALES

/** All tags, in the default order. */
export const LANGUAGE_TAGS = Object.keys(LOCALES) as [Language, ...Language[]]

/** Returns the name of a language in that language, with a capital (Unicode CLDR). */
export function toOwnName(language: Language): string {
  const name = new Intl.DisplayNames(language, { type: 'language' }).of(language) ?? language
  return name.charAt(0).toUpperCase() + name.slice(1)
}

/** A text for all languages, or texts by language. */
export type Localized = string | { readonly [Tag in Language]?: string | undefined }

/** An issue to read first. */
export interface Issue<Title> {
  readonly title: Title
  readonly url: string
  /** Such as 2026-05-31. */
  readonly date: string
}

/** Words of the site file that may be in several languages. */
export interface Words {
  readonly name?: Localized | undefined
  readonly description?: Localized | undefined
  readonly note?: Localized | undefined
  readonly issues?: readonly Issue<Localized>[] | undefined
  /** Whether the mail tool asks each person for a confirmation (double opt-in). */
  readonly confirmation?: boolean | undefined
  /** Words that replace phrases of the page: by the name of the phrase, localized. */
  readonly phrases?: Readonly<Record<string, Localized | undefined>> | undefined
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
  readonly issues: readonly Issue<Text>[]
  readonly phrases: Locale
}

/**
 * Returns the texts of the page in a language. A text without a translation is in the first language of the site, and
 * says so, because the page marks it (WCAG 2.2, 3.1.2). A phrase without a translation is Rollcall's own.
 */
export function toTexts(
  { words, languages }: { readonly words: Words; readonly languages: readonly Language[] },
  language: Language,
): Texts {
  const locale: Locale = LOCALES[language]
  const [first = language] = languages
  const toText = (own: Localized): Text => {
    const texts = typeof own === 'string' ? { [first]: own } : own
    const text = texts[language]
    return text === undefined ? { text: texts[first] ?? '', language: first } : { text }
  }
  const { name, description, note, issues = [], phrases = {} } = words
  const toPhrase = ([phrase, text]: [string, string]) => {
    const own = phrases[phrase]
    return [phrase, (typeof own === 'object' ? own[language] : own) ?? text]
  }
  const all = Object.fromEntries(Object.entries(locale).map(toPhrase)) as Locale
  const confirmed = { ...all, accepted: all.almost, next: all.confirm }
  return {
    name: name ? toText(name) : { text: locale.siteName },
    description: description ? toText(description) : { text: locale.siteDescription },
    note: note ? toText(note) : undefined,
    issues: issues.map((issue) => ({ ...issue, title: toText(issue.title) })),
    phrases: words.confirmation ? confirmed : all,
  }
}
