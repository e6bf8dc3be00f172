/** The site file: what an owner says of the site, in YAML. Read once at start; a mistake in it stops the start. */

import { dirname, resolve } from 'node:path'
import { closest } from 'fastest-levenshtein'
import {
  type Alias,
  type Document,
  isMap,
  isNode,
  LineCounter,
  type Node,
  parseDocument,
  visit,
  type YAMLError,
} from 'yaml'
import { z } from 'zod'
import { UsageError } from '../failure.ts'
import { DOCUMENTS, ENDPOINT } from '../routes.ts'
import { LANGUAGE_TAGS, toPagePath } from './languages.ts'
import { type Logo, readLogo } from './logo.ts'
import { pageEntries } from './page-entries.ts'

// One line for people: no control character, no line or paragraph separator, no half of a surrogate pair.
const NOT_IN_A_LINE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u

const line = (most: number) => {
  const error = `use one line of 1 to ${most} characters, without control characters`
  return z
    .string({ error })
    .trim()
    .min(1, { error })
    .max(most, { error })
    .refine((text) => !NOT_IN_A_LINE.test(text), { error })
}

// Held against a pattern too: the URL parser drops tabs and newlines, and takes `https:host`.
const url = (pattern: RegExp, error: string) =>
  z
    .string({ error })
    .trim()
    .refine((text) => pattern.test(text) && URL.canParse(text), { error })

/** The accent of a site that chooses none. */
export const DEFAULT_ACCENT = '#2b5a4e'

const A_COLOUR = 'use a colour in six hexadecimal digits such as "#2b5a4e", in quotes (# begins a comment)'

const object = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.strictObject(shape, { error: `use keys with values: ${Object.keys(shape).join(', ')}` }).readonly()

const schema = object({
  name: line(80).default('Newsletter'),
  description: line(300).default('News from this site by email, now and then.'),
  contact: url(
    /^(?:https?:\/\/|mailto:[^@?]+@)[^\s\p{Cc}]+$/u,
    'use a URL such as https://www.example.org/contact or mailto:name@example.org',
  ).optional(),
  // Not `default`: that would hand out an object that is not frozen.
  license: object({
    name: line(80),
    url: url(/^https?:\/\/[^\s\p{Cc}]+$/u, 'use an http or https URL'),
  }).prefault({ name: 'CC BY-SA 4.0', url: 'https://creativecommons.org/licenses/by-sa/4.0/' }),
  // Of the page, which darkens or lightens it as far as legibility asks for it.
  accent: z
    .string({ error: A_COLOUR })
    .trim()
    .toLowerCase()
    .regex(/^#[0-9a-f]{6}$/, { error: A_COLOUR })
    .default(DEFAULT_ACCENT),
  // A path, from the folder of the site file.
  logo: line(1000).optional(),
  // The first is the default one.
  languages: z
    .array(z.enum(LANGUAGE_TAGS, { error: `use tags out of ${LANGUAGE_TAGS.join(', ')}` }), {
      error: `use a list of tags out of ${LANGUAGE_TAGS.join(', ')}`,
    })
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
  const message = 'leave out what Rollcall serves itself; its own pages are in the sitemap anyway'
  context.addIssue({ code: 'custom', path: ['pages', index, 'path'], message })
})

/** What the owner says of the site; every member that the file leaves out has its default. */
export type Site = Omit<z.infer<typeof schema>, 'logo'> & { readonly logo?: Logo }

/**
 * Reads the text of a site file, and the logo that it names.
 *
 * @param text YAML; nothing at all gives the defaults
 * @param file its path: the name that errors give, and where the path of the logo begins
 * @throws UsageError at the first mistake, in one line
 */
export function parseSite(text: string, file: string): Site {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, stringKeys: true })
  const mistake = (offset: number, reason: string) =>
    new UsageError(`${file}:${lines.linePos(offset).line}: ${reason}`)

  const fault = document.errors[0] ?? document.warnings[0]
  if (fault) throw mistake(fault.pos[0], `this is not YAML that can be read: ${toWords(fault)}`)
  const alias = findAlias(document)
  if (alias) throw mistake(alias.range?.[0] ?? 0, `"*${alias.source}" is an alias: write the value itself`)

  const value: unknown = document.toJS() ?? {}
  const result = schema.safeParse(value)
  if (result.success) {
    return withLogo(result.data, file, (reason) => mistake(offsetOf(document, ['logo']), reason))
  }

  const issue = result.error.issues[0] as z.core.$ZodIssue
  if (issue.code === 'unrecognized_keys') {
    const key = issue.keys[0] as string
    throw mistake(offsetOf(document, [...issue.path, key]), toAdvice(key, keysAt(issue.path)))
  }
  const name = issue.path.join('.') || 'the file'
  const given = JSON.stringify(valueAt(value, issue.path)) ?? 'missing'
  throw mistake(offsetOf(document, issue.path), `${name} is ${given}: ${issue.message}`)
}

/** Puts the logo itself where the site file has its path. */
function withLogo(
  { logo, ...site }: z.infer<typeof schema>,
  file: string,
  toMistake: (reason: string) => UsageError,
): Site {
  if (logo === undefined) return Object.freeze(site)
  const read = readLogo(resolve(dirname(file), logo))
  if (!read.ok) throw toMistake(`logo is ${JSON.stringify(logo)}: ${read.reason}`)
  return Object.freeze({ ...site, logo: read.value })
}

type Path = readonly PropertyKey[]

function toWords(fault: YAMLError): string {
  return fault.code === 'MULTIPLE_DOCS' ? 'there is more than one document' : fault.message
}

function toAdvice(key: string, known: readonly string[]): string {
  return `unknown key ${JSON.stringify(key)}; did you mean "${closest(key, known)}"? Known here: ${known.join(', ')}`
}

/** The first alias (`*name`), which a file this small can do without: one may point nowhere, or swell to gigabytes. */
function findAlias(document: Document): Alias | undefined {
  let found: Alias | undefined
  visit(document, {
    Alias(_key, alias) {
      found = alias
      return visit.BREAK
    },
  })
  return found
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce((inner, key) => (inner as Record<PropertyKey, unknown> | undefined)?.[key], value)
}

/** Where in the text the member at a path begins, or the nearest thing around it that is there. */
function offsetOf(document: Document, path: Path): number {
  const parent = document.getIn(path.slice(0, -1), true)
  const pair = isMap<Node>(parent) && parent.items.find(({ key }) => String(key) === path.at(-1))
  const node = pair ? pair.key : document.getIn(path, true)
  if (isNode(node)) return node.range?.[0] ?? 0
  return path.length > 0 ? offsetOf(document, path.slice(0, -1)) : 0
}

/** The keys that the schema knows in the object at a path. */
function keysAt(path: Path): string[] {
  let node: z.core.JSONSchema.JSONSchema | undefined = z.toJSONSchema(schema, { io: 'input' })
  for (const step of path) {
    const next: unknown = typeof step === 'number' ? node?.items : node?.properties?.[String(step)]
    node = next as z.core.JSONSchema.JSONSchema | undefined
  }
  return Object.keys(node?.properties ?? {})
}
