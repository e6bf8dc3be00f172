/** Every link leads to something that exists, and the service announces nothing that does not exist. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { DOCUMENTS, ENDPOINT, RESPONSES } from '../support/contract.ts'
import { type RunningService, startService } from '../support/service.ts'

const BASE_URL = 'https://www.gazette.example'
const SITE = `
contact: mailto:editor@gazette.example
languages: [en, pt-BR]
`
const PATHS = Object.values(DOCUMENTS).map(({ path }) => path)
const ICONS = ['/favicon.svg', '/favicon.ico']
const LINK = [
  `<${BASE_URL}/openapi.json>; rel="service-desc"; type="application/json"`,
  `<${BASE_URL}/llms.txt>; rel="service-doc"; type="text/markdown"`,
  `<${BASE_URL}/.well-known/api-catalog>; rel="api-catalog"; type="application/linkset+json"`,
  `<${BASE_URL}/sitemap.xml>; rel="sitemap"; type="application/xml"`,
].join(', ')

let service: RunningService
beforeAll(async () => {
  service = await startService({ site: SITE, env: { BASE_URL } })
})
afterAll(() => service.stop())

describe('the Link header', () => {
  test('is on every document, on 304 and on 404, also for HEAD', async () => {
    for (const path of [...PATHS, '/nowhere']) {
      for (const method of ['GET', 'HEAD']) {
        const { status, headers } = await service.request(path, { method })
        expect({ path, status, link: headers.get('link') }).toEqual({
          path,
          status: path === '/nowhere' ? 404 : 200,
          link: LINK,
        })
      }
    }
    const { path } = DOCUMENTS.llmsTxt
    const etag = (await service.request(path)).headers.get('etag')!
    const unchanged = await service.request(path, { headers: { 'If-None-Match': etag } })
    expect([unchanged.status, unchanged.headers.get('link')]).toEqual([304, LINK])
  })

  test('links to the description, the guide, the catalog and the sitemap with their media types', async () => {
    const { headers } = await service.request('/nowhere')
    const links = parseLinks(headers.get('link')!)
    expect(links.map(({ rel }) => rel)).toEqual(['service-desc', 'service-doc', 'api-catalog', 'sitemap'])
    for (const { href, type } of links) {
      const { status, headers } = await service.request(toPath(href))
      expect([status, headers.get('content-type')!.split(';')[0]]).toEqual([200, type])
    }
  })

  test('is not on responses of the endpoint, which has many requests', async () => {
    const replies = [await service.subscribe('name@example.org'), await service.subscribe('name')]
    for (const { headers } of replies) expect(headers.get('link')).toBeNull()
  })
})

describe('the links of the documents', () => {
  test('lead to resources that exist, or to a few known URLs on other hosts', async () => {
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

  test('are in the catalog in the format of RFC 9264, and for HEAD in its Link header (RFC 9727)', async () => {
    const { path, mediaType } = DOCUMENTS.apiCatalog
    const { headers, body } = await service.request(path)
    expect(headers.get('content-type')).toBe(mediaType)
    const { linkset } = JSON.parse(body)
    const api = BASE_URL + ENDPOINT.path
    expect(linkset[0]).toEqual({ anchor: BASE_URL + path, item: [{ href: api }] })
    expect(linkset[1].anchor).toBe(api)
    const described = [...linkset[1]['service-desc'], ...linkset[1]['service-doc'], ...linkset[1]['service-meta']]
    for (const { href, type } of described) {
      const target = await service.request(toPath(href))
      expect([target.status, target.headers.get('content-type')!.split(';')[0]]).toEqual([200, type])
    }
    const head = await service.request(path, { method: 'HEAD' })
    expect(parseLinks(head.headers.get('link')!)).toContainEqual({
      href: BASE_URL + path,
      rel: 'api-catalog',
      type: 'application/linkset+json',
    })
  })

  test('are in the hint of a 404', () => {
    const named = JSON.parse(RESPONSES.no_such_path.body).error.hint.match(/\/[a-z.]+[a-z]/g)
    expect(named).toEqual(['/openapi.json', '/llms.txt', '/sitemap.xml'])
  })

  test('include the sitemap in robots.txt, which allows every crawler', async () => {
    const { body } = await service.request(DOCUMENTS.robots.path)
    expect(body).toBe(`User-agent: *\nAllow: /\n\nSitemap: ${BASE_URL}${DOCUMENTS.sitemap.path}\n`)
  })
})

describe('a request to / that prefers Markdown gets the guide', () => {
  const { path, mediaType } = DOCUMENTS.llmsTxt
  const ask = (headers: Record<string, string>) => fetch(`${service.origin}/`, { headers })

  test('with the same bytes, compression and caching as /llms.txt', async () => {
    const guide = await service.request(path)
    const reply = await ask({ Accept: 'text/markdown' })
    expect(await reply.text()).toBe(guide.body)
    expect([reply.status, reply.headers.get('content-type')]).toEqual([200, mediaType])
    expect(reply.headers.get('content-encoding')).toBe('br')

    const etag = reply.headers.get('etag')!
    const unchanged = await ask({ Accept: 'text/markdown', 'If-None-Match': etag })
    expect([unchanged.status, unchanged.headers.get('vary')]).toEqual([304, 'Accept-Encoding, Accept'])
  })

  test('a browser gets the page, and Vary names Accept in every response', async () => {
    const replies = {
      'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8': 'text/html; charset=utf-8',
      '*/*': 'text/html; charset=utf-8',
      'text/markdown, text/html;q=0.9': mediaType,
    }
    for (const [accept, expected] of Object.entries(replies)) {
      const { headers } = await ask({ Accept: accept })
      expect(headers.get('content-type')).toBe(expected)
      expect(headers.get('vary')!.split(', ')).toEqual(expect.arrayContaining(['Accept', 'Accept-Encoding']))
      expect(headers.get('link')).toBe(LINK)
    }
  })

  test('a form is accepted with any Accept header', async () => {
    const reply = await fetch(`${service.origin}/`, {
      method: 'POST',
      headers: { Accept: 'text/markdown' },
      body: new URLSearchParams({ email: 'form@example.org' }),
      redirect: 'manual',
    })
    expect(reply.status).toBe(200)
  })
})

