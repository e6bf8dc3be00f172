/** The site file: YAML that describes the site. It is read once, at the start. */

import { dirname, resolve } from 'node:path'
import type { Document, Node } from 'yaml'
import { z } from 'zod'
import { UsageError } from '../failure.ts'
import { LOCALES } from '../locales/languages.ts'
import { type Issue, LANGUAGE_TAGS, type Localized, toTexts, type Words } from '../locales/texts.ts'
import { shorten } from '../words.ts'
import { type Picture, type PictureUse, readPicture } from './picture.ts'

/** A text without the white space around it. @param error what to use instead of any other value */
function textSchema(error: string, isValid: (text: string) => boolean) {
  return z.string({ error }).trim().refine(isValid, { error })
}

/** A text of one line: no control characters, line separators or unpaired surrogates. @param place what it must contain */
function line(maxLength: number, place = '') {
  const rule = place === '' ? ', without control characters' : ` with ${place}, which the page replaces`
  const pattern = RegExp(`^[^\\p{Cc}\\p{Cs}\\p{Zl}\\p{Zp}]{1,${maxLength}}$`, 'u')
  const isValid = (given: string) => pattern.test(given) && given.includes(place)
  return textSchema(`use one line of 1 to ${maxLength} characters${rule}; a number needs quotes`, isValid)
}

/** An object without other keys. */
function object<Shape extends z.ZodRawShape>(shape: Shape) {
  const known = Object.keys(shape)
  return z
    .strictObject(shape, {
      error: (issue) => {
        const key = issue.code === 'unrecognized_keys' ? issue.keys[0] : undefined
        if (key === undefined) return `use keys with values: ${known.join(', ')}`
        return `unknown key ${JSON.stringify(key)}; use these: ${known.join(', ')}`
      },
    })
    .readonly()
}

/** A text, or a map from language tags to texts. */
function localized(one: z.ZodType<string>): z.ZodType<Localized> {
  const members = LANGUAGE_TAGS.map((tag) => [tag, one.optional()] as const)
  return z.union([object(Object.fromEntries(members)), one])
}

/** The phrases that an owner may replace. A phrase with `{address}` or `{author}` must keep it. */
const { siteName: _0, siteDescription: _1, ...PHRASES } = LOCALES.en
const phrases = Object.entries(PHRASES).map(([name, phrase]) => {
  const place = /\{(?:address|author)\}/.exec(phrase)?.[0]
  return [name, localized(line(300, place)).optional()] as const
})

// URLs have a pattern too: the URL parser drops tabs and newlines, and accepts `https:host`.
const contact = textSchema(
  'use a URL such as https://www.example.org/contact or mailto:name@example.org',
  (given) => /^(?:https?:\/\/|mailto:[^@?]+@)[^\s\p{Cc}]+$/u.test(given) && URL.canParse(given),
)

/** Whether a text is an http or https URL. */
export function isWebUrl(text: string): boolean {
  if (!/^https?:\/\/[^\s\p{Cc}]+$/u.test(text) || !URL.canParse(text)) return false
  // The URL parser accepts hosts such as `*.example.org` and `a;b`.
  return /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])$/.test(new URL(text).hostname)
}

const webUrl = textSchema('use an http or https URL', isWebUrl)

