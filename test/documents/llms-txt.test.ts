/** The guide for agents: its structure (llmstxt.org) and its contents. */

import { afterAll, expect, test } from 'bun:test'
import { parseSite } from '../../src/config/site-file.ts'
import { createLlmsTxt } from '../../src/documents/llms-txt.ts'
import { DOCUMENTS, ENDPOINT, RESPONSES } from '../support/contract.ts'
import { startService } from '../support/service.ts'

const BASE_URL = 'https://www.gazette.example'
const CONTACT = 'https://gazette.example/(us)'
const SITE = `
name: The *Gazette* <script>alert(1)</script>
description: "What happened # this week: [everything](https://gazette.example)."
contact: ${CONTACT}
home: https://gazette.example
issues: [{ title: 'Fog [and](x) ferries', url: https://gazette.example/17, date: 2026-05-31 }]
privacy: https://gazette.example/privacy
imprint: https://gazette.example/imprint
license: { name: "Open [really]", url: "https://license.example/(1)" }
`

const service = await startService({ site: SITE, env: { BASE_URL } })
const text = (await service.request(DOCUMENTS.llmsTxt.path)).body
afterAll(() => service.stop())

test('it is a heading, a quote, text without headings, then sections with only links', () => {
  const { title, summary, details, sections } = parseLlmsTxt(text)
  expect(title).toBe('The *Gazette* <script>alert(1)</script>')
  expect(summary).toBe('What happened # this week: [everything](https://gazette.example).')
  expect(details).not.toMatch(/^#/m)
  expect([...sections.keys()]).toEqual(['Developer resources', 'Operator', 'License', 'Optional'])
})

test('it links to each document once, and to the pages of the owner, whose texts it escapes', () => {
  const { sections } = parseLlmsTxt(text)
  const others = Object.values(DOCUMENTS).filter(({ path }) => path !== DOCUMENTS.llmsTxt.path)
  const links = [...sections.get('Developer resources')!, ...sections.get('Optional')!]
  expect(links.map(({ url }) => url).sort()).toEqual(others.map(({ path }) => BASE_URL + path).sort())
  expect([...sections.get('Operator')!, ...sections.get('License')!]).toEqual([
    { title: 'Website', url: 'https://gazette.example' },
    { title: 'Fog \\[and\\](x) ferries', url: 'https://gazette.example/17' },
    { title: 'Privacy policy', url: 'https://gazette.example/privacy' },
    { title: 'Imprint', url: 'https://gazette.example/imprint' },
    { title: 'Contact', url: 'https://gazette.example/%28us%29' },
    { title: 'Open \\[really\\]', url: 'https://license.example/%281%29' },
  ])
})

test('it says that the mail tool asks for a confirmation, if the owner says so, and otherwise that it may', () => {
  const guide = (site: string) => createLlmsTxt(parseSite(site, 'site.yaml'), BASE_URL)
  const asks = 'The mail tool of the operator then asks the person for a confirmation: tell them to look for that email'
  expect(guide('confirmation: true')).toContain(asks)
  expect(guide('')).not.toContain(asks)
  expect(guide('')).toContain('The mail tool of the operator may ask the person for a confirmation')
})

test('it omits what the site does not have', () => {
  const plain = createLlmsTxt(parseSite('', 'site.yaml'), BASE_URL)
  expect([...parseLlmsTxt(plain).sections.keys()]).toEqual(['Developer resources', 'License', 'Optional'])
  const bare = createLlmsTxt(parseSite('license: none', 'site.yaml'), BASE_URL)
  expect([...parseLlmsTxt(bare).sections.keys()]).toEqual(['Developer resources', 'Optional'])
  expect(plain).toContain('notify the operator of this site first.\n')
  expect(plain).not.toMatch(/security\.txt|have an address removed|rollcall/i)
})

test.each([
  // Agents and scanners look for these.
  ...['When to use this', 'API:', '`POST /api/newsletter`', 'No API key', 'sandbox', 'may answer 429'],
  `A person can subscribe at ${BASE_URL}/ `,
  `To have an address removed, write to the operator: ${CONTACT}\n`,
  `notify the operator of this site first: ${CONTACT}\n`,
])('the text before the sections has "%s"', (phrase) => {
  expect(parseLlmsTxt(text).details).toContain(phrase)
})

test('it has one line for each status and code', () => {
  const expected = Object.values(RESPONSES).map(({ status, body }) => {
    return status === 200 ? `200 \`${body}\`` : `${status} \`${JSON.parse(body).message}\``
  })
  const found = [...text.matchAll(/^- (\d{3} `[^`]+`): \S/gm)].map(([, start]) => start)
  expect(found.sort()).toEqual([...new Set(expected)].sort())
})

test('it uses the same sentences as the description', async () => {
  const { paths, components } = JSON.parse((await service.request(DOCUMENTS.openApiJson.path)).body)
  const { post } = paths[ENDPOINT.path]
  for (const term of post.description.split('\n\n')) expect(text).toContain(`\n- ${term}\n`)
  expect(text).toContain(post.requestBody.description)
  expect(text).toContain(components.schemas.Subscription.properties.email.description)
})

test('it shows a call that works, and the error of a request without an address', async () => {
  const call = /```sh\ncurl (\S+) \\\n {2}-H '([^:]+): ([^']+)' \\\n {2}-d '([^']+)'\n```/.exec(text)!
  const [, url, name, value, body] = call as unknown as [string, string, string, string, string]
  const path = url.slice(BASE_URL.length)
  expect((await service.request(path, { method: 'POST', headers: { [name]: value }, body })).status).toBe(200)
  const [, shown] = /```json\n(.+)\n```/.exec(text)!
  expect((await service.subscribe(undefined)).body).toBe(shown!)
})

/** Parses a guide by the rules of llmstxt.org. Throws if a line of a section is not a link. */
function parseLlmsTxt(text: string) {
  const [start = '', ...rest] = text.split(/^##\s*(.*)$/m)
  const head = /^# ([^\n]+)\n+> ([^\n]+)\n+(.*)$/s.exec(start)
  if (!head) throw new Error('the guide has no heading with a quote')
  const [, title, summary, details = ''] = head
  const sections = new Map<string, ReturnType<typeof parseLink>[]>()
  for (let index = 0; index < rest.length; index += 2) {
    const lines = rest[index + 1]!.split('\n').filter(Boolean)
    sections.set(rest[index]!, lines.map(parseLink))
  }
  return { title, summary, details, sections }
}

function parseLink(line: string) {
  const [, title, url] = /^- \[((?:[^\]\\]|\\.)+)\]\(([^()\s]+)\)(?:: .+)?$/.exec(line) ?? []
  if (!title || !url) throw new Error(`the line is not a link: ${line}`)
  return { title, url }
}
