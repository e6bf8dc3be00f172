/** The site file: YAML that describes the site. It is read once, at the start. */

import { dirname, resolve } from 'node:path'
import { type Document, isMap, isNode, LineCounter, type Node, parseDocument, visit } from 'yaml'
import { z } from 'zod'
import { UsageError } from '../failure.ts'
import { LOCALES } from '../locales/languages.ts'
import { type Picture, readPicture } from './picture.ts'
import { LANGUAGE_TAGS, type Localized, type Phrases, toTexts, type Words } from './texts.ts'

/** A text of one line: no control characters, line separators or unpaired surrogates. */
function line(maxLength: number) {
  const error = `use one line of 1 to ${maxLength} characters, without control characters`
  const pattern = RegExp(`^[^\\p{Cc}\\p{Cs}\\p{Zl}\\p{Zp}]{1,${maxLength}}$`, 'u')
  return z.string({ error }).trim().regex(pattern, { error })
}

/** An object without other keys. */
function object<Shape extends z.ZodRawShape>(shape: Shape) {
  const known = Object.keys(shape)
  return z
    .strictObject(shape, {
      error: (issue) => {
        const key = issue.code === 'unrecognized_keys' ? issue.keys[0] : undefined
        if (key === undefined) return `use keys with values: ${known.join(', ')}`
        // In YAML, a comma ends a text in { }. The rest of the text becomes a key without a value.
        const isRest = (issue.input as Record<string, unknown>)[key] === null
        const advice = isRest ? ' (if it is the rest of a text with a comma, put the text in quotes)' : ''
        return `unknown key ${JSON.stringify(key)}${advice}; use these: ${known.join(', ')}`
      },
    })
    .readonly()
}

/** A text, or a map from language tags to texts. */
function localized(text: z.ZodType<string>): z.ZodType<Localized> {
  return z.union([object(Object.fromEntries(LANGUAGE_TAGS.map((tag) => [tag, text.optional()]))), text])
}

/** Creates the schema of the phrases that may replace these. A phrase with `{address}` or `{author}` must keep it. */
function phrases(defaults: object): z.ZodType {
  const withPlace = (place: string) => {
    const error = `use one line of 1 to 300 characters with ${place}, which the page replaces`
    return line(300).refine((text) => text.includes(place), { error })
  }
  const shape = Object.entries(defaults).map(([name, text]) => {
    if (typeof text === 'object') return [name, phrases(text).optional()]
    const [place] = /\{a\w+\}/.exec(text) ?? []
    return [name, localized(place ? withPlace(place) : line(300)).optional()]
  })
  return object(Object.fromEntries(shape))
}

const { language: _language, direction: _direction, site: _site, ...PHRASES } = LOCALES.en

/** A URL. The pattern is needed too: the URL parser drops tabs and newlines, and accepts `https:host`. */
function url(pattern: RegExp, error: string) {
  return z
    .string({ error })
    .trim()
    .refine((text) => pattern.test(text) && URL.canParse(text), { error })
}

const WEB_URL_ERROR = 'use an http or https URL'
const webUrl = url(/^https?:\/\/[^\s\p{Cc}]+$/u, WEB_URL_ERROR).refine(
  // The URL parser accepts hosts such as `*.example.org` and `a;b`.
  (text) => URL.canParse(text) && /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])$/.test(new URL(text).hostname),
  { error: WEB_URL_ERROR },
)

const PATH_ERROR =
  'use a path on this host as it appears in a URL: one leading slash, no fragment, non-ASCII characters percent-encoded, such as /about'
const path = z.string({ error: PATH_ERROR }).refine(isPath, { error: PATH_ERROR })