/** A path, with or without a query, in the form that browsers send. */
const path = textSchema(
  'use a path on this host as it appears in a URL: one leading slash, no fragment, non-ASCII characters percent-encoded, such as /about',
  (given) => {
    const base = 'http://host.example'
    return /^\/(?!\/)[^#]*$/.test(given) && URL.canParse(given, base) && new URL(given, base).href === base + given
  },
)

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

const ISSUES_ERROR = 'use a list of one to three issues, each with title, url and date'
const issues = z
  .array(
    object({
      title: localized(line(120)),
      url: webUrl,
      date: z.iso.date({ error: 'use the date of the issue, such as 2026-05-31' }),
    }),
    { error: ISSUES_ERROR },
  )
  .min(1, { error: ISSUES_ERROR })
  .max(3, { error: ISSUES_ERROR })
  .refine((all) => new Set(all.map(({ url }) => url)).size === all.length, { error: 'use each url once' })
  .readonly()

const color = textSchema(
  'use a color of six hexadecimal digits such as "#2b5a4e", in quotes (# begins a comment)',
  (given) => /^#[0-9a-f]{6}$/i.test(given),
).toLowerCase()
const accent = z.union([
  object({ light: color, dark: color }),
  color.transform((both) => ({ light: both, dark: both })),
])
const LANGUAGES_ERROR = `use a list of these tags: ${LANGUAGE_TAGS.join(', ')}`

/** A picture by its path. @param folder where a relative path starts */
function picture(use: PictureUse, folder: string) {
  return line(1000).transform((file, context): Picture => {
    const found = readPicture(use, resolve(folder, file))
    if (typeof found !== 'string') return found
    context.addIssue({ code: 'custom', message: found })
    return z.NEVER
  })
}

/** Creates the schema of the whole file. @param folder the folder of the file */
const createSchema = (folder: string) =>
  object({
    name: localized(line(80)).optional(),
    description: localized(line(300)).optional(),
    note: localized(line(200)).optional(),
    author: line(80).optional(),
    portrait: picture('portrait', folder).optional(),
    issues: issues.optional(),
    contact: contact.optional(),
    home: webUrl.optional(),
    privacy: webUrl.optional(),
    imprint: webUrl.optional(),
    // Where people go after a subscription. Never a parameter of a request, which would be an open redirect. A header has
    // no other characters than ASCII.
    after_subscribe: webUrl.transform((url) => new URL(url).href).optional(),
    // Whether the mail tool asks for a confirmation. Rollcall sends no mail, and cannot know it.
    confirmation: z.boolean({ error: 'use true or false' }).default(false),
    developers: z.boolean({ error: 'use true or false' }).default(true),
    license: z
      .union([object({ name: line(80), url: webUrl }), z.literal('none', { error: 'use a name and a url, or none' })])
      .default({ name: 'CC BY-SA 4.0', url: 'https://creativecommons.org/licenses/by-sa/4.0/' })
      .transform((license) => (license === 'none' ? undefined : license)),
    accent: accent.prefault('#2b5a4e'),
    logo: picture('logo', folder).optional(),
    // What links to the page show in social networks, if the owner has a picture.
    card: picture('card', folder).optional(),
    // The first language is the default.
    languages: z
      .array(z.enum(LANGUAGE_TAGS, { error: LANGUAGES_ERROR }), { error: LANGUAGES_ERROR })
      .nonempty({ error: 'use at least one language' })
      .refine((tags) => new Set(tags).size === tags.length, { error: 'use each language once' })
      .readonly()
      .prefault(LANGUAGE_TAGS),
    phrases: object(Object.fromEntries(phrases)).optional(),
    pages,
  }).superRefine((members, context) => {
    const { name, description, note, issues = [], author, portrait } = members
    const first = members.languages[0] ?? 'en'
    const checkTranslation = (path: (string | number)[], given: Localized | undefined) => {
      if (typeof given !== 'object' || given[first] !== undefined) return
      const message = `add the text in ${first}, the first of the languages, which the page uses where there is no translation`
      context.addIssue({ code: 'custom', path: [...path, first], message })
    }
    checkTranslation(['name'], name)
    checkTranslation(['description'], description)
    checkTranslation(['note'], note)
    for (const [index, { title }] of issues.entries()) checkTranslation(['issues', index, 'title'], title)
    if (portrait && !author) {
      const message = 'add author, the name that stands beside the portrait'
      context.addIssue({ code: 'custom', path: ['portrait'], message })
    }
  })

type Members = z.infer<ReturnType<typeof createSchema>>

/** The site: the values of the site file, with a default for each member that it omits. */
export interface Site extends Omit<Members, 'after_subscribe' | keyof Words> {
  /** The name, the description and the issues in the first language, for documents. */
  readonly name: string
  readonly description: string
  readonly issues: readonly Issue<string>[]
  /** What `toTexts` needs for the page in each language. */
  readonly words: Words
  readonly afterSubscribe?: string | undefined
}

/**
 * Parses a site file, which may be empty, and reads the pictures that it names. A relative path starts at the folder of the file.
 * @throws UsageError with file and line of the first mistake
 */
export function parseSite(text: string, file: string): Site {
  const { LineCounter, parseDocument, visit } = loadYaml()
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, stringKeys: true })
  const fail = (offset: number, message: string): never => {
    throw new UsageError(`${file}:${lines.linePos(offset).line}: ${message}`)
  }
  const invalid = document.errors[0] ?? document.warnings[0]
  if (invalid) {
    const reason = invalid.code === 'MULTIPLE_DOCS' ? 'there is more than one document' : invalid.message
    fail(
      invalid.pos[0],
      `this is not valid YAML: ${reason}; a text with signs such as : needs quotes, as in name: "A: B"`,
    )
  }
  visit(document, {
    // An alias may refer to nothing, or expand to gigabytes.
    Alias: (_key, { range, source }) =>
      fail(range?.[0] ?? 0, `"*${source}" is an alias: write the value itself, in quotes`),
  })

  const value: unknown = document.toJS() ?? {}
  const { data, error } = createSchema(dirname(file)).safeParse(value)
  if (!data) {
    const [issue] = error.issues
    const { path, message } = toMistake(issue as z.core.$ZodIssue, value)
    return fail(findOffset(document, path), message)
  }
  return toSite(data)
}

