/** The site file: YAML that describes the site. It is read once at startup. */

import { dirname, resolve } from 'node:path'
import { type Document, isMap, isNode, LineCounter, type Node, parseDocument, visit } from 'yaml'
import { z } from 'zod'
import { UsageError } from '../failure.ts'
import { DOCUMENTS, ENDPOINT } from '../routes.ts'
import { type Logo, readLogo } from './logo.ts'
import { pageEntries } from './page-entries.ts'
import { line, object, url } from './schema.ts'
import { LANGUAGE_TAGS, localized, phrases, toPagePath, toTexts, type Words } from './texts.ts'

const ACCENT_ERROR = 'use a colour in six hexadecimal digits such as "#2b5a4e", in quotes (# begins a comment)'
const LANGUAGES_ERROR = `use a list of these tags: ${LANGUAGE_TAGS.join(', ')}`

const WEB_URL_ERROR = 'use an http or https URL'
const webUrl = url(/^https?:\/\/[^\s\p{Cc}]+$/u, WEB_URL_ERROR).refine(hasPlainHost, { error: WEB_URL_ERROR })

const schema = object({
  name: localized(line(80)).optional(),
  description: localized(line(300)).optional(),
  note: localized(line(200)).optional(),
  contact: url(
    /^(?:https?:\/\/|mailto:[^@?]+@)[^\s\p{Cc}]+$/u,
    'use a URL such as https://www.example.org/contact or mailto:name@example.org',
  ).optional(),
  home: webUrl.optional(),
  sample: webUrl.optional(),
  privacy: webUrl.optional(),
  imprint: webUrl.optional(),
  after_subscribe: webUrl.optional(),
  social_image: webUrl.optional(),
  developers: z.boolean({ error: 'use true or false' }).default(true),
  // Not `default`, which would return an object that is not frozen.
  license: object({
    name: line(80),
    url: webUrl,
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
  phrases: phrases.optional(),
  pages: pageEntries,
}).superRefine(({ languages, pages, ...words }, context) => {
  const [first = 'en'] = languages
  for (const name of ['name', 'description', 'note'] as const) {
    const text = words[name]
    if (typeof text !== 'object' || text[first] !== undefined) continue
    const message = `add the text in ${first}, the first of the languages, which is used where there is no translation`
    context.addIssue({ code: 'custom', path: [name, first], message })
  }
  const own = new Set<string>([ENDPOINT, ...Object.values(DOCUMENTS)].map(({ path }) => path))
  for (const language of languages) own.add(toPagePath(language, languages))
  const index = pages.findIndex(({ path }) => own.has(path))
  if (index === -1) return
  const message = 'remove this path, which Rollcall serves itself; its own pages are in the sitemap anyway'
  context.addIssue({ code: 'custom', path: ['pages', index, 'path'], message })
})

type Members = z.infer<typeof schema>

/** The site: the values of the site file, with a default for each member that it omits. */
export interface Site extends Omit<Members, 'logo' | 'after_subscribe' | 'social_image' | keyof Words> {
  /** The name and the description in the first language, for documents. */
  readonly name: string
  readonly description: string
  /** What `toTexts` needs for the page in each language. */
  readonly words: Words
  readonly logo?: Logo
  /** Where people go after a subscription. */
  readonly afterSubscribe?: string | undefined
  readonly socialImage?: string | undefined
}

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

  const { logo: path, ...members } = result.data
  const site = toSite(members)
  if (path === undefined) return Object.freeze(site)
  const logo = readLogo(resolve(dirname(file), path))
  if (logo.ok) return Object.freeze({ ...site, logo: logo.value })
  throw createError(findOffset(document, ['logo']), `logo is ${JSON.stringify(path)}: ${logo.reason}`)
}

function toSite({
  name,
  description,
  note,
  phrases,
  after_subscribe,
  social_image,
  ...rest
}: Omit<Members, 'logo'>): Site {
  const words = Object.freeze({ name, description, note, phrases })
  const texts = toTexts({ words, languages: rest.languages }, rest.languages[0] ?? 'en')
  return {
    ...rest,
    name: texts.name.text,
    description: texts.description.text,
    words,
    // A header has no other characters than ASCII.
    afterSubscribe: after_subscribe && new URL(after_subscribe).href,
    socialImage: social_image,
  }
}

/** Whether a host has only letters, digits and hyphens. The URL parser accepts `*.example.org` and `a;b`. */
function hasPlainHost(text: string): boolean {
  return URL.canParse(text) && /^[a-z0-9._-]+$|^\[[0-9a-f:.]+\]$/.test(new URL(text).hostname)
}

type Path = readonly PropertyKey[]

/** Converts an issue to the path of the mistake and a message with the value that was given. */
function toMistake(issue: z.core.$ZodIssue, value: unknown): { path: Path; message: string } {
  const { path, message } = issue
  if (issue.code === 'invalid_union') {
    // Either kind of value has its own schema: see `localized`.
    const [inner] = issue.errors[isPlainObject(getAt(value, path)) ? 0 : 1] ?? []
    if (inner) return toMistake({ ...inner, path: [...path, ...inner.path] }, value)
  }
  if (issue.code === 'unrecognized_keys') return { path: [...path, ...issue.keys.slice(0, 1)], message }
  const given = getAt(value, path)
  return {
    path,
    message: `${path.join('.') || 'the file'} is ${JSON.stringify(given) ?? 'missing'}: ${message}`,
  }
}

function getAt(value: unknown, path: Path): unknown {
  return path.reduce((inner, key) => (inner as Record<PropertyKey, unknown> | undefined)?.[key], value)
}

function isPlainObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Finds the offset of the member at a path, or of the nearest parent in the text. */
function findOffset(document: Document, path: Path): number {
  const parent = document.getIn(path.slice(0, -1), true)
  const pair = isMap<Node>(parent) && parent.items.find(({ key }) => String(key) === path.at(-1))
  const node = pair ? pair.key : document.getIn(path, true)
  if (isNode(node)) return node.range?.[0] ?? 0
  return path.length > 0 ? findOffset(document, path.slice(0, -1)) : 0
}
