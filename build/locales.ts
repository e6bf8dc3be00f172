/**
 * `npm run locales`: writes `src/locales/languages.ts`, the index of the files of that folder. It imports every file by name,
 * because `bun build --compile` follows only such imports.
 */

import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Locale } from '../src/locales/locale.ts'

/** Returns the path of the index. @param root the folder of the checkout */
export const toIndexFile = (root: string) => join(root, 'src/locales/languages.ts')

/**
 * Builds the text of the index. A language whose phrases are those of the present index keeps its date.
 *
 * @param root the folder of the checkout
 * @param today the date of all other languages, as YYYY-MM-DD
 */
export async function createLocaleIndex(root: string, today: string): Promise<string> {
  const rows = await readLocales(join(root, 'src/locales'))
  // Not by an import, which fails after a file was removed.
  const changes = readFileSync(toIndexFile(root), 'utf8').matchAll(/date: '(.*)', hash: '(.*)'/g)
  const dates = new Map(Array.from(changes, ([, date, hash]) => [hash, date]))
  const toKey = (tag: string) => (tag.includes('-') ? `'${tag}'` : tag)
  const imports = [...rows.map(({ tag, name }) => ({ tag, name })), { tag: 'locale', name: 'type { Locale }' }]
    .sort((one, other) => (one.tag < other.tag ? -1 : 1))
    .map(({ tag, name }) => `import ${tag === 'locale' ? name : `{ ${name} }`} from './${tag}.ts'\n`)
  const locales = rows.map(({ tag, name }) => `  ${tag === name ? name : `${toKey(tag)}: ${name}`},\n`)
  const lines = rows.map(
    ({ tag, hash }) => `  ${toKey(tag)}: { date: '${dates.get(hash) ?? today}', hash: '${hash}' },\n`,
  )
  return `/** All languages, by BCP 47 tag. Written by \`npm run locales\` from the files of this folder. */

${imports.join('')}
/** The phrases of the page. English is the first, the others are in the order of their own names. */
export const LOCALES = {
${locales.join('')}} satisfies Readonly<Record<string, Locale>>

/** The last change of the phrases: its UTC date, which is the lastmod of the page, and a hash of the phrases. */
export const CHANGES = {
${lines.join('')}} satisfies Readonly<Record<keyof typeof LOCALES, { date: string; hash: string }>>
`
}

/** Reads the files of the languages, in the order of the page. The file `pt-BR.ts` exports `ptBR`. */
async function readLocales(folder: string) {
  const tags = readdirSync(folder).map((file) => file.replace(/\.ts$/, ''))
  const rows = tags
    .filter((tag) => tag !== 'locale' && tag !== 'languages')
    .map(async (tag) => {
      const name = tag.replaceAll('-', '')
      const locale: Locale | undefined = (await import(join(folder, `${tag}.ts`)))[name]
      if (locale === undefined) throw new Error(`src/locales/${tag}.ts must export ${name}`)
      const hash = createHash('sha256').update(JSON.stringify(locale)).digest('hex').slice(0, 12)
      return { tag, name, hash, language: tag === 'en' ? '' : locale.language }
    })
  const { compare } = new Intl.Collator('en')
  return (await Promise.all(rows)).sort((one, other) => compare(one.language, other.language))
}

if (import.meta.main) {
  const root = join(import.meta.dir, '..')
  writeFileSync(toIndexFile(root), await createLocaleIndex(root, new Date().toISOString().slice(0, 10)))
}
