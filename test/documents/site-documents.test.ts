/** All documents of a site: their paths and media types, and the whole text of the short ones. */

import { expect, test } from 'bun:test'
import { readConfig } from '../../src/config/config.ts'
import { parseSite } from '../../src/config/site-file.ts'
import { readContent } from '../../src/documents/document.ts'
import { createDocuments } from '../../src/documents/site-documents.ts'
import { listPages } from '../../src/page/page-list.ts'

const site = parseSite('name: The Gazette\ncontact: mailto:editor@gazette.example\nlanguages: [de, en]', 'x')
const config = { ...readConfig({ SITE_FILE: '/dev/null' }), baseUrl: 'https://gazette.example', site }
const documents = await createDocuments(config, listPages(site.languages))

async function textOf(path: string): Promise<string> {
  const document = documents.find((candidate) => candidate.path === path)
  if (!document) throw new Error(`there is no document at ${path}`)
  return 'write' in document ? document.write('2026-01-01') : String(await readContent(document))
}

test('the paths and the media types', () => {
  expect(documents.map(({ path, mediaType }) => `${path} ${mediaType}`)).toEqual([
    '/openapi.json application/json',
    '/openapi.yaml text/yaml; charset=utf-8',
    '/llms.txt text/markdown; charset=utf-8',
    '/sitemap.xml application/xml',
    '/.well-known/oauth-protected-resource application/json',
    '/robots.txt text/plain; charset=utf-8',
    '/.well-known/api-catalog application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
    '/.well-known/security.txt text/plain; charset=utf-8',
  ])
})

test('a site without a contact has no security.txt', async () => {
  const { contact: _contact, ...rest } = site
  const others = await createDocuments({ ...config, site: rest }, listPages(site.languages))
  expect(others.map(({ path }) => path)).not.toContain('/.well-known/security.txt')
})

test('the protected resource metadata has no authorization server and an empty list of scopes', async () => {
  expect(JSON.parse(await textOf('/.well-known/oauth-protected-resource'))).toEqual({
    resource: 'https://gazette.example',
    resource_name: 'The Gazette',
    resource_documentation: 'https://gazette.example/llms.txt',
    scopes_supported: [],
  })
})

test('robots.txt allows everything and names the sitemap', async () => {
  expect(await textOf('/robots.txt')).toBe('User-agent: *\nAllow: /\n\nSitemap: https://gazette.example/sitemap.xml\n')
})

test('the API catalog links the endpoint to its documents', async () => {
  expect(JSON.parse(await textOf('/.well-known/api-catalog'))).toEqual({
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
          {
            href: 'https://gazette.example/.well-known/oauth-protected-resource',
            type: 'application/json',
          },
        ],
      },
    ],
  })
})

test('security.txt expires after 364 days', async () => {
  expect(await textOf('/.well-known/security.txt')).toBe(
    'Contact: mailto:editor@gazette.example\nExpires: 2026-12-31T00:00:00Z\nPreferred-Languages: de, en\n' +
      'Canonical: https://gazette.example/.well-known/security.txt\n',
  )
})

test('the sitemap has an alternate for each language and x-default on every page', async () => {
  const alternates =
    '<xhtml:link rel="alternate" hreflang="de" href="https://gazette.example/"/>' +
    '<xhtml:link rel="alternate" hreflang="en" href="https://gazette.example/en"/>' +
    '<xhtml:link rel="alternate" hreflang="x-default" href="https://gazette.example/"/>'
  const text = (await textOf('/sitemap.xml')).replace(/<lastmod>\d{4}-\d{2}-\d{2}<\/lastmod>/g, '')
  expect(text).toContain(`<url><loc>https://gazette.example/</loc>${alternates}</url>`)
  expect(text).toContain(`<url><loc>https://gazette.example/en</loc>${alternates}</url>`)
})
