/** The page without a browser: the response for each path, and the response to each form. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { rm } from 'node:fs/promises'
import { LANGUAGE_TAGS, type Language, toPagePath } from '../../src/config/texts.ts'
import { LOCALES } from '../../src/locales/languages.ts'
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

/** Requests a page. Pages are not in the description, so the response is not checked against it. */
const ask = (path: string, init: RequestInit = {}) => fetch(service.origin + path, { redirect: 'manual', ...init })

const post = (path: string, body: string, fields: Record<string, string> = {}) =>
  ask(path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...fields },
    body,
  })

const postEmail = (path: string, email: string) => post(path, String(new URLSearchParams({ email })))

const pathOf = (language: Language) => toPagePath(language, LANGUAGE_TAGS)

describe('the page', () => {
  test.each([...LANGUAGE_TAGS])('in %s names its language, its URL and all its versions', async (language) => {
    const response = await ask(pathOf(language))
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(response.headers.get('content-language')).toBe(language)
    const text = await response.text()
    expect(text).toContain(`<html lang="${language}" dir="${LOCALES[language].direction}">`)
    expect(text).toContain(`<link rel="canonical" href="${BASE_URL}${pathOf(language)}"/>`)
    const alternates = [...text.matchAll(/<link rel="alternate" hreflang="([^"]+)" href="([^"]+)"\/>/g)]
    expect(alternates.map(([, tag, url]) => [tag, url])).toEqual([
      ...LANGUAGE_TAGS.map((tag) => [tag, BASE_URL + pathOf(tag)]),
      ['x-default', `${BASE_URL}/`],
    ])
    expect(text).toContain(LOCALES[language].subscribe)
  })

  test('allows only its own script, and nothing inline', async () => {
    const policy = (await ask('/')).headers.get('content-security-policy')
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("script-src 'self'")
    expect(policy).not.toContain('unsafe')
  })

  test.each([
    ['/en', '/'],
    ['/EN?x=1', '/?x=1'],
    ['/pt-br', '/pt-BR'],
    ['/DE', '/de'],
  ])('redirects %s to %s', async (from, to) => {
    const response = await ask(from)
    expect([response.status, response.headers.get('location')]).toEqual([308, to])
  })

  test('loads files whose names have a hash, and which caches keep for a year', async () => {
    const text = await (await ask('/')).text()
    const assets = [...new Set(text.match(/\/assets\/[^"]+/g))]
    expect(assets).toHaveLength(4)
    for (const path of assets) {
      expect(path).toMatch(/\.[\w-]{12}\.(?:css|js|png|woff2)$/)
      const { headers } = await ask(path)
      expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
      expect(headers.get('link')).toBeNull()
    }
  })
})

/** Returns the message that the page shows. Its attributes contain all messages, so the whole page is no proof. */
function outcomeIn(page: string): string | undefined {
  return /<p class="outcome"[^>]*>([^<]*)<\/p>/.exec(page)?.[1]
}

function toEscaped(text: string): string {
  return Bun.escapeHTML(text).replaceAll('&#x27;', '&#39;')
}

describe('the form', () => {
  test('gives the same response to a new and a known address, and stores it once', async () => {
    const responses = []
    for (const _attempt of [1, 2]) {
      const response = await postEmail('/de', 'ada@example.org')
      response.headers.delete('date')
      responses.push({ status: response.status, headers: [...response.headers], text: await response.text() })
    }
    expect(responses[0]).toEqual(responses[1]!)
    const { status, headers, text } = responses[0]!
    expect([status, new Map(headers).get('cache-control')]).toEqual([200, 'no-store'])
    const [, title = ''] = /<h2 id="done-title" class="title">(.*?)<\/h2>/.exec(text) ?? []
    expect(title.replace(/<\/?span>/g, '').trim()).toBe(LOCALES.de.outcomes.accepted)
    expect(text).toContain('<bdi id="address" dir="ltr">ada@example.org</bdi>')
    expect(text).toContain(LOCALES.de.next)
    expect([outcomeIn(text), /<form[^>]* hidden="">/.test(text)]).toEqual(['', true])
    expect(await readList(folder)).toEqual(['ada@example.org'])
  })

  test('thanks nobody without an accepted address', async () => {
    const plain = await (await ask('/')).text()
    expect(plain).toContain('aria-labelledby="done-title" hidden="">')
    for (const query of ['?subscribed', '?subscribed=1', '?outcome=accepted&email=a@b.example']) {
      expect(await (await ask(`/${query}`)).text()).toBe(plain)
    }
  })

  test('asks about a likely typing error, and stores nothing before it is confirmed', async () => {
    const before = await readList(folder)
    const response = await postEmail('/', 'Bea <bea@gmial.com>')
    const text = await response.text()
    expect([response.status, response.headers.get('cache-control')]).toEqual([400, 'no-store'])
    expect(text).toContain('Did you mean <button type="submit" form="answer" dir="ltr">bea@gmail.com</button>? If not')
    expect(text).toContain('value="Bea &lt;bea@gmial.com&gt;"')
    expect(text).toMatch(/<form id="answer"[^>]*><input type="hidden" name="email" value="bea@gmail.com"\/><\/form>/)
    // An answer to a question about another address confirms nothing.
    expect((await post('/', 'email=bea%40gmial.com&asked=eve%40gmial.com')).status).toBe(400)
    expect(await readList(folder)).toEqual(before)
    expect(text).toContain('<input type="hidden" name="asked" value="bea@gmial.com"/>')
    expect((await post('/', 'email=bea%40gmial.com&asked=bea%40gmial.com')).status).toBe(200)
    expect(await readList(folder)).toEqual([...before, 'bea@gmial.com'])
  })

  test.each([
    ['Pat <mailto:pat@example.org>', 'pat@example.org'],
    [' karl@Bücher.example ', 'karl@xn--bcher-kva.example'],
  ])('reads %p as %p', async (typed, email) => {
    expect((await postEmail('/', typed)).status).toBe(200)
    expect(await readList(folder)).toContain(email)
  })

  test.each([
    ['', 'empty'],
    ['"><b>x', 'invalid_email'],
    ['jörg@example.org', 'non_ascii'],
    ['a@example.org, b@example.org', 'invalid_email'],
  ] as const)('responds to %p with the page, the message and the typed text', async (typed, outcome) => {
    const before = await readList(folder)
    const response = await postEmail('/ja', typed)
    const text = await response.text()
    expect([response.status, response.headers.get('cache-control')]).toEqual([400, 'no-store'])
    expect(outcomeIn(text)).toBe(LOCALES.ja.outcomes[outcome])
    expect(text).not.toContain('"><b>x')
    expect(text).toContain(`value="${toEscaped(typed)}"`)
    expect(await readList(folder)).toEqual(before)
  })

  test('reads the address among other fields', async () => {
    const before = await readList(folder)
    for (const form of ['a=1&email=field%40example.org&b', 'xemail=b%40c.example&email=FIELD@example.org&email=d']) {
      expect((await post('/', form)).status).toBe(200)
    }
    expect(await readList(folder)).toEqual([...before, 'field@example.org'])
    expect((await post('/', 'xemail=a%40b.example&&=&email')).status).toBe(400)
  })

  test('shows the first thousand characters of a text, without white space around it', async () => {
    const response = await postEmail('/', ` ${'a'.repeat(1_001)} `)
    expect(response.status).toBe(400)
    expect(await response.text()).toContain(`value="${'a'.repeat(1_000)}"`)
    // What is not shown counts all the same.
    expect((await postEmail('/', `${'eve@example.org'.padEnd(1_000)}x`)).status).toBe(400)
  })

  test('accepts only forms of at most 16 KiB', async () => {
    expect(
      (await ask('/', { method: 'POST', body: '{}', headers: { 'Content-Type': 'application/json' } })).status,
    ).toBe(415)
    expect((await ask('/', { method: 'PUT' })).status).toBe(405)
    const large = await post('/fr', `email=${'x'.repeat(16 * 1024)}`)
    expect(large.status).toBe(413)
    expect(outcomeIn(await large.text())).toBe(LOCALES.fr.outcomes.invalid_body)
  })

  test('shows a store failure, and keeps the typed text', async () => {
    const lock = await holdLock(toListFile(folder))
    const response = await postEmail('/ar', 'late@example.org')
    const text = await response.text()
    await lock.release()
    expect(response.status).toBe(500)
    expect(outcomeIn(text)).toBe(LOCALES.ar.outcomes.storage_failure)
    expect(text).toContain('value="late@example.org"')
  })
})
