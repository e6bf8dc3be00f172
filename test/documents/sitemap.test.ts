/** The sitemap: its text, with dates of the content and mutual alternates. */

import { expect, test } from 'bun:test'
import { LOCALES, PHRASES_CHANGED } from '../../src/locales/languages.ts'
import { DOCUMENTS } from '../support/contract.ts'
import { startService } from '../support/service.ts'

const BASE_URL = 'https://www.gazette.example'
const ALTERNATES = '{ en: /about, de: /%C3%BCber, zh-Hant-TW: /zh/about, x-default: "/choose?a=1&b" }'
const START = `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml">
  <url>
    <loc>`
const SITE = `
languages: [de, en, ar]
pages:
  - { path: "/it's/all?year=2026&topic=all", lastmod: 2026-05-31 }
  - { path: /about, lastmod: 2026-02-28, alternates: ${ALTERNATES} }
  - { path: /%C3%BCber, lastmod: 2024-02-29, alternates: ${ALTERNATES} }
  - { path: /zh/about, lastmod: 2025-12-31, alternates: ${ALTERNATES} }
  - { path: "/choose?a=1&b", lastmod: 2023-01-01, alternates: ${ALTERNATES} }
`

test('it has each version of the subscribe page, then each page of the site file, with its date and all its versions', async () => {
  const service = await startService({ site: SITE, env: { BASE_URL } })
  const { body } = await service.request(DOCUMENTS.sitemap.path)
  await service.stop()
  const entries = body
    .replaceAll(BASE_URL, '')
    .split('<url>')
    .slice(1)
    .map((entry) => {
      const links = [...entry.matchAll(/<xhtml:link rel="alternate" hreflang="([^"]+)" href="([^"]+)"\/>/g)]
      const [, path, lastmod] = /<loc>(.*)<\/loc>\s*<lastmod>(.*)<\/lastmod>/.exec(entry) ?? []
      return [path, lastmod, Object.fromEntries(links.map(([, language, target]) => [language, target]))]
    })
  const home = { de: '/', en: '/en', ar: '/ar', 'x-default': '/' }
  const about = { en: '/about', de: '/%C3%BCber', 'zh-Hant-TW': '/zh/about', 'x-default': '/choose?a=1&amp;b' }
  expect(body).toStartWith(START)
  expect(body).toEndWith('"/>\n  </url>\n</urlset>\n')
  expect(entries).toEqual([
    ['/', PHRASES_CHANGED, home],
    ['/en', PHRASES_CHANGED, home],
    ['/ar', PHRASES_CHANGED, home],
    ['/it&#x27;s/all?year=2026&amp;topic=all', '2026-05-31', {}],
    ['/about', '2026-02-28', about],
    ['/%C3%BCber', '2024-02-29', about],
    ['/zh/about', '2025-12-31', about],
    ['/choose?a=1&amp;b', '2023-01-01', about],
  ])
})

test('the date of the pages changes with their phrases', () => {
  const digest = new Bun.CryptoHasher('sha256').update(JSON.stringify(LOCALES)).digest('hex').slice(0, 16)
  // When this fails, set PHRASES_CHANGED to the day of the change, and then this pair.
  expect([PHRASES_CHANGED, digest]).toEqual(['2026-11-28', '0a039eb1531f5fdf'])
})
