/**
 * Writes `src/locales/languages.ts`, the index of the files of that folder. The index imports every file by name, because
 * `bun build --compile` follows only such imports.
 *
 *     bun test/support/locale-index.ts [ROOT]
 */

import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Locale } from '../../src/locales/locale.ts'
import { ROOT } from './paths.ts'

const OTHER_FILES = ['locale.ts', 'languages.ts']

/** Returns the path of the index. @param root the folder of the checkout */
export function toIndexFile(root: string): string {
  return join(root, 'src/locales/languages.ts')
}

/**
 * Builds the text of the index. A language whose phrases are those of the present index keeps its date.
 *
 * @param root the folder of the checkout
 * @param today the date of all other languages, as YYYY-MM-DD
 */
export async function createLocaleIndex(root: string, today: string): Promise<string> {
  const locales = await readLocales(join(root, 'src/locales'))
  const known = readDates(toIndexFile(root))
  const tags = [...locales.keys()]
  const changes = tags.map((tag) => {
    const hash = createHash('sha256')
      .update(JSON.stringify(locales.get(tag)))
      .digest('hex')
      .slice(0, 12)
    return `  ${toKey(tag)}: { date: '${known.get(hash) ?? today}', hash: '${hash}' },\n`
  })
  return `/** All languages, by BCP 47 tag. Written by \`npm run locales\` from the files of this folder. */

${['locale', ...tags].toSorted().map(toImport).join('')}
/** The phrases of the page. English is the first, the others are in the order of their own names. */
export const LOCALES = {
${tags.map((tag) => (tag === toName(tag) ? `  ${tag},\n` : `  ${toKey(tag)}: ${toName(tag)},\n`)).join('')}} satisfies Readonly<Record<string, Locale>>

/** The last change of the phrases: its UTC date, which is the lastmod of the page, and a hash of the phrases. */
export const CHANGES = {
${changes.join('')}} satisfies Readonly<Record<keyof typeof LOCALES, { date: string; hash: string }>>
`
}

/** Reads the date of each hash. Not by an import, which fails after a file was removed. */
function readDates(index: string): ReadonlyMap<string, string> {
  const text = existsSync(index) ? readFileSync(index, 'utf8') : ''
  const lines = text.matchAll(/\{ date: '([^']*)', hash: '([^']*)' \}/g)
  return new Map(Array.from(lines, ([, date = '', hash = '']) => [hash, date]))
}

/** Reads the files of the languages, by tag, in the order of the page. */
async function readLocales(folder: string): Promise<ReadonlyMap<string, Locale>> {
  const files = readdirSync(folder).filter((file) => !OTHER_FILES.includes(file))
  const entries = files.map(async (file) => {
    const tag = file.replace(/\.ts$/, '')
    const locale: Locale | undefined = (await import(join(folder, file)))[toName(tag)]
    if (locale === undefined) throw new Error(`src/locales/${file} must export ${toName(tag)}`)
    return [tag, locale] as const
  })
  const order = new Intl.Collator('en')
  const rank = ([tag]: readonly [string, Locale]) => (tag === 'en' ? 0 : 1)
  const sorted = (await Promise.all(entries)).sort(
    (one, other) => rank(one) - rank(other) || order.compare(one[1].language, other[1].language),
  )
  return new Map(sorted)
}

/** Converts a tag to the name that its file exports: `pt-BR` exports `ptBR`. */
function toName(tag: string): string {
  return tag.replaceAll('-', '')
}

function toImport(file: string): string {
  const names = file === 'locale' ? 'type { Locale }' : `{ ${toName(file)} }`
  return `import ${names} from './${file}.ts'\n`
}

function toKey(tag: string): string {
  return tag.includes('-') ? `'${tag}'` : tag
}

if (import.meta.main) {
  const root = process.argv[2] ?? ROOT
  writeFileSync(toIndexFile(root), await createLocaleIndex(root, new Date().toISOString().slice(0, 10)))
}