/** Whether a text is a path, with or without a query, in the form that browsers send. */
function isPath(text: string): boolean {
  const base = 'http://host.example'
  return /^\/(?!\/)[^#]*$/.test(text) && URL.canParse(text, base) && new URL(text, base).href === base + text
}

const TAG_ERROR = 'use language tags such as de or pt-BR, and x-default, each with a path'
// A language with an optional script and region (RFC 5646).
const TAG = /^(?:x-default|[a-z]{2,3}(?:-[A-Z][a-z]{3})?(?:-(?:[A-Z]{2}|[0-9]{3}))?)$/

const pages = z
  .array(
    object({
      path,
      lastmod: z.iso.date({ error: 'use the date on which the content last changed, such as 2026-05-31' }),
      alternates: z
        .record(z.string().regex(TAG, { error: TAG_ERROR }), path, { error: TAG_ERROR })
        .readonly()
        .optional(),
    }),
    { error: 'use a list of pages, each with path and lastmod' },
  )
  .readonly()
  .prefault([])

const ACCENT_ERROR = 'use a color of six hexadecimal digits such as "#2b5a4e", in quotes (# begins a comment)'
const color = z
  .string({ error: ACCENT_ERROR })
  .trim()
  .toLowerCase()
  .regex(/^#[0-9a-f]{6}$/, { error: ACCENT_ERROR })
const accent = z.union([
  object({ light: color, dark: color }),
  color.transform((both) => ({ light: both, dark: both })),
])
const LANGUAGES_ERROR = `use a list of these tags: ${LANGUAGE_TAGS.join(', ')}`

const schema = object({
  name: localized(line(80)).optional(),
  description: localized(line(300)).optional(),
  note: localized(line(200)).optional(),
  author: line(80).optional(),
  contact: url(
    /^(?:https?:\/\/|mailto:[^@?]+@)[^\s\p{Cc}]+$/u,
    'use a URL such as https://www.example.org/contact or mailto:name@example.org',
  ).optional(),
  home: webUrl.optional(),
  sample: webUrl.optional(),
  privacy: webUrl.optional(),
  imprint: webUrl.optional(),
  after_subscribe: webUrl.optional(),
  developers: z.boolean({ error: 'use true or false' }).default(true),
  license: z
    .union([object({ name: line(80), url: webUrl }), z.literal('none', { error: 'use a name and a url, or none' })])
    .default({ name: 'CC BY-SA 4.0', url: 'https://creativecommons.org/licenses/by-sa/4.0/' })
    .transform((license) => (license === 'none' ? undefined : license)),
  accent: accent.prefault('#2b5a4e'),
  logo: line(1000).optional(),
  card: line(1000).optional(),
  // The first language is the default.
  languages: z
    .array(z.enum(LANGUAGE_TAGS, { error: LANGUAGES_ERROR }), { error: LANGUAGES_ERROR })
    .nonempty({ error: 'use at least one language' })
    .refine((tags) => new Set(tags).size === tags.length, { error: 'use each language once' })
    .readonly()
    .prefault(LANGUAGE_TAGS),
  phrases: (phrases(PHRASES) as z.ZodType<Phrases>).optional(),
  pages,
}).superRefine(({ languages: [first = 'en'], ...members }, context) => {
  for (const name of ['name', 'description', 'note'] as const) {
    const text = members[name]
    if (typeof text !== 'object' || text[first] !== undefined) continue
    const message = `add the text in ${first}, the first of the languages, which the page uses where there is no translation`
    context.addIssue({ code: 'custom', path: [name, first], message })
  }
})

type Members = z.infer<typeof schema>

/** The site: the values of the site file, with a default for each member that it omits. */
export interface Site extends Omit<Members, 'logo' | 'card' | 'after_subscribe' | keyof Words> {
  /** The name and the description in the first language, for documents. */
  readonly name: string
  readonly description: string
  /** What `toTexts` needs for the page in each language. */
  readonly words: Words
  readonly logo?: Picture
  /** What links to the page show in social networks, if the owner has a picture. */
  readonly card?: Picture
  /** Where people go after a subscription. Never a parameter of a request, which would be an open redirect. */
  readonly afterSubscribe?: string | undefined
}

/**
 * Parses a site file and reads the logo and the card that it names.
 *
 * @param text YAML; an empty text gives the defaults
 * @param file the path of the file, for errors; a relative path in it starts at its folder
 * @throws UsageError with file and line of the first mistake
 */
export function parseSite(text: string, file: string): Site {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, stringKeys: true })
  const fail = (offset: number, message: string): never => {
    throw new UsageError(`${file}:${lines.linePos(offset).line}: ${message}`)
  }
  const invalid = document.errors[0] ?? document.warnings[0]
  if (invalid) {
    const reason = invalid.code === 'MULTIPLE_DOCS' ? 'there is more than one document' : invalid.message
    fail(invalid.pos[0], `this is not valid YAML: ${reason}`)
  }
  visit(document, {
    // An alias may refer to nothing, or expand to gigabytes.
    Alias: (_key, { range, source }) => fail(range?.[0] ?? 0, `"*${source}" is an alias: write the value itself`),
  })

  const value: unknown = document.toJS() ?? {}
  const { data, error } = schema.safeParse(value)
  if (!data) {
    const [issue] = error.issues
    const { path, message } = toMistake(issue as z.core.$ZodIssue, value)
    return fail(findOffset(document, path), message)
  }
  const { logo, card, ...members } = data
  const site: Site = toSite(members)
  const pictures = Object.entries({ logo, card }).map(([name, path]) => {
    if (path === undefined) return {}
    const picture = readPicture(name as 'logo' | 'card', resolve(dirname(file), path))
    if (typeof picture !== 'string') return { [name]: picture }
    return fail(findOffset(document, [name]), `${name} is ${JSON.stringify(path)}: ${picture}`)
  })
  return Object.assign(site, ...pictures)
}

