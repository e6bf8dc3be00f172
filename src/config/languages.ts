import { LOCALES } from '../locales/languages.ts'

export type Language = keyof typeof LOCALES

/** All tags, in the default order. */
export const LANGUAGE_TAGS = Object.freeze(Object.keys(LOCALES) as [Language, ...Language[]])

/** Returns the path of the page in a language. The first language of the site is the default, at `/`. */
export function toPagePath(language: Language, languages: readonly Language[]): string {
  return language === languages[0] ? '/' : `/${language}`
}
