/** The guide for agents: its structure by llmstxt.org, and that it says all and nothing twice. */

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
  test('is a heading, a quote, text without headings, then lists of links and nothing else', () => {
    const { title, summary, details, sections } = parseLlmsTxt(text)
    expect(title).toBe('The *Gazette* <script>alert(1)</script>')
    expect(summary).toBe('What happened # this week: [everything](https://gazette.example).')
    expect(details).not.toMatch(/^#/m)
    expect([...sections.keys()]).toEqual(['Developer resources', 'License', 'Contact', 'Optional'])
  })

  test('says when to use the site and when not, before the call', () => {
    const { details } = parseLlmsTxt(text)
    const labels = [...details.matchAll(/^\*\*(.+?)\*\*/gm)].map(([, label]) => label)
    expect(labels).toEqual([
      'When to use:',
      'When not to use:',
      'The call:',
      'The body:',
      'Good to know:',
      'The responses',
      'Errors:',
    ])
  })

  test('links to every document once, and no text of the owner ends a link early', () => {
    const { sections } = parseLlmsTxt(text)
    const others = listDocuments({ contact: 'https://x.example' }).filter((name) => name !== 'llmsTxt')
    const links = [...sections.get('Developer resources')!, ...sections.get('Optional')!]
    expect(links.map(({ url }) => url).sort()).toEqual(
      others.map((name) => BASE_URL + DOCUMENTS[name].path).sort(),
    )
    expect(sections.get('License')).toEqual([
      { title: 'Open \\[really\\]', url: 'https://license.example/%281%29', note: expect.any(String) },
    ])
    expect(sections.get('Contact')![0]!.url).toBe('https://gazette.example/%28us%29')
  })

  test('has no contact and no security.txt where the site gives nobody', () => {
    const { sections } = parseLlmsTxt(createLlmsTxt(parseSite('', 'site.yaml'), BASE_URL))
    expect([...sections.keys()]).toEqual(['Developer resources', 'License', 'Optional'])
    expect([...sections.values()].flat().map(({ url }) => url)).not.toContain(
      BASE_URL + DOCUMENTS.securityTxt.path,
    )
  })
})

describe('the contents', () => {
  test('has every answer with its status, its code and its hint', () => {
    for (const { status, code, message, hint } of Object.values(PROBLEMS)) {
      expect(text).toContain(`\n- ${status} \`${code}\`: ${message} ${hint}\n`)
    }
    expect(text).toMatch(/^- 200 `\{"ok":true\}`: /m)
  })

  test('says the same as the description, in the same words', async () => {
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

  test('shows a call that is answered as it says', async () => {
    const call = /```sh\ncurl (\S+) \\\n {2}-H '([^:]+): ([^']+)' \\\n {2}-d '([^']+)'\n```/.exec(text)!
    const [, url, name, value, body] = call as unknown as [string, string, string, string, string]
    const path = url.slice(BASE_URL.length)
    const answer = await service.request(path, { method: 'POST', headers: { [name]: value }, body })
    expect(answer.body).toBe('{"ok":true}')
  })

  test('shows an error that is answered as it says', async () => {
    const [, shown] = /```json\n(.+)\n```/.exec(text)!
    expect((await service.subscribe(undefined)).body).toBe(shown!)
  })

  test('no line stands twice, and no sentence of it twice in the sources', () => {
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

/** Reads a guide by the rules of llmstxt.org; a line in a section that is no link is a failure. */
function parseLlmsTxt(text: string) {
  const [start = '', ...rest] = text.split(/^##\s*(.*)$/m)
  const head = /^# ([^\n]+)\n+> ([^\n]+)\n+(.*)$/s.exec(start)
  if (!head) throw new Error('there is no heading with a quote')
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
  if (!found) throw new Error(`this is no link: ${line}`)
  const { title, url, note } = found.groups as { title: string; url: string; note?: string }
  return { title, url, note }
}
