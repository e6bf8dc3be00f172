/** The `pages:` of the site file: pages beside the newsletter's own that go into the sitemap. */

import { z } from 'zod'

/** A URL in a sitemap has less than 2,048 characters (sitemaps.org); the longest origin takes 267 of them. */
const MAX_PATH_LENGTH = 1_780

const PATH_RULE = `use a path on this host, as it stands in a URL: one slash in front, no fragment, characters outside ASCII percent-encoded, at most ${MAX_PATH_LENGTH} characters, such as /about`

const path = z.string({ error: PATH_RULE }).refine(isPath, { error: PATH_RULE })

const LANGUAGE_RULE = 'use language tags such as de or pt-BR, and x-default, each with a path'

const entry = z
  .strictObject(
    {
      path,
      lastmod: z.iso.date({ error: 'use the date of the last change of its content, such as 2026-05-31' }),
      alternates: z
        .record(z.string().refine(isLanguage, { error: LANGUAGE_RULE }), path, { error: LANGUAGE_RULE })
        .readonly()
        .optional(),
    },
    { error: 'use keys with values: path, lastmod, alternates' },
  )
  .readonly()

/** A page as the site file has it; its alternates, where it has any, list every version, itself and `x-default`. */
export type PageEntry = z.infer<typeof entry>

/** The list of pages; each entry is checked by itself, and its alternates against those of the others. */
export const pageEntries = z
  .array(entry, { error: 'use a list of pages, each with path and lastmod' })
  .superRefine((entries, context) => {
    const fault = findFault(entries)
    if (fault) context.addIssue({ code: 'custom', path: [...fault.path], message: fault.message })
  })
  .readonly()
  .prefault([])

interface EntryFault {
  /** Where in the list it is. */
  readonly path: readonly PropertyKey[]
  readonly message: string
}

/** Finds the first entry that is listed twice, or whose alternates are not those of all its versions. */
function findFault(entries: readonly PageEntry[]): EntryFault | undefined {
  const known = new Map<string, PageEntry>()
  for (const [index, entry] of entries.entries()) {
    if (known.has(entry.path)) return { path: [index, 'path'], message: 'list each page once' }
    known.set(entry.path, entry)
  }
  for (const [index, entry] of entries.entries()) {
    const fault = findAlternateFault(entry, known)
    if (fault) return { ...fault, path: [index, 'alternates', ...fault.path] }
  }
  return undefined
}

function findAlternateFault(
  { path, alternates }: PageEntry,
  known: ReadonlyMap<string, PageEntry>,
): EntryFault | undefined {
  if (!alternates) return undefined
  if (!Object.values(alternates).includes(path)) {
    return { path: [], message: `list this page too, ${JSON.stringify(path)}, under its language` }
  }
  if (!alternates['x-default'])
    return { path: [], message: 'list the version for all others under x-default' }
  const versions = toText(alternates)
  for (const [language, version] of Object.entries(alternates)) {
    const other = known.get(version)
    if (!other) return { path: [language], message: 'list that page too, with the same alternates' }
    if (toText(other.alternates) !== versions) {
      return { path: [language], message: 'give that page the same alternates as this one' }
    }
  }
  return undefined
}

function toText(alternates: PageEntry['alternates'] = {}): string {
  return JSON.stringify(Object.entries(alternates).sort(([one], [other]) => (one < other ? -1 : 1)))
}

/** Whether a text is a path, with or without a query, in the form in which browsers send it. */
function isPath(text: string): boolean {
  if (!/^\/(?!\/)/.test(text) || text.length > MAX_PATH_LENGTH) return false
  const base = 'http://host.example'
  return URL.canParse(text, base) && new URL(text, base).href === base + text && !text.includes('#')
}

/** Whether a text is a language with or without a script and a region (RFC 5646), or the word for all others. */
function isLanguage(text: string): boolean {
  return text === 'x-default' || /^[a-z]{2,3}(?:-[A-Z][a-z]{3})?(?:-(?:[A-Z]{2}|[0-9]{3}))?$/.test(text)
}