/** Creates the site of a service without a site file: all members have their defaults. */
export function createDefaultSite(): Site {
  return toSite(createSchema('.').parse({}))
}

/** Loads the parser. A start without a site file does not need it. */
function loadYaml() {
  return require('yaml') as typeof import('yaml')
}

function toSite(members: Members): Site {
  const { name, description, note, issues, phrases, confirmation, after_subscribe: afterSubscribe, ...rest } = members
  const words = { name, description, note, issues, phrases, confirmation }
  const texts = toTexts({ words, languages: rest.languages }, rest.languages[0] ?? 'en')
  const titled = texts.issues.map((issue) => ({ ...issue, title: issue.title.text }))
  const inFirstLanguage = { name: texts.name.text, description: texts.description.text, issues: titled }
  return { ...rest, ...inFirstLanguage, words, afterSubscribe }
}

type Path = readonly PropertyKey[]

/** Converts an issue to the path of the mistake and a message with the value that was given. */
function toMistake(issue: z.core.$ZodIssue, value: unknown): { path: Path; message: string } {
  const { path, message } = issue
  const given = path.reduce<unknown>((inner, key) => (inner as Record<PropertyKey, unknown> | undefined)?.[key], value)
  if (issue.code === 'invalid_union') {
    // An object has the first schema of a union, and anything else the second one.
    const isObject = typeof given === 'object' && given !== null && !Array.isArray(given)
    const mistakes = isObject ? issue.errors[0] : issue.errors[1]
    const inner = mistakes?.[0]
    if (inner) return toMistake({ ...inner, path: [...path, ...inner.path] }, value)
  }
  if (issue.code === 'unrecognized_keys') return { path: [...path, ...issue.keys.slice(0, 1)], message }
  const member = path.join('.') || 'the file'
  return { path, message: `${member} is ${shorten(JSON.stringify(given) ?? 'missing')}: ${message}` }
}

/** Finds the offset of the member at a path, or of the nearest parent in the text. */
function findOffset(document: Document, path: Path): number {
  const { isMap, isNode } = loadYaml()
  const parent = document.getIn(path.slice(0, -1), true)
  const pair = isMap<Node>(parent) && parent.items.find(({ key }) => String(key) === path.at(-1))
  const node = pair ? pair.key : document.getIn(path, true)
  if (isNode(node)) return node.range?.[0] ?? 0
  return path.length > 0 ? findOffset(document, path.slice(0, -1)) : 0
}
