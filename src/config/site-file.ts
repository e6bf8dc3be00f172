/** The site file: YAML that describes the site. It is read once at startup. */

import { dirname, resolve } from 'node:path'
import { type Document, isMap, isNode, LineCounter, type Node, parseDocument, visit } from 'yaml'
import { z } from 'zod'
import { UsageError } from '../failure.ts'
import { DOCUMENTS, ENDPOINT } from '../routes.ts'
import { LANGUAGE_TAGS, toPagePath } from './languages.ts'
import { type Logo, readLogo } from './logo.ts'
import { pageEntries } from './page-entries.ts'
import { line, object, url } from './schema.ts'

const ACCENT_ERROR = 'use a colour in six hexadecimal digits such as "#2b5a4e", in quotes (# begins a comment)'
const LANGUAGES_ERROR = `use a list of these tags: ${LANGUAGE_TAGS.join(', ')}`

const schema = object({
  name: line(80).default('Newsletter'),
  description: line(300).default('News from this site by email, now and then.'),
  contact: url(
    /^(?:https?:\/\/|mailto:[^@?]+@)[^\s\p{Cc}]+$/u,
    'use a URL such as https://www.example.org/contact or mailto:name@example.org',
  ).optional(),
  // Not `default`, which would return an object that is not frozen.
  license: object({
    name: line(80),
    url: url(/^https?:\/\/[^\s\p{Cc}]+$/u, 'use an http or https URL'),
  }).prefault({ name: 'CC BY-SA 4.0', url: 'https://creativecommons.org/licenses/by-sa/4.0/' }),
  accent: z
    .string({ error: ACCENT_ERROR })
    .trim()
    .toLowerCase()
    .regex(/^#[0-9a-f]{6}$/, { error: ACCENT_ERROR })
    .default('#2b5a4e'),
  logo: line(1000).optional(),
  // The first language is the default.
  languages: z
    .array(z.enum(LANGUAGE_TAGS, { error: LANGUAGES_ERROR }), { error: LANGUAGES_ERROR })
    .nonempty({ error: 'use at least one language' })
    .refine((tags) => new Set(tags).size === tags.length, { error: 'use each language once' })
    .readonly()
    .prefault(LANGUAGE_TAGS),
  pages: pageEntries,
}).superRefine(({ languages, pages }, context) => {
  const own = new Set<string>([ENDPOINT, ...Object.values(DOCUMENTS)].map(({ path }) => path))
  for (const language of languages) own.add(toPagePath(language, languages))
  const index = pages.findIndex(({ path }) => own.has(path))
  if (index === -1) return
  const message = 'remove this path, which Rollcall serves itself; its own pages are in the sitemap anyway'
  context.addIssue({ code: 'custom', path: ['pages', index, 'path'], message })
})

/** The site: the values of the site file, with a default for each member that it omits. */
export type Site = Omit<z.infer<typeof schema>, 'logo'> & { readonly logo?: Logo }

/**
 * Parses a site file and reads the logo that it names.
 *
 * @param text YAML; an empty text gives the defaults
 * @param file the path of the file, for errors; a relative path in `logo` starts at its folder
 * @throws UsageError with file and line of the first mistake
 */
export function parseSite(text: string, file: string): Site {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, stringKeys: true })
  const createError = (offset: number, message: string) =>
    new UsageError(`${file}:${lines.linePos(offset).line}: ${message}`)

  const invalid = document.errors[0] ?? document.warnings[0]
  if (invalid) {
    const reason = invalid.code === 'MULTIPLE_DOCS' ? 'there is more than one document' : invalid.message
    throw createError(invalid.pos[0], `this is not valid YAML: ${reason}`)
  }
  visit(document, {
    // An alias may refer to nothing, or expand to gigabytes.
    Alias(_key, { range, source }) {
      throw createError(range?.[0] ?? 0, `"*${source}" is an alias: write the value itself`)
    },
  })

  const value: unknown = document.toJS() ?? {}
  const result = schema.safeParse(value)
  if (!result.success) {
    const [error] = result.error.issues.map((issue) => {
      const { path, message } = toMistake(issue, value)
      return createError(findOffset(document, path), message)
    })
    throw error
  }

  const { logo: path, ...site } = result.data
  if (path === undefined) return Object.freeze(site)
  const logo = readLogo(resolve(dirname(file), path))
  if (logo.ok) return Object.freeze({ ...site, logo: logo.value })
  throw createError(findOffset(document, ['logo']), `logo is ${JSON.stringify(path)}: ${logo.reason}`)
}

type Path = readonly PropertyKey[]

/** Converts an issue to the path of the mistake and a message with the value that was given. */
function toMistake(issue: z.core.$ZodIssue, value: unknown): { path: Path; message: string } {
  const { path, message } = issue
  if (issue.code === 'unrecognized_keys') return { path: [...path, ...issue.keys.slice(0, 1)], message }
  const given = path.reduce((inner, key) => (inner as Record<PropertyKey, unknown> | undefined)?.[key], value)
  return {
    path,
    message: `${path.join('.') || 'the file'} is ${JSON.stringify(given) ?? 'missing'}: ${message}`,
  }
}

/** Finds the offset of the member at a path, or of the nearest parent in the text. */
function findOffset(document: Document, path: Path): number {
  const parent = document.getIn(path.slice(0, -1), true)
  const pair = isMap<Node>(parent) && parent.items.find(({ key }) => String(key) === path.at(-1))
  const node = pair ? pair.key : document.getIn(path, true)
  if (isNode(node)) return node.range?.[0] ?? 0
  return path.length > 0 ? findOffset(document, path.slice(0, -1)) : 0
}
