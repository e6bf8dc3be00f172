/** The `pages:` of the site file: other pages of the host, for the sitemap. */

import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { MAX_PATH_LENGTH } from '../limits.ts'
import { object } from './schema.ts'

const PATH_ERROR = `use a path on this host as it appears in a URL: one leading slash, no fragment, non-ASCII characters percent-encoded, at most ${MAX_PATH_LENGTH} characters, such as /about`
const LANGUAGE_ERROR = 'use language tags such as de or pt-BR, and x-default, each with a path'

const path = z.string({ error: PATH_ERROR }).refine(isPath, { error: PATH_ERROR })

const entry = object({
  path,
  lastmod: z.iso.date({ error: 'use the date on which the content last changed, such as 2026-05-31' }),
  alternates: z
    .record(z.string().refine(isLanguage, { error: LANGUAGE_ERROR }), path, { error: LANGUAGE_ERROR })
    .readonly()
    .optional(),
})

/** A page. Its alternates, if any, list every version including itself and `x-default`. */
type PageEntry = z.infer<typeof entry>

/** The list of pages. All versions of a page are in the list and have the same alternates. */
export const pageEntries = z
  .array(entry, { error: 'use a list of pages, each with path and lastmod' })
  .superRefine((entries, context) => {
    for (const mistake of findMistakes(entries)) context.addIssue({ code: 'custom', ...mistake })
  })
  .readonly()
  .prefault([])

function* findMistakes(
  entries: readonly PageEntry[],
): Generator<{ readonly path: PropertyKey[]; readonly message: string }> {
  const known = new Map<string, PageEntry>()
  for (const [index, entry] of entries.entries()) {
    if (known.has(entry.path)) yield { path: [index, 'path'], message: 'list each page once' }
    known.set(entry.path, entry)
  }
  for (const [index, { path, alternates }] of entries.entries()) {
    if (!alternates) continue
    const place = [index, 'alternates']
    if (!Object.values(alternates).includes(path)) {
      yield { path: place, message: `list this page too, ${JSON.stringify(path)}, under its language` }
    }
    if (!alternates['x-default']) {
      yield { path: place, message: 'list the version for all other languages under x-default' }
    }
    for (const [language, version] of Object.entries(alternates)) {
      const other = known.get(version)
      const message = other
        ? 'give that page the same alternates as this one'
        : 'list that page too, with the same alternates'
      if (!isDeepStrictEqual(other?.alternates, alternates)) yield { path: [...place, language], message }
    }
  }
}

/** Whether a text is a path, with or without a query, in the form that browsers send. */
function isPath(text: string): boolean {
  if (!/^\/(?!\/)/.test(text) || text.length > MAX_PATH_LENGTH) return false
  const base = 'http://host.example'
  return URL.canParse(text, base) && new URL(text, base).href === base + text && !text.includes('#')
}

/** Whether a text is `x-default` or a language with an optional script and region (RFC 5646). */
function isLanguage(text: string): boolean {
  return text === 'x-default' || /^[a-z]{2,3}(?:-[A-Z][a-z]{3})?(?:-(?:[A-Z]{2}|[0-9]{3}))?$/.test(text)
}
