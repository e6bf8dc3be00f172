/** All documents of a site: their paths and media types, and the whole text of the short ones. */

import { expect, test } from 'bun:test'
import { readConfig } from '../../src/config/config.ts'
import { parseSite } from '../../src/config/site-file.ts'
import { createDocuments } from '../../src/documents/site-documents.ts'
import { listPages } from '../../src/page/head.tsx'

const BASE_URL = 'https://gazette.example'
const CONTACT = 'contact: mailto:editor@gazette.example'

function listDocuments(text: string, baseUrl = BASE_URL) {
  const site = parseSite(`name: The Gazette\nlanguages: [de, en]\n${text}`, 'site.yaml')
  const config = { ...readConfig({ SITE_FILE: '/dev/null' }), baseUrl, site }
  return new Map(createDocuments(config, listPages(site.languages)).map((document) => [document.path, document]))
}

async function read(path: string, text = CONTACT, baseUrl = BASE_URL): Promise<string> {
  const document = listDocuments(text, baseUrl).get(path)
  if (!document) throw new Error(`there is no document at ${path}`)
  return String(await document.body())
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
