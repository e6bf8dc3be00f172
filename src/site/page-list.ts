/** The newsletter's own pages, as the sitemap lists them. */

import { type Language, toPagePath } from './languages.ts'
import type { IndexedPage } from './sitemap.ts'

/** The day on which the text of each version last changed. */
const CHANGED: Readonly<Record<Language, string>> = {
  en: '2026-11-21',
  de: '2026-11-21',
  fr: '2026-11-21',
  es: '2026-11-21',
  'pt-BR': '2026-11-21',
  it: '2026-11-21',
  nl: '2026-11-21',
  pl: '2026-11-21',
  uk: '2026-11-21',
  ar: '2026-11-21',
  ja: '2026-11-21',
  'zh-Hans': '2026-11-21',
}

/** Lists the page in each language of the site; the first is the one for readers of all others. */
export function listPages(languages: readonly Language[]): IndexedPage[] {
  const versions = languages.map((language) => [language, toPagePath(language, languages)] as const)
  const alternates = { ...Object.fromEntries(versions), 'x-default': '/' }
  return versions.map(([language, path]) => ({ path, lastmod: CHANGED[language], alternates }))
}
