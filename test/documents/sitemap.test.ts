/** The sitemap: valid, with dates of the content, mutual alternates, and split at the limits of the protocol. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { resolve } from 'node:path'
import { Readable } from 'node:stream'
import { parseSitemap, parseSitemapIndex, type SitemapItem } from 'sitemap'
import { validateXML } from 'xmllint-wasm'
import { LANGUAGE_TAGS } from '../../src/config/texts.ts'
import { readContent } from '../../src/documents/document.ts'
import { createSitemap, type IndexedPage, SITEMAP_LIMITS } from '../../src/documents/sitemap.ts'
import { CHANGES } from '../../src/locales/languages.ts'
import { DOCUMENTS } from '../../src/routes.ts'
import { ROOT, toSupportFile } from '../support/paths.ts'
import { type RunningService, startService } from '../support/service.ts'

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

describe('the sitemap of a site with other pages', () => {
  test('is valid against the published schema', async () => {
    expect(await lint(await readSitemap(service))).toEqual([])
  })

  test('has each version of the subscribe page, then each page of the site file, once', async () => {
    const items = await parseUrls(await readSitemap(service))
    const paths = ['/', '/en', '/ar', "/it's/all?year=2026&topic=all", '/about', '/%C3%BCber', '/zh/about']
    expect(items.map(({ url }) => url)).toEqual([...paths, '/choose'].map((path) => BASE_URL + path))
  })

  test('has the date of each page: from the site file, or of the last change of the phrases', async () => {
    const items = await parseUrls(await readSitemap(service))
    const dates = items.map(({ lastmod }) => lastmod)
    expect(dates.slice(3)).toEqual(['2026-05-31', '2026-02-28', '2024-02-29', '2025-12-31', '2023-01-01'])
    expect(dates.slice(0, 3)).toEqual([CHANGES.de, CHANGES.en, CHANGES.ar].map(({ date }) => date))
  })

  test('lists all versions and x-default for each version', async () => {
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

test('a site without languages has the page in every language', async () => {
  const plain = await startService({ env: { BASE_URL } })
  const items = await parseUrls(await readSitemap(plain))
  await plain.stop()
  expect(items.length).toBe(LANGUAGE_TAGS.length)
  expect(Object.keys(toAlternates(items.at(-1)!))).toEqual([...LANGUAGE_TAGS, 'x-default'])
  expectMutual(items)
})

describe('the sitemap becomes an index above the limits of one file', () => {
  const toPage = (number: number) => ({ path: `/page/${number}`, lastmod: '2026-01-01' })

  test('with 50,001 pages, and the service serves its parts', async () => {
    const pages = Array.from({ length: 50_000 }, (_, number) => toPage(number))
    const text = pages.map(({ path, lastmod }) => `- { path: ${path}, lastmod: ${lastmod} }\n`)
    const site = `languages: [en]\npages:\n${text.join('')}`
    const large = await startService({ site, env: { BASE_URL } })
    const index = await fetch(large.origin + DOCUMENTS.sitemap.path)
    const body = await index.text()
    // The description does not depend on `pages`, and the check of the other service does not read the large site file.
    const { status, headers } = index
    service.check({ method: 'GET', path: DOCUMENTS.sitemap.path, status, headers, body })
    expect(await lint(body, 'siteindex.xsd')).toEqual([])

    const found: string[] = []
    for (const { url } of await parseSitemapIndex(Readable.from([body]))) {
      expect(url).toMatch(/^https:\/\/www\.gazette\.example\/sitemap-[12]\.xml$/)
      const response = await fetch(url.replace(BASE_URL, large.origin))
      expect(response.headers.get('content-type')).toBe(DOCUMENTS.sitemap.mediaType)
      const part = await response.text()
      expect(await lint(part)).toEqual([])
      found.push(...(part.match(/<loc>[^<]+/g) ?? []).map((loc) => loc.slice('<loc>'.length)))
    }
    await large.stop()
    expect(found).toEqual(['/', ...pages.map(({ path }) => path)].map((path) => BASE_URL + path))
    // The service needs 4 s of CPU for the site file.
  }, 180_000)

  test('but not with exactly 50,000 pages', async () => {
    const pages = Array.from({ length: 50_000 }, (_, number) => toPage(number))
    expect(await createSitemap(pages, BASE_URL)).toHaveLength(1)
  })

  test('of sitemaps.org: 50,000 URLs and 50 MiB', () => {
    expect(SITEMAP_LIMITS).toEqual({ urls: 50_000, bytes: 52_428_800 })
  })

  test('by halves until each part is small enough, with the latest date of its pages', async () => {
    const paths = Array.from({ length: 7 }, (_, number) => `/version/${number}`)
    const alternates = Object.fromEntries(paths.map((path, number) => [LANGUAGE_TAGS[number]!, path]))
    const pages: IndexedPage[] = paths.map((path, number) => ({
      path,
      lastmod: `2026-01-0${number + 1}`,
      alternates,
    }))
    const limits = { urls: 50_000, bytes: 2_000 }
    const files = (await createSitemap(pages, BASE_URL, limits)).map(async (file) => ({
      path: file.path,
      body: String(await readContent(file)),
    }))
    const [index, ...parts] = await Promise.all(files)
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

async function readSitemap({ request }: RunningService): Promise<string> {
  return (await request(DOCUMENTS.sitemap.path)).body
}

function parseUrls(text: string): Promise<SitemapItem[]> {
  return parseSitemap(Readable.from([text]))
}

function toAlternates({ links }: SitemapItem): Record<string, string> {
  return Object.fromEntries(links.map(({ lang, url }) => [lang, url]))
}

/** Expects that each version is listed, and lists the same versions, including itself and x-default. */
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

/** Validates a file against a schema with libxml2. Returns the errors. */
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
