/** The page without a browser: what is sent, what the form answers, and what stops the start. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { LANGUAGE_TAGS, LANGUAGES, type Language, toPagePath } from '../../src/config/languages.ts'
import { LOCALES } from '../../src/page/locales.ts'
import { holdLock, readList, toListFile } from '../support/list-file.ts'
import { createFolder, type RunningService, startService } from '../support/service.ts'

const BASE_URL = 'https://www.gazette.example'
const NAME = '<script>alert("1")</script> & \'Co\''

let folder: string
let service: RunningService
beforeAll(async () => {
  folder = await createFolder()
  service = await startService({ folder, site: `name: ${JSON.stringify(NAME)}`, env: { BASE_URL } })
})
afterAll(async () => {
  await service.stop()
  await rm(folder, { recursive: true })
})

/** Asks for something that is not in the description, as pages are not. */
const ask = (path: string, init: RequestInit = {}) =>
  fetch(service.origin + path, { redirect: 'manual', ...init })

const post = (path: string, body: string, fields: Record<string, string> = {}) =>
  ask(path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...fields },
    body,
  })

const postEmail = (path: string, email: string) => post(path, String(new URLSearchParams({ email })))

const pathOf = (language: Language) => toPagePath(language, LANGUAGE_TAGS)

describe('the page', () => {
  test.each([...LANGUAGE_TAGS])('in %s names its language, itself and all its versions', async (language) => {
    const response = await ask(pathOf(language))
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(response.headers.get('content-language')).toBe(language)
    const text = await response.text()
    expect(text).toContain(`<html lang="${language}" dir="${LANGUAGES[language].direction}">`)
    expect(text).toContain(`<link rel="canonical" href="${BASE_URL}${pathOf(language)}">`)
    const alternates = [...text.matchAll(/<link rel="alternate" hreflang="([^"]+)" href="([^"]+)">/g)]
    expect(alternates.map(([, tag, url]) => [tag, url])).toEqual([
      ...LANGUAGE_TAGS.map((tag) => [tag, BASE_URL + pathOf(tag)]),
      ['x-default', `${BASE_URL}/`],
    ])
    expect(text).toContain(LOCALES[language].subscribe)
  })

  test('shows the words of the site as text', async () => {
    const text = await (await ask('/')).text()
    expect(text).not.toContain('<script>')
    const escaped = NAME.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
    expect(text).toContain(`<bdi>${escaped}</bdi></h1>`)
  })

  test('lets nothing run but its own script, and nothing inline', async () => {
    const policy = (await ask('/')).headers.get('content-security-policy')
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("script-src 'self'")
    expect(policy).not.toContain('unsafe')
  })

  test('suggests a language that is liked better, and never redirects', async () => {
    const liked = await ask('/', { headers: { 'Accept-Language': 'xx, de-AT;q=0.9, en;q=0.1' } })
    expect([liked.status, liked.headers.get('vary')]).toEqual([
      200,
      'Accept-Encoding, Accept-Language, Accept',
    ])
    expect(await liked.text()).toContain(`href="/de" hreflang="de">${LOCALES.de.suggestion}`)
    const own = await ask('/de', { headers: { 'Accept-Language': 'de' } })
    expect(await own.text()).not.toContain('class="suggestion"')
  })

  test.each([
    ['/en', '/'],
    ['/EN?x=1', '/?x=1'],
    ['/pt-br', '/pt-BR'],
    ['/DE', '/de'],
  ])('%s leads to %s', async (from, to) => {
    const response = await ask(from)
    expect([response.status, response.headers.get('location')]).toEqual([308, to])
  })

  test('weighs less than 15 KB over the wire, with everything', async () => {
    const coded = { 'Accept-Encoding': 'br', Accept: 'text/html' }
    const text = await (await ask('/', { headers: coded })).text()
    const parts = [...text.matchAll(/(?:href|src)="(\/(?:assets\/|favicon)[^"]+)"/g)].map(([, path]) => path!)
    expect(parts.some((path) => path.endsWith('.css'))).toBe(true)
    expect(parts.some((path) => path.endsWith('.js'))).toBe(true)
    const sizes = await Promise.all(
      ['/', ...new Set(parts)].map(async (path) => {
        const response = await fetch(service.origin + path, { headers: coded, decompress: false })
        expect(response.status).toBe(200)
        const fields = [...response.headers].reduce(
          (sum, [name, value]) => sum + name.length + value.length + 4,
          0,
        )
        return fields + (await response.bytes()).length
      }),
    )
    expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(15_000)
  })

  test('loads its parts under names that change with them', async () => {
    const text = await (await ask('/')).text()
    const assets = [...new Set(text.match(/\/assets\/[^"]+/g))]
    expect(assets).toHaveLength(2)
    for (const path of assets) {
      expect(path).toMatch(/\.[\w-]{12}\.(?:css|js)$/)
      const { headers } = await ask(path)
      expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    }
  })
})

describe('the form', () => {
  test('answers a new and a known address alike, and keeps it once', async () => {
    const replies = []
    for (const email of ['ada@example.org', 'ADA@example.org']) {
      const { status, headers } = await postEmail('/de', email)
      headers.delete('date')
      replies.push({ status, headers: [...headers] })
    }
    expect(replies[0]).toEqual(replies[1]!)
    expect(replies[0]?.status).toBe(303)
    const next = Object.fromEntries(replies[0]!.headers).location ?? ''
    const page = await ask(next)
    expect([page.status, next]).toEqual([200, '/de?subscribed'])
    expect(await page.text()).toContain(LOCALES.de.outcomes.accepted)
    expect(await readList(folder)).toEqual(['ada@example.org'])
  })

  test('converts a domain outside ASCII', async () => {
    expect((await postEmail('/', ' karl@Bücher.example ')).status).toBe(303)
    expect(await readList(folder)).toContain('karl@xn--bcher-kva.example')
  })

  test.each([
    ['', 'empty'],
    ['"><b>x', 'invalid_email'],
    ['jörg@example.org', 'non_ascii'],
    ['a@example.org, b@example.org', 'invalid_email'],
  ] as const)('answers %p with the page, the message and what was typed', async (typed, outcome) => {
    const before = await readList(folder)
    const response = await postEmail('/ja', typed)
    const text = await response.text()
    expect([response.status, response.headers.get('cache-control')]).toEqual([400, 'no-store'])
    expect(text).toContain(LOCALES.ja.outcomes[outcome])
    expect(text).not.toContain('"><b>x')
    expect(text).toContain(`value="${typed.replace(/[<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`)}"`)
    expect(await readList(folder)).toEqual(before)
  })

  test('takes forms only, and not too much of them', async () => {
    expect(
      (await ask('/', { method: 'POST', body: '{}', headers: { 'Content-Type': 'application/json' } }))
        .status,
    ).toBe(415)
    expect((await ask('/', { method: 'PUT' })).status).toBe(405)
    const large = await post('/fr', `email=${'x'.repeat(16 * 1024)}`)
    expect(large.status).toBe(413)
    expect(await large.text()).toContain(LOCALES.fr.outcomes.invalid_body)
  })

  test('says when the store fails, and keeps what was typed', async () => {
    const { released } = await holdLock(toListFile(folder), 6_500)
    const response = await postEmail('/ar', 'late@example.org')
    const text = await response.text()
    expect(response.status).toBe(500)
    expect(text).toContain(LOCALES.ar.outcomes.storage_failure)
    expect(text).toContain('value="late@example.org"')
    await released
  })
})

// Of each language the date and the text that goes with it: whoever changes a phrase sets `changed` to the day, and
// then this line. The text is hashed without the date.
const TEXTS: Record<Language, string> = {
  en: '2026-11-21 10db2d9017d7',
  de: '2026-11-21 65826d5c30ac',
  fr: '2026-11-21 94500965395a',
  es: '2026-11-21 44ff92927d24',
  'pt-BR': '2026-11-21 ba5231d1a024',
  it: '2026-11-21 e0dc1997fe87',
  nl: '2026-11-21 973f3e4457b7',
  pl: '2026-11-21 6469681e1f1b',
  uk: '2026-11-21 eafb93368275',
  ar: '2026-11-21 85f6251fb537',
  ja: '2026-11-21 8ca3eebc49dd',
  'zh-Hans': '2026-11-21 8bd02d0c9106',
}

test.each([...LANGUAGE_TAGS])('the text in %s is that of its date', (language) => {
  const { changed, ...phrases } = LOCALES[language]
  const hash = createHash('sha256').update(JSON.stringify(phrases)).digest('hex').slice(0, 12)
  expect(`${changed} ${hash}`).toBe(TEXTS[language])
})
