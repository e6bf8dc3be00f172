/** Links: an agent finds everything, and every link leads to something that exists. */

import { afterAll, describe, expect, test } from 'bun:test'
import { DOCUMENTS, ENDPOINT } from '../support/contract.ts'
import { startService } from '../support/service.ts'

const BASE_URL = 'https://www.gazette.example'
const SITE = `
contact: mailto:editor@gazette.example
languages: [en, pt-BR]
`
const PATHS = Object.values(DOCUMENTS).map(({ path }) => path)
const LINK = [
  `<${BASE_URL}/openapi.json>; rel="service-desc"; type="application/json"`,
  `<${BASE_URL}/llms.txt>; rel="service-doc"; type="text/markdown"`,
  `<${BASE_URL}/.well-known/api-catalog>; rel="api-catalog"; type="application/linkset+json"`,
  `<${BASE_URL}/sitemap.xml>; rel="sitemap"; type="application/xml"`,
].join(', ')

const service = await startService({ site: SITE, env: { BASE_URL } })
afterAll(() => service.stop())

test('the Link header is on every document, on 304 and on 404, also for HEAD, with media types that are true', async () => {
  const { path: guide } = DOCUMENTS.llmsTxt
  const etag = (await service.request(guide)).headers.get('etag')!
  const requests = [...PATHS, '/nowhere'].flatMap((path) => [[path], [path, { method: 'HEAD' }]] as const)
  for (const [path, init] of [...requests, [guide, { headers: { 'If-None-Match': etag } }]] as const) {
    expect([path, (await service.request(path, init)).headers.get('link')]).toEqual([path, LINK])
  }
  for (const { href, type } of parseLinks(LINK)) {
    const { status, headers } = await service.request(toPath(href))
    expect([status, headers.get('content-type')!.split(';')[0]]).toEqual([200, type])
  }
})

test('the links of the documents lead to resources that exist, or to a few known URLs on other hosts', async () => {
  const elsewhere = new Set<string>()
  const seen = new Set<string>()
  const waiting = PATHS.map((path) => BASE_URL + path)
  for (let url = waiting.pop(); url !== undefined; url = waiting.pop()) {
    if (seen.has(url)) continue
    seen.add(url)
    if (!url.startsWith(`${BASE_URL}/`)) elsewhere.add(url)
    else waiting.push(...(await follow(toPath(url))))
  }
  expect([...elsewhere].sort()).toEqual([
    'https://creativecommons.org/licenses/by-sa/4.0/',
    // The server of the description and the resource of the metadata. Without a slash it is not a page.
    BASE_URL,
  ])
  for (const path of [...PATHS, ENDPOINT.path]) expect(seen).toContain(BASE_URL + path)
})

const read = async (path: string, init: RequestInit = {}) => (await fetch(service.origin + path, init)).text()

describe.each(['/', '/pt-BR'])('a request to %s that prefers Markdown', (page) => {
  const { path, mediaType } = DOCUMENTS.llmsTxt
  const ask = (headers: Record<string, string>) => fetch(service.origin + page, { headers })

  test('gets the guide, with the same bytes, compression and caching as /llms.txt', async () => {
    const reply = await ask({ Accept: 'text/markdown' })
    expect(await reply.text()).toBe(await read(path))
    expect(['content-type', 'content-encoding', 'vary'].map((name) => reply.headers.get(name))).toEqual([
      mediaType,
      'br',
      'Accept-Encoding, Accept',
    ])
    const unchanged = await ask({ Accept: 'text/markdown', 'If-None-Match': reply.headers.get('etag')! })
    expect([unchanged.status, unchanged.headers.get('vary')]).toEqual([304, 'Accept-Encoding, Accept'])
  })

  test('is no browser, and no form', async () => {
    for (const accept of ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', '*/*']) {
      const { headers } = await ask({ Accept: accept })
      expect([headers.get('content-type'), headers.get('link')]).toEqual(['text/html; charset=utf-8', LINK])
      expect(headers.get('vary')!.split(', ')).toEqual(expect.arrayContaining(['Accept', 'Accept-Encoding']))
    }
    const body = new URLSearchParams({ email: 'form@example.org' })
    const form = await fetch(service.origin + page, { method: 'POST', headers: { Accept: 'text/markdown' }, body })
    expect([form.status, form.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
  })
})

test('the links to the description are in the first kilobyte of a page', async () => {
  for (const page of ['/', '/pt-BR']) {
    const start = (await read(page)).slice(0, 1024)
    for (const { path } of [DOCUMENTS.llmsTxt, DOCUMENTS.openApiJson]) expect(start).toContain(`href="${path}"`)
  }
})

/** Reads the resource at a path, which must exist. Returns its links. */
async function follow(path: string): Promise<string[]> {
  const reply = await fetch(service.origin + path, { redirect: 'manual' })
  const body = await reply.text()
  if (path === ENDPOINT.path) {
    expect([reply.status, reply.headers.get('allow')]).toEqual([405, 'POST'])
    return []
  }
  expect({ path, status: reply.status }).toEqual({ path, status: 200 })
  const mediaType = reply.headers.get('content-type') ?? ''
  const links = parseLinks(reply.headers.get('link') ?? '').map(({ href }) => href)
  return [...links, ...findLinks(body, mediaType)]
}

/** Finds the links in a document of a media type. */
function findLinks(body: string, mediaType: string): string[] {
  if (/json/.test(mediaType)) return findUrls(JSON.parse(body))
  if (/yaml/.test(mediaType)) return findUrls(Bun.YAML.parse(body))
  if (/markdown/.test(mediaType)) return toAll(body, /\]\(([^)]+)\)|^curl (\S+)/gm).filter(isWeb)
  if (/xml/.test(mediaType)) return toAll(body, /<loc>([^<]+)|href="([^"]+)"/g)
  if (/html/.test(mediaType)) {
    return toAll(body, /(?:href|src|action)="([^"]+)"/g)
      .map((link) => new URL(link.replaceAll('&amp;', '&'), BASE_URL).href)
      .filter(isWeb)
  }
  return toAll(body, /^[A-Z][A-Za-z-]+: (https:\S+)$/gm)
}

/** Finds the strings in a value that are URLs. Skips examples. */
function findUrls(value: unknown): string[] {
  if (typeof value === 'string') return isWeb(value) ? [value] : []
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value)
    .filter(([name]) => !['example', 'examples', 'paths', 'components'].includes(name))
    .flatMap(([, member]) => findUrls(member))
}

function toAll(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, one, other]) => (one ?? other) as string)
}

function isWeb(url: string): boolean {
  return /^https?:\/\/\S+$/.test(url)
}

function toPath(url: string): string {
  expect(url).toStartWith(`${BASE_URL}/`)
  return url.slice(BASE_URL.length)
}

/** Parses a Link header as this service writes it (RFC 8288 section 3). */
function parseLinks(field: string): { href: string; type: string }[] {
  const links = field.matchAll(/<([^>]+)>; rel="[^"]+"; type="([^"]+)"(?:, |$)/g)
  return [...links].map(([, href = '', type = '']) => ({ href, type }))
}