test('the icons have the format of their media type', async () => {
  const [svg, ico] = await Promise.all(ICONS.map((path) => fetch(service.origin + path)))
  expect([svg!.status, svg!.headers.get('content-type')]).toEqual([200, 'image/svg+xml'])
  expect(await svg!.text()).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" .*<\/svg>\n$/)

  expect([ico!.status, ico!.headers.get('content-type')]).toEqual([200, 'image/vnd.microsoft.icon'])
  const view = new DataView(await ico!.arrayBuffer())
  const at = (offset: number) => view.getUint16(offset, true)
  // Two icons, each a PNG, of 16 and 32 pixels. The last one ends with the file.
  expect([at(0), at(2), at(4), view.getUint8(6), view.getUint8(22)]).toEqual([0, 1, 2, 16, 32])
  expect(view.getUint32(30, true) + view.getUint32(34, true)).toBe(view.byteLength)
})

test('nothing is announced that does not exist', async () => {
  const absent = [
    '/.well-known/oauth-authorization-server',
    '/.well-known/openid-configuration',
    '/.well-known/mcp.json',
    '/.well-known/mcp/server-card.json',
    '/.well-known/agent.json',
    '/.well-known/agent-card.json',
    '/.well-known/ai-plugin.json',
    '/llms-full.txt',
    '/mcp',
  ]
  for (const path of absent) expect((await service.request(path)).status).toBe(404)
  for (const path of PATHS) {
    const { body } = await service.request(path)
    for (const other of absent) expect(body).not.toContain(other)
    expect(body).not.toMatch(/\bmcp\b|authorization_servers|securitySchemes/i)
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
function parseLinks(field: string): { href: string; rel: string; type: string }[] {
  return [...field.matchAll(/<([^>]+)>; rel="([^"]+)"; type="([^"]+)"(?:, |$)/g)].map((found) => {
    const [, href, rel, type] = found as unknown as [string, string, string, string]
    return { href, rel, type }
  })
}
