/** The guide for agents: its structure (llmstxt.org) and its contents. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseSite } from '../../src/config/site-file.ts'
import { createLlmsTxt } from '../../src/documents/llms-txt.ts'
import { createTerms } from '../../src/documents/terms.ts'
import { PROBLEMS } from '../../src/errors.ts'
import { DOCUMENTS, ENDPOINT, listDocuments } from '../../src/routes.ts'
import { ROOT } from '../support/paths.ts'
import { type RunningService, startService } from '../support/service.ts'

const BASE_URL = 'https://www.gazette.example'
const SITE = `
name: The *Gazette* <script>alert(1)</script>
description: "What happened # this week: [everything](https://gazette.example)."
contact: https://gazette.example/(us)
license: { name: "Open [really]", url: "https://license.example/(1)" }
`

let service: RunningService
let text: string
beforeAll(async () => {
  service = await startService({ site: SITE, env: { BASE_URL } })
  text = (await service.request(DOCUMENTS.llmsTxt.path)).body
})
afterAll(() => service.stop())

describe('the structure', () => {
  test('is a heading, a quote, text without headings, then sections with only links', () => {
    const { title, summary, details, sections } = parseLlmsTxt(text)
    expect(title).toBe('The *Gazette* <script>alert(1)</script>')
    expect(summary).toBe('What happened # this week: [everything](https://gazette.example).')
    expect(details).not.toMatch(/^#/m)
    expect([...sections.keys()]).toEqual(['Developer resources', 'License', 'Contact', 'Optional'])
  })

  test('has these labels, in this order', () => {
    const { details } = parseLlmsTxt(text)
    const labels = [...details.matchAll(/^\*\*(.+?)\*\*/gm)].map(([, label]) => label)
    expect(labels).toEqual([
      'When to use this:',
      'When not to use this:',
      'The call:',
      'The body:',
      'Good to know:',
      'The responses',
      'Errors:',
    ])
  })

  test('links to each document once, and escapes the texts of the owner', () => {
    const { sections } = parseLlmsTxt(text)
    const others = listDocuments({ contact: 'https://x.example' }).filter((name) => name !== 'llmsTxt')
    const links = [...sections.get('Developer resources')!, ...sections.get('Optional')!]
    expect(links.map(({ url }) => url).sort()).toEqual(others.map((name) => BASE_URL + DOCUMENTS[name].path).sort())
    expect(sections.get('License')).toEqual([
      { title: 'Open \\[really\\]', url: 'https://license.example/%281%29', note: expect.any(String) },
    ])
    expect(sections.get('Contact')![0]!.url).toBe('https://gazette.example/%28us%29')
  })

  test('has no contact and no security.txt if the site has no contact', () => {
    const { sections } = parseLlmsTxt(createLlmsTxt(parseSite('', 'site.yaml'), BASE_URL))
    expect([...sections.keys()]).toEqual(['Developer resources', 'License', 'Optional'])
    expect([...sections.values()].flat().map(({ url }) => url)).not.toContain(BASE_URL + DOCUMENTS.securityTxt.path)
  })
})

describe('the contents', () => {
  test('have the phrases that agents and scanners look for, in the text before the sections', () => {
    const { details } = parseLlmsTxt(text)
    for (const phrase of ['When to use this', 'No API key', 'sandbox']) expect(details).toContain(phrase)
  })

  test('have each response with its status, code and hint', () => {
    for (const { status, code, message, hint } of Object.values(PROBLEMS)) {
      expect(text).toContain(`\n- ${status} \`${code}\`: ${message} ${hint}\n`)
    }
    expect(text).toMatch(/^- 200 `\{"ok":true\}`: /m)
  })

  test('use the same sentences as the description', async () => {
    const { body } = await service.request(DOCUMENTS.openApiJson.path)
    const { post } = JSON.parse(body).paths[ENDPOINT.path]
    for (const sentence of createTerms({ contact: 'https://gazette.example/(us)' })) {
      expect(post.description).toContain(sentence)
      expect(text).toContain(`\n- ${sentence}\n`)
    }
    expect(text).toContain(post.requestBody.description)
    const { email } = JSON.parse(body).components.schemas.Subscription.properties
    expect(text).toContain(email.description)
  })

  test('show a call that works', async () => {
    const call = /```sh\ncurl (\S+) \\\n {2}-H '([^:]+): ([^']+)' \\\n {2}-d '([^']+)'\n```/.exec(text)!
    const [, url, name, value, body] = call as unknown as [string, string, string, string, string]
    const path = url.slice(BASE_URL.length)
    const response = await service.request(path, { method: 'POST', headers: { [name]: value }, body })
    expect(response.body).toBe('{"ok":true}')
  })

  test('show the error of a request without an address', async () => {
    const [, shown] = /```json\n(.+)\n```/.exec(text)!
    expect((await service.subscribe(undefined)).body).toBe(shown!)
  })

  test('repeat no line, and the sources contain each sentence once', () => {
    const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('```'))
    expect(new Set(lines).size).toBe(lines.length)
    const sources = [...new Bun.Glob('**/*.ts').scanSync(SOURCES)].map((name) =>
      readFileSync(join(SOURCES, name), 'utf8'),
    )
    const written = sources.join('\n').replaceAll('\\`', '`')
    const sentences = text.split(/\n|(?<=[.;:]) /).filter((sentence) => sentence.length > 30)
    expect(sentences.filter((sentence) => written.split(sentence).length > 2)).toEqual([])
  })
})

const SOURCES = resolve(ROOT, 'src')

interface LlmsLink {
  readonly title: string
  readonly url: string
  readonly note: string | undefined
}

/** Parses a guide by the rules of llmstxt.org. Throws if a line of a section is not a link. */
function parseLlmsTxt(text: string) {
  const [start = '', ...rest] = text.split(/^##\s*(.*)$/m)
  const head = /^# ([^\n]+)\n+> ([^\n]+)\n+(.*)$/s.exec(start)
  if (!head) throw new Error('the guide has no heading with a quote')
  const [, title, summary, details = ''] = head
  const sections = new Map<string, LlmsLink[]>()
  for (let index = 0; index < rest.length; index += 2) {
    const lines = rest[index + 1]!.split('\n').filter(Boolean)
    sections.set(rest[index]!, lines.map(parseLink))
  }
  return { title, summary, details, sections }
}

function parseLink(line: string): LlmsLink {
  const found = /^- \[(?<title>(?:[^\]\\]|\\.)+)\]\((?<url>[^()\s]+)\)(?:: (?<note>.+))?$/.exec(line)
  if (!found) throw new Error(`the line is not a link: ${line}`)
  const { title, url, note } = found.groups as { title: string; url: string; note?: string }
  return { title, url, note }
}
