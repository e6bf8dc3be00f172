/** The sitemap: its text, with dates of the content and mutual alternates. */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { LANGUAGE_TAGS } from '../../src/config/texts.ts'
import { createSitemap } from '../../src/documents/sitemap.ts'
import { PHRASES_CHANGED } from '../../src/locales/languages.ts'
import { DOCUMENTS } from '../support/contract.ts'
import { type RunningService, startService } from '../support/service.ts'

const BASE_URL = 'https://www.gazette.example'
const ALTERNATES = '{ en: /about, de: /%C3%BCber, zh-Hant-TW: /zh/about, x-default: /choose }'
const SITE = `
languages: [de, en, ar]
pages:
  - { path: "/it's/all?year=2026&topic=all", lastmod: 2026-05-31 }
  - { path: /about, lastmod: 2026-02-28, alternates: ${ALTERNATES} }
  - { path: /%C3%BCber, lastmod: 2024-02-29, alternates: ${ALTERNATES} }
  - { path: /zh/about, lastmod: 2025-12-31, alternates: ${ALTERNATES} }
  - { path: /choose, lastmod: 2023-01-01, alternates: ${ALTERNATES} }
`

let service: RunningService
let entries: Entry[]
beforeAll(async () => {
  service = await startService({ site: SITE, env: { BASE_URL } })
  entries = parseEntries((await service.request(DOCUMENTS.sitemap.path)).body)
})
afterAll(() => service.stop())

test('it has this text: a URL set with links to the versions in other languages', () => {
  const pages = [
    { path: "/it's/all?year=2026&topic=all", lastmod: '2026-05-31' },
    { path: '/about', lastmod: '2026-02-28', alternates: { en: '/about?a&b', 'x-default': '/about' } },
  ]
  expect(createSitemap(pages, BASE_URL)).toBe(`<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml">
  <url>
    <loc>https://www.gazette.example/it&apos;s/all?year=2026&amp;topic=all</loc>
    <lastmod>2026-05-31</lastmod>
  </url>
  <url>
    <loc>https://www.gazette.example/about</loc>
    <lastmod>2026-02-28</lastmod>
    <xhtml:link rel="alternate" hreflang="en" href="https://www.gazette.example/about?a&amp;b"/>
    <xhtml:link rel="alternate" hreflang="x-default" href="https://www.gazette.example/about"/>
  </url>
</urlset>
`)
})

test('it has each version of the subscribe page, then each page of the site file, with the date of its content', () => {
  expect(entries.map(({ path, lastmod }) => [path, lastmod])).toEqual([
    ['/', PHRASES_CHANGED],
    ['/en', PHRASES_CHANGED],
    ['/ar', PHRASES_CHANGED],
    ["/it's/all?year=2026&topic=all", '2026-05-31'],
    ['/about', '2026-02-28'],
    ['/%C3%BCber', '2024-02-29'],
    ['/zh/about', '2025-12-31'],
    ['/choose', '2023-01-01'],
  ])
})

test('each version lists all versions and x-default', () => {
  expect(entries[0]!.alternates).toEqual({ de: '/', en: '/en', ar: '/ar', 'x-default': '/' })
  expect(entries[3]!.alternates).toEqual({})
  expectMutual(entries)
})

test('a site without languages has the page in every language', async () => {
  const plain = await startService({ env: { BASE_URL } })
  const found = parseEntries((await plain.request(DOCUMENTS.sitemap.path)).body)
  await plain.stop()
  expect(Object.keys(found.at(-1)!.alternates)).toEqual([...LANGUAGE_TAGS, 'x-default'])
  expect(found).toHaveLength(LANGUAGE_TAGS.length)
  expectMutual(found)
})

interface Entry {
  readonly path: string
  readonly lastmod: string
  readonly alternates: Readonly<Record<string, string>>
}

function parseEntries(text: string): Entry[] {
  const toPath = (url = '') => {
    expect(url).toStartWith(`${BASE_URL}/`)
    return url.slice(BASE_URL.length).replaceAll('&apos;', "'").replaceAll('&amp;', '&')
  }
  return [...text.matchAll(/<url>(.*?)<\/url>/gs)].map(([, entry = '']) => {
    const links = [...entry.matchAll(/hreflang="([^"]+)" href="([^"]+)"/g)]
    return {
      path: toPath(/<loc>(.*)<\/loc>/.exec(entry)?.[1]),
      lastmod: /<lastmod>(.*)<\/lastmod>/.exec(entry)?.[1] ?? '',
      alternates: Object.fromEntries(links.map(([, language = '', url]) => [language, toPath(url)])),
    }
  })
}

/** Expects that each version is listed, and lists the same versions, including itself and x-default. */
function expectMutual(entries: readonly Entry[]): void {
  const known = new Map(entries.map(({ path, alternates }) => [path, alternates]))
  expect(known.size).toBe(entries.length)
  for (const { path, alternates } of entries.filter(({ alternates }) => Object.keys(alternates).length > 0)) {
    expect(Object.values(alternates)).toContain(path)
    expect(alternates['x-default']).toBeDefined()
    for (const version of Object.values(alternates)) expect(known.get(version)).toEqual(alternates)
  }
}