function toSite({ name, description, note, phrases, after_subscribe, ...rest }: Omit<Members, 'logo' | 'card'>) {
  const words: Words = { name, description, note, phrases }
  const texts = toTexts({ words, languages: rest.languages }, rest.languages[0] ?? 'en')
  return {
    ...rest,
    name: texts.name.text,
    description: texts.description.text,
    words,
    // A header has no other characters than ASCII.
    afterSubscribe: after_subscribe && new URL(after_subscribe).href,
  }
}

type Path = readonly PropertyKey[]

/** The longest part of a wrong value that an error shows, in characters. */
const MAX_SHOWN_LENGTH = 200

/** Converts an issue to the path of the mistake and a message with the value that was given. */
function toMistake(issue: z.core.$ZodIssue, value: unknown): { path: Path; message: string } {
  const { path, message } = issue
  const given = path.reduce<unknown>((inner, key) => (inner as Record<PropertyKey, unknown> | undefined)?.[key], value)
  if (issue.code === 'invalid_union') {
    // An object has the first schema of a union, and anything else the second one.
    const isText = typeof given !== 'object' || given === null || Array.isArray(given)
    const [inner] = issue.errors[isText ? 1 : 0] ?? []
    if (inner) return toMistake({ ...inner, path: [...path, ...inner.path] }, value)
  }
  if (issue.code === 'unrecognized_keys') return { path: [...path, ...issue.keys.slice(0, 1)], message }
  const text = JSON.stringify(given) ?? 'missing'
  const shown = text.length > MAX_SHOWN_LENGTH ? `${text.slice(0, MAX_SHOWN_LENGTH)}…` : text
  return { path, message: `${path.join('.') || 'the file'} is ${shown}: ${message}` }
}

/** Finds the offset of the member at a path, or of the nearest parent in the text. */
function findOffset(document: Document, path: Path): number {
  const parent = document.getIn(path.slice(0, -1), true)
  const pair = isMap<Node>(parent) && parent.items.find(({ key }) => String(key) === path.at(-1))
  const node = pair ? pair.key : document.getIn(path, true)
  if (isNode(node)) return node.range?.[0] ?? 0
  return path.length > 0 ? findOffset(document, path.slice(0, -1)) : 0
}
