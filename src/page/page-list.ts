import { type Language, toPagePath } from '../config/texts.ts'
import type { IndexedPage } from '../documents/sitemap.ts'
import { CHANGES } from '../locales/languages.ts'

/** Lists the page in each language of the site, for the sitemap. The first language is the default (`x-default`). */
export function listPages(languages: readonly Language[]): IndexedPage[] {
  const versions = languages.map((language) => [language, toPagePath(language, languages)] as const)
  const alternates = { ...Object.fromEntries(versions), 'x-default': '/' }
  return versions.map(([language, path]) => ({ path, lastmod: CHANGES[language].date, alternates }))
}
