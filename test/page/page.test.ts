/** The page without a browser: its headers and its text, and the response to each form. */

import { afterAll, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { LOCALES } from '../../src/locales/languages.ts'
import { LANGUAGE_TAGS, type Language } from '../../src/locales/texts.ts'
import { toPagePath } from '../../src/routes.ts'
import { readList } from '../support/list-file.ts'
import { startService } from '../support/service.ts'

const BASE_URL = 'https://www.gazette.example'

const service = await startService({ site: 'name: The Gazette', env: { BASE_URL } })
afterAll(() => service.stop())

/** Requests a page. Pages are not in the description, so the response is not checked against it. */
const ask = (path: string, init: RequestInit = {}) => fetch(service.origin + path, { redirect: 'manual', ...init })

const FORM = 'application/x-www-form-urlencoded'
/** A browser may show the response again, when the reader goes back. */
const FORM_CACHE = 'private, no-cache, no-transform'
const post = (path: string, body: string, type = FORM) =>
  ask(path, { method: 'POST', headers: { 'Content-Type': type }, body })

const postEmail = (path: string, email: string) => post(path, String(new URLSearchParams({ email })))

const pathOf = (language: Language) => toPagePath(language, LANGUAGE_TAGS)

const POLICY =
  "default-src 'none'; script-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; " +
  "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"

describe('the page', () => {
  test.each([...LANGUAGE_TAGS])('in %s names its language, its URL and all its versions', async (language) => {
    for (const method of ['HEAD', 'GET']) {
      const { status, headers } = await ask(pathOf(language), { method })
      const names = ['content-type', 'content-language', 'cache-control']
      expect([status, ...names.map((name) => headers.get(name))]).toEqual([
        ...[200, 'text/html; charset=utf-8', language, 'public, max-age=300, no-transform'],
      ])
    }
    const page = await ask(pathOf(language))
    const text = await page.text()
    const [, style = ''] = /<style>(.*?)<\/style>/s.exec(text) ?? []
    const hash = createHash('sha256').update(style).digest('base64')
    expect(page.headers.get('content-security-policy')).toBe(`${POLICY}; style-src 'sha256-${hash}'`)
    expect(text).toContain(`<html lang="${language}" dir="${language === 'ar' ? 'rtl' : 'ltr'}">`)
    expect(text).toContain(`<link rel="canonical" href="${BASE_URL}${pathOf(language)}"/>`)
    const alternates = [...text.matchAll(/<link rel="alternate" hreflang="([^"]+)" href="([^"]+)"\/>/g)]
    expect(alternates.map(([, tag, url]) => [tag, url])).toEqual([
      ...LANGUAGE_TAGS.map((tag) => [tag, BASE_URL + pathOf(tag)]),
      ['x-default', `${BASE_URL}/`],
    ])
    expect(text).toContain(LOCALES[language].subscribe)
  })

  test.each([
    ['/en', '/'],
    ['/EN?x=1', '/?x=1'],
    ['/DE', '/de'],
    ['/de/', '/de'],
    ['/en/', '/'],
    ['/pt', '/pt-BR'],
    ['/pt-br', '/pt-BR'],
    ['/zh', '/zh-Hans'],
    ['/zh-CN', '/zh-Hans'],
    ['/zh-cn/?x', '/zh-Hans?x'],
  ])('other spellings: %s redirects to %s', async (from, to) => {
    for (const method of ['GET', 'POST', 'PUT']) {
      const response = await ask(from, { method })
      expect([response.status, response.headers.get('location')]).toEqual([308, to])
      expect(response.headers.get('cache-control')).toBe('no-store')
    }
  })

  test.each(['/zh-TW', '/de/at', '/sv', '/d', '/de//'])('there is no page at %s', async (path) => {
    const response = await ask(path)
    expect([response.status, JSON.parse(await response.text()).message]).toEqual([404, 'not_found'])
  })

  test('has valid fields, and a style without copies for old browsers', async () => {
    const text = await (await ask('/')).text()
    expect(text).not.toMatch(/:-webkit-any|:-moz-any|type="hidden"/)
  })

  test('loads files whose names have a hash, and which caches keep for a year', async () => {
    const text = await (await ask('/')).text()
    // The script, the font, the icon for home screens and the card.
    const assets = [...new Set(text.match(/\/assets\/[^")]+/g))]
    expect(assets).toHaveLength(4)
    for (const path of assets) {
      expect(path).toMatch(/\.[\w-]{12}\.(?:js|png|woff2)$/)
      const file = await ask(path)
      const { headers } = file
      // The script needs the path of the endpoint only, not the table of documents beside it.
      expect(await file.text()).not.toContain('/openapi.json')
      expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
      expect(headers.get('link')).toBeNull()
    }
  })
})

test.each([
  ...['PUT', 'OPTIONS'].map((method) => [method, '', 405, 'method_not_allowed', 'GET, HEAD, POST'] as const),
  ...['', 'application/json', 'multipart/form-data'].map((type) => ['POST', type, 415, 'invalid_body', null] as const),
])('what is no form gets an error in JSON, like an agent that guesses: %s %s', async (method, type, ...expected) => {
  const response = await ask('/de', { method, headers: { 'Content-Type': type }, body: '{}' })
  const { ok, message, error } = JSON.parse(await response.text())
  expect([response.status, message, response.headers.get('allow')]).toEqual(expected)
  expect([ok, response.headers.get('content-type')]).toEqual([false, 'application/json'])
  expect(error.hint).toContain(method === 'POST' ? 'send JSON to the path in /openapi.json' : 'POST to send the form')
})

/** Returns the message that the page shows. Its attributes contain all messages, so the whole page is no proof. */
function outcomeIn(page: string): string | undefined {
  // A screen reader announces only this role.
  return /<p class="outcome"[^>]* role="status"[^>]*>([^<]*)<\/p>/.exec(page)?.[1]
}

/** Returns what programs show that know only the elements of HTML, such as lynx and converters to Markdown: hidden text too. */
function toText(page: string): string {
  return page.replace(/<head>.*<\/head>/s, '').replace(/<[^>]*>/g, '')
}

function toEscaped(text: string): string {
  return Bun.escapeHTML(text).replaceAll('&#x27;', '&#39;')
}

test('the mail link of the page survives a CDN that hides addresses', async () => {
  const site = 'contact: mailto:editor@gazette.example'
  const service = await startService({ site })
  const cdn = Bun.serve({
    port: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url)
      const answer = await fetch(service.origin + pathname, request)
      const mayChange = !answer.headers.get('cache-control')?.includes('no-transform')
      const text = await answer.text()
      return new Response(mayChange ? text.replaceAll(/href="mailto:[^"]+"/g, 'href="/hidden"') : text)
    },
  })
  const headers = { 'Content-Type': FORM }
  for (const init of [
    {},
    { method: 'POST', headers, body: 'email=x' },
    { method: 'POST', headers, body: 'email=a%40site.io' },
  ])
    expect(await (await fetch(cdn.url, init)).text()).toContain('href="mailto:editor@gazette.example"')
  await cdn.stop()
  await service.stop()
})

describe('the form', () => {
  test('gives the same response to a new and a known address, and stores it once', async () => {
    const responses = []
    for (const type of [FORM, `${FORM};charset=utf-8`]) {
      const response = await post('/de', 'email=ada%40example.org', type)
      response.headers.delete('date')
      responses.push({ status: response.status, headers: [...response.headers], text: await response.text() })
    }
    expect(responses[0]).toEqual(responses[1]!)
    const { status, headers, text } = responses[0]!
    const fields = new Map(headers)
    expect([status, fields.get('cache-control'), fields.get('content-language')]).toEqual([200, FORM_CACHE, 'de'])
    const [, title = ''] = /<h2 id="done-title" class="title">(.*?)<\/h2>/.exec(text) ?? []
    expect(title.replace(/<\/?span>/g, '').trim()).toBe(LOCALES.de.accepted)
    expect(text).toContain('<bdi id="address" dir="ltr" translate="no">ada@example.org</bdi>')
    expect(text).toContain(LOCALES.de.next)
    expect(text).not.toContain('<form')
    expect(await readList(service.folder)).toEqual(['ada@example.org'])
  })

  test.each([...LANGUAGE_TAGS])('in %s, no program reads a word of thanks before a success', async (language) => {
    const { accepted, next, again, home } = LOCALES[language]
    const thanks = (page: string) => [accepted, next, again, home].filter((words) => toText(page).includes(words))
    const path = pathOf(language)
    expect(thanks(await (await ask(path)).text())).toEqual([])
    expect(thanks(await (await postEmail(path, 'ada@news')).text())).toEqual([])
    const done = await (await postEmail(path, 'ada@example.org')).text()
    expect(thanks(done)).toEqual([accepted, next, again])
    expect(toText(done)).toContain('ada@example.org')
  })

  test('asks for the confirmation of the mail tool in every language, if the owner says so', async () => {
    const asking = await startService({ site: 'confirmation: true', env: { BASE_URL } })
    for (const language of LANGUAGE_TAGS) {
      const { accepted, next, almost, confirm } = LOCALES[language]
      const body = new URLSearchParams({ email: 'ada@example.org' })
      const response = await fetch(asking.origin + pathOf(language), { method: 'POST', body })
      const text = toText(await response.text())
      expect([accepted, next, almost, confirm].filter((words) => text.includes(words))).toEqual([almost, confirm])
    }
    await asking.stop()
  })

  test('thanks nobody without an accepted address', async () => {
    const plain = await (await ask('/')).text()
    expect(plain).toContain('aria-labelledby="done-title" hidden="">')
    for (const query of ['?subscribed', '?subscribed=1', '?outcome=accepted&email=a@b.example']) {
      expect(await (await ask(`/${query}`)).text()).toBe(plain)
    }
  })

  test.each([
    ['email=bea%40gmial.com', 'bea@gmial.com'],
    ['email=Pat+%3Cmailto%3Apat%40example.org%3E', 'pat@example.org'],
    ['xemail=b%40c.example&email=first@example.org&email=d', 'first@example.org'],
  ])('reads %p as %p', async (form, email) => {
    expect((await post('/', form)).status).toBe(200)
    expect(await readList(service.folder)).toContain(email)
  })

  test.each([
    ['', 'empty'],
    ['"><b>x', 'invalid_email'],
    ['jörg@example.org', 'non_ascii'],
    ['a@example.org, b@example.org', 'invalid_email'],
    // What is not shown counts all the same.
    [`${'eve@example.org'.padEnd(1_000)}x`, 'invalid_email'],
  ] as const)('responds to %p with the page, the message and the typed text', async (typed, outcome) => {
    const before = await readList(service.folder)
    const response = await postEmail('/ja', typed)
    const text = await response.text()
    expect([response.status, response.headers.get('cache-control')]).toEqual([400, FORM_CACHE])
    expect(outcomeIn(text)).toBe(LOCALES.ja[outcome])
    expect(text).toContain(`value="${toEscaped(typed.slice(0, 1_000))}"`)
    expect(await readList(service.folder)).toEqual(before)
  })

  test('above the limit of a proxy gets the page with a message and the typed text, and stores nothing', async () => {
    const before = await readList(service.folder)
    const headers = { 'Content-Type': FORM, 'Rollcall-Limited': '1' }
    const response = await ask('/uk', { method: 'POST', headers, body: 'email=lim%40example.org' })
    expect([response.status, response.headers.get('cache-control')]).toEqual([429, FORM_CACHE])
    const text = await response.text()
    expect(outcomeIn(text)).toBe(LOCALES.uk.too_many)
    expect(text).toContain('value="lim@example.org"')
    expect(await readList(service.folder)).toEqual(before)
  })

  test('of more than 16 KiB gets 413', async () => {
    const large = await postEmail('/fr', 'x'.repeat(16 * 1024))
    expect([large.status, large.headers.get('cache-control')]).toEqual([413, FORM_CACHE])
    expect(outcomeIn(await large.text())).toBe(LOCALES.fr.storage_failure)
  })
})
