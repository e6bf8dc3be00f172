/** The sitemap: valid, mutual, dated by content, split where the protocol asks for it; and mistakes that stop the start. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { Readable } from 'node:stream'
import { parseSitemap, parseSitemapIndex, type SitemapItem } from 'sitemap'
import { validateXML } from 'xmllint-wasm'
import { LANGUAGE_TAGS } from '../../src/config/languages.ts'
import { parseSite } from '../../src/config/site-file.ts'
import { createSitemap, type IndexedPage, SITEMAP_LIMITS } from '../../src/documents/sitemap.ts'
import { LOCALES } from '../../src/page/locales.ts'
import { DOCUMENTS, ENDPOINT } from '../../src/routes.ts'
import { ROOT, toSupportFile } from '../support/paths.ts'
import { createFolder, type RunningService, runCommand, startService } from '../support/service.ts'

const BASE_URL = 'https://www.gazette.example'
const SITE = `
languages: [de, en, ar]
pages:
  - path: /it's/all?year=2026&topic=all
    lastmod: 2026-05-31
  - path: /about
    lastmod: 2026-02-28
    alternates: { en: /about, de: /%C3%BCber, zh-Hant-TW: /zh/about, x-default: /choose }
  - path: /%C3%BCber
    lastmod: 2024-02-29
    alternates: { de: /%C3%BCber, en: /about, zh-Hant-TW: /zh/about, x-default: /choose }
  - path: /zh/about
    lastmod: 2025-12-31
    alternates: { de: /%C3%BCber, en: /about, zh-Hant-TW: /zh/about, x-default: /choose }
  - path: /choose
    lastmod: 2023-01-01
    alternates: { de: /%C3%BCber, en: /about, zh-Hant-TW: /zh/about, x-default: /choose }
`

let service: RunningService
beforeAll(async () => {
  service = await startService({ site: SITE, env: { BASE_URL } })
})
afterAll(() => service.stop())

describe('the sitemap of a site with pages of its own', () => {
  test('is valid by the published schema', async () => {
    expect(await lint(await readSitemap(service))).toEqual([])
  })

  test('has the versions of the page and the pages of the site file, each once, in their order', async () => {
    const items = await parseUrls(await readSitemap(service))
    const paths = ['/', '/en', '/ar', "/it's/all?year=2026&topic=all", '/about', '/%C3%BCber', '/zh/about']
    expect(items.map(({ url }) => url)).toEqual([...paths, '/choose'].map((path) => BASE_URL + path))
  })

  test('gives every page the date of its content: of the site file, and of the text of each built-in version', async () => {
    const items = await parseUrls(await readSitemap(service))
    const dates = items.map(({ lastmod }) => lastmod)
    expect(dates.slice(3)).toEqual(['2026-05-31', '2026-02-28', '2024-02-29', '2025-12-31', '2023-01-01'])
    expect(dates.slice(0, 3)).toEqual([LOCALES.de, LOCALES.en, LOCALES.ar].map(({ changed }) => changed))
  })

  test('has every version list itself, all others and x-default', async () => {
    const items = await parseUrls(await readSitemap(service))
    expectMutual(items)
    expect(toAlternates(items[0]!)).toEqual({
      de: `${BASE_URL}/`,
      en: `${BASE_URL}/en`,
      ar: `${BASE_URL}/ar`,
      'x-default': `${BASE_URL}/`,
    })
    expect(toAlternates(items[3]!)).toEqual({})
    expect(toAlternates(items[4]!)).toEqual({
      de: `${BASE_URL}/%C3%BCber`,
      en: `${BASE_URL}/about`,
      'zh-Hant-TW': `${BASE_URL}/zh/about`,
      'x-default': `${BASE_URL}/choose`,
    })
  })
})

test('a site that says nothing has the page in twelve languages', async () => {
  const plain = await startService({ env: { BASE_URL } })
  const items = await parseUrls(await readSitemap(plain))
  await plain.stop()
  expect(items.length).toBe(12)
  expect(Object.keys(toAlternates(items[11]!))).toEqual([...LANGUAGE_TAGS, 'x-default'])
  expectMutual(items)
})

describe('what is too much for one file becomes an index', () => {
  const toPage = (number: number) => ({ path: `/page/${number}`, lastmod: '2026-01-01' })

  test('more than 50,000 pages, served', async () => {
    const pages = Array.from({ length: SITEMAP_LIMITS.urls }, (_, number) => toPage(number))
    const text = pages.map(({ path, lastmod }) => `- { path: ${path}, lastmod: ${lastmod} }\n`)
    const site = `languages: [en]\npages:\n${text.join('')}`
    const large = await startService({ site, env: { BASE_URL } })
    const { body } = await large.request(DOCUMENTS.sitemap.path)
    expect(await lint(body, 'siteindex.xsd')).toEqual([])

    const found: string[] = []
    for (const { url } of await parseSitemapIndex(Readable.from([body]))) {
      expect(url).toMatch(/^https:\/\/www\.gazette\.example\/sitemap-[12]\.xml$/)
      const answer = await fetch(url.replace(BASE_URL, large.origin))
      expect(answer.headers.get('content-type')).toBe(DOCUMENTS.sitemap.mediaType)
      const part = await answer.text()
      expect(await lint(part)).toEqual([])
      found.push(...(part.match(/<loc>[^<]+/g) ?? []).map((loc) => loc.slice('<loc>'.length)))
    }
    await large.stop()
    expect(found).toEqual(['/', ...pages.map(({ path }) => path)].map((path) => BASE_URL + path))
  })

  test('exactly 50,000 pages stay one file', async () => {
    const pages = Array.from({ length: SITEMAP_LIMITS.urls }, (_, number) => toPage(number))
    expect(await createSitemap(pages, BASE_URL)).toHaveLength(1)
  })

  test('files that would have too many bytes are halved, and dated by the latest of their pages', async () => {
    const paths = Array.from({ length: 7 }, (_, number) => `/version/${number}`)
    const alternates = Object.fromEntries(paths.map((path, number) => [LANGUAGE_TAGS[number]!, path]))
    const pages: IndexedPage[] = paths.map((path, number) => ({
      path,
      lastmod: `2026-01-0${number + 1}`,
      alternates,
    }))
    const limits = { urls: 50_000, bytes: 2_000 }
    const [index, ...parts] = await createSitemap(pages, BASE_URL, limits)
    expect(parts.map(({ path }) => path)).toEqual(parts.map((_, number) => `/sitemap-${number + 1}.xml`))
    for (const { body } of parts) {
      expect(Buffer.byteLength(body)).toBeLessThanOrEqual(limits.bytes)
      expect(await lint(body)).toEqual([])
    }
    const items = await Promise.all(parts.map(({ body }) => parseUrls(body)))
    expect(items.flat().map(({ url }) => url)).toEqual(paths.map((path) => BASE_URL + path))
    expect(await parseSitemapIndex(Readable.from([index!.body]))).toEqual(
      parts.map(({ path }, number) => ({
        url: BASE_URL + path,
        lastmod: items[number]!.map(({ lastmod }) => lastmod!)
          .toSorted()
          .at(-1)!,
      })),
    )
  })
})

describe('a mistake in pages stops the start', () => {
  test('with the file and the line, before anything is created', async () => {
    const wrong = await createFolder()
    await writeFile(join(wrong, 'site.yaml'), 'name: N\npages:\n  - path: https://other.example/\n')
    const { code, stderr } = await runCommand(['serve'], { folder: wrong, env: { PORT: '0', BASE_URL } })
    await rm(wrong, { recursive: true })
    expect(stderr).toStartWith('rollcall: site.yaml:3: pages.0.path is "https://other.example/": use a path')
    expect(code).toBe(2)
  })

  const listed = (path: string, rest = '') => `  - path: ${path}\n    lastmod: 2026-01-01\n${rest}`
  const versions = (text: string) => `    alternates:\n${text.replace(/^/gm, '      ')}\n`
  const PATH = 'use a path on this host'
  const OWN = 'leave out what Rollcall serves itself'
  const mistakes: Record<string, readonly [text: string, line: number, message: string]> = {
    'off the host': [listed('//other.example/a'), 2, PATH],
    'no path': [listed('about'), 2, PATH],
    'a fragment': [listed('"/about#us"'), 2, PATH],
    'not in the form of a URL': [listed('/über'), 2, PATH],
    'dots that lead elsewhere': [listed('/a/../b'), 2, PATH],
    'a backslash': [listed('/a\\b'), 2, PATH],
    'too long': [listed(`/${'a'.repeat(1780)}`), 2, PATH],
    twice: [listed('/a') + listed('/b') + listed('/a'), 6, 'list each page once'],
    'the page itself': [listed('/a') + listed('/de'), 4, OWN],
    'a document': [listed(DOCUMENTS.robots.path), 2, OWN],
    'the endpoint': [listed(ENDPOINT.path), 2, OWN],
    'no date': ['  - path: /a\n', 2, 'use the date of the last change'],
    'no day': ['  - path: /a\n    lastmod: 2026-02-30\n', 3, 'use the date of the last change'],
    'a time': ['  - path: /a\n    lastmod: 2026-02-20T10:00:00Z\n', 3, 'use the date of the last change'],
    'no language': [listed('/a', versions('english: /a\nx-default: /a')), 5, 'use language tags'],
    'an alternate off the host': [listed('/a', versions('en: https://b.example/\nx-default: /a')), 5, PATH],
    'not itself': [
      listed('/a', versions('en: /b\nx-default: /b')) + listed('/b'),
      4,
      'list this page too, "/a"',
    ],
    'no x-default': [listed('/a', versions('en: /a')), 4, 'list the version for all others under x-default'],
    'a version that is not listed': [
      listed('/a', versions('en: /a\nde: /b\nx-default: /a')),
      6,
      'list that page too, with the same alternates',
    ],
    'a version that does not list back': [
      listed('/a', versions('en: /a\nde: /b\nx-default: /a')) + listed('/b'),
      6,
      'give that page the same alternates as this one',
    ],
    'a version that lists others': [
      listed('/a', versions('en: /a\nde: /b\nx-default: /a')) +
        listed('/b', versions('en: /a\nde: /b\nx-default: /b')),
      6,
      'give that page the same alternates as this one',
    ],
    'no list': ['  path: /a\n', 1, 'use a list of pages'],
    'no entry': ['  - /a\n', 2, 'use keys with values: path, lastmod, alternates'],
    'an unknown key': [
      listed('/a', '    lastMod: 2026-01-01\n'),
      4,
      'unknown key "lastMod"; did you mean "lastmod"?',
    ],
  }
  for (const [name, [text, line, message]] of Object.entries(mistakes)) {
    test(name, () => {
      const parse = () => parseSite(`pages:\n${text}`, 'my.yaml')
      expect(parse).toThrow(new RegExp(`^my\\.yaml:${line}: `))
      expect(parse).toThrow(message)
    })
  }
})

async function readSitemap({ request }: RunningService): Promise<string> {
  return (await request(DOCUMENTS.sitemap.path)).body
}

function parseUrls(text: string): Promise<SitemapItem[]> {
  return parseSitemap(Readable.from([text]))
}

function toAlternates({ links }: SitemapItem): Record<string, string> {
  return Object.fromEntries(links.map(({ lang, url }) => [lang, url]))
}

/** Every version is listed, and lists the same versions, itself and one for all others. */
function expectMutual(items: readonly SitemapItem[]): void {
  const known = new Map(items.map((item) => [item.url, item]))
  expect(known.size).toBe(items.length)
  for (const item of items.filter(({ links }) => links.length > 0)) {
    const alternates = toAlternates(item)
    expect(Object.values(alternates)).toContain(item.url)
    expect(alternates['x-default']).toBeDefined()
    for (const url of Object.values(alternates)) expect(toAlternates(known.get(url)!)).toEqual(alternates)
  }
}

/** Holds a file against a schema by libxml2; returns what is wrong. */
async function lint(contents: string, name: 'sitemap-file.xsd' | 'siteindex.xsd' = 'sitemap-file.xsd') {
  const published = resolve(ROOT, 'node_modules/sitemap/schema/sitemap.xsd')
  const { errors } = await validateXML({
    xml: { fileName: 'sitemap.xml', contents },
    schema: await readSchema(name),
    preload: [
      { fileName: 'sitemap.xsd', contents: await Bun.file(published).text() },
      await readSchema('xhtml-link.xsd'),
    ],
    maxMemoryPages: 4096,
  })
  return errors.map(({ message }) => message)
}

async function readSchema(fileName: string) {
  return { fileName, contents: await Bun.file(toSupportFile(`schemas/${fileName}`)).text() }
}
