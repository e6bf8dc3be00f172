/** All documents of a site: their paths and media types, and the whole text of the short ones. */

import { afterEach, expect, setSystemTime, test } from 'bun:test'
import { readConfig } from '../../src/config/config.ts'
import { parseSite } from '../../src/config/site-file.ts'
import { createDocuments } from '../../src/documents/site-documents.ts'
import { createDocumentHandler } from '../../src/http/documents.ts'
import { listPages } from '../../src/page/head.tsx'
import { DOCUMENTS } from '../support/contract.ts'

const BASE_URL = 'https://gazette.example'
const CONTACT = 'contact: mailto:editor@gazette.example'

afterEach(() => void setSystemTime())

function listDocuments(text: string, baseUrl = BASE_URL) {
  const site = parseSite(`name: The Gazette\nlanguages: [de, en]\n${text}`, 'site.yaml')
  const config = { ...readConfig({ SITE_FILE: '/dev/null' }), baseUrl, site }
  return new Map(createDocuments(config, listPages(site.languages)).map((document) => [document.path, document]))
}

async function read(path: string, text = CONTACT, baseUrl = BASE_URL): Promise<string> {
  const document = listDocuments(text, baseUrl).get(path)
  if (!document) throw new Error(`there is no document at ${path}`)
  return String(typeof document.body === 'function' ? await document.body() : document.body)
}

test('the protected resource metadata has no authorization server and an empty list of scopes', async () => {
  expect(JSON.parse(await read('/.well-known/oauth-protected-resource'))).toEqual({
    resource: 'https://gazette.example',
    resource_name: 'The Gazette',
    resource_documentation: 'https://gazette.example/llms.txt',
    scopes_supported: [],
  })
})

test('robots.txt allows everything and names the sitemap', async () => {
  expect(await read('/robots.txt')).toBe('User-agent: *\nAllow: /\n\nSitemap: https://gazette.example/sitemap.xml\n')
})

test('the API catalog links the endpoint to its documents', async () => {
  expect(JSON.parse(await read('/.well-known/api-catalog'))).toEqual({
    linkset: [
      {
        anchor: 'https://gazette.example/.well-known/api-catalog',
        item: [{ href: 'https://gazette.example/api/newsletter' }],
      },
      {
        anchor: 'https://gazette.example/api/newsletter',
        'service-desc': [
          { href: 'https://gazette.example/openapi.json', type: 'application/json' },
          { href: 'https://gazette.example/openapi.yaml', type: 'text/yaml' },
        ],
        'service-doc': [{ href: 'https://gazette.example/llms.txt', type: 'text/markdown' }],
        'service-meta': [
          { href: 'https://gazette.example/.well-known/oauth-protected-resource', type: 'application/json' },
        ],
      },
    ],
  })
})

test('security.txt expires after 364 days, and does not name languages', async () => {
  setSystemTime(new Date('2026-01-01T23:59:59Z'))
  const { path } = DOCUMENTS.securityTxt
  const start = 'Contact: mailto:editor@gazette.example\nExpires: 2026-12-31T00:00:00Z\n'
  expect(await read(path)).toBe(`${start}Canonical: https://gazette.example/.well-known/security.txt\n`)
  // RFC 9116, sections 2.5.2 and 2.5.3: a web address must be https.
  expect(await read(path, CONTACT, 'http://gazette.example')).toBe(start)
  expect(listDocuments('contact: http://gazette.example/us').has(path)).toBe(false)
  expect(listDocuments('').has(path)).toBe(false)
})

test('a process that has run for a year serves a security.txt that has not expired', async () => {
  const document = listDocuments(CONTACT).get(DOCUMENTS.securityTxt.path)!
  const handle = createDocumentHandler(document, {})
  const ask = async (time: string) => {
    setSystemTime(new Date(time))
    const response = await handle(new Request('https://a.example/'))
    return { etag: response.headers.get('etag'), expires: /Expires: (.+)/.exec(await response.text())![1]! }
  }
  const first = await ask('2027-02-28T00:00:00Z')
  expect(first.expires).toBe('2028-02-27T00:00:00Z')
  expect(await ask('2027-02-28T23:59:59.999Z')).toEqual(first)
  const later = await ask('2028-02-29T12:00:00Z')
  expect(later.expires).toBe('2029-02-27T00:00:00Z')
  expect(later.etag).not.toBe(first.etag)
})
