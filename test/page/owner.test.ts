/** The page belongs to the owner: words in each language, links, where people go next, and what other programs read. */

import { afterAll, expect, test } from 'bun:test'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { LOCALES } from '../../src/locales/languages.ts'
import { send, startBrowser, visit, waitFor } from '../support/browser.ts'
import { readList } from '../support/list-file.ts'
import { findBlock } from '../support/markdown.ts'
import { createPng, JPEG } from '../support/picture.ts'
import { startService } from '../support/service.ts'
import { createFolder } from '../support/workspace.ts'

const BASE_URL = 'https://list.gazette.example'
const NAME = '</script><script>alert("1")</script> & \'Co\''
const PNG = createPng(180, 180)
const CARD = createPng(1200, 630)

const toPage = (body: string) => new Response(body, { headers: { 'Content-Type': 'text/html; charset=utf-8' } })

/** The site of the owner: a page to go to after a subscription, and one with the form of the documentation. */
const site = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: ({ url }) => {
    const { pathname, search } = new URL(url)
    if (pathname !== '/form') return toPage('<h1>Welcome</h1>')
    const { text } = findBlock('docs/page.md', 'html', 'own-form')
    const called = search === '?limited' ? limited.url.origin : service.origin
    return toPage(
      `<!doctype html><link rel="icon" href="data:,">${text.replaceAll('https://list.example.org', called)}`,
    )
  },
})
const SITE = site.url.origin

/** A proxy that limits every client. Its answers have no CORS header. */
const limited = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response('{}', { status: 429 }) })

const folder = await createFolder()
await writeFile(join(folder, 'logo.png'), PNG)
await writeFile(join(folder, 'ann.jpg'), JPEG)
await writeFile(join(folder, 'card.png'), CARD)
const file = `
name: { en: ${JSON.stringify(NAME)}, de: Die Rundschau }
description: { en: Every Friday., de: Jeden Freitag. }
note: { en: No ads., de: Keine Werbung. }
contact: mailto:owner@gazette.example
home: https://www.gazette.example/
issues:
  - title: { en: Fog & <Ferries>, de: Nebel }
    url: https://www.gazette.example/41
    date: 2026-05-31
  - { title: Cranes, url: "https://www.gazette.example/40?a=1&b", date: 2026-01-02 }
portrait: ann.jpg
privacy: https://www.gazette.example/privacy
imprint: https://www.gazette.example/imprint
after_subscribe: ${SITE}/welcome
author: Ann <Smith>
developers: false
logo: logo.png
card: card.png
languages: [en, de, fr]
phrases: { subscribe: { de: Los } }
`
const service = await startService({ folder, site: file, env: { BASE_URL, CORS_ORIGINS: SITE } })
const browser = await startBrowser()
afterAll(async () => {
  await browser.close()
  await service.stop()
  await site.stop(true)
  await limited.stop(true)
})

const read = async (path: string) => (await fetch(service.origin + path)).text()

/** The attributes of the elements that match a selector, in order. */
function select(page: string, selector: string, names: readonly string[]): (string | null)[][] {
  const found: (string | null)[][] = []
  new HTMLRewriter()
    .on(selector, { element: (element) => void found.push(names.map((name) => element.getAttribute(name))) })
    .transform(page)
  return found
}

test('words are in the language of the page; without a translation they are marked with theirs', async () => {
  const page = await read('/de')
  for (const text of [
    '<title>Die Rundschau · Los</title>',
    '<bdi>Die Rundschau</bdi></h1>',
    '<meta name="description" content="Jeden Freitag."/>',
    '<p class="note"><bdi>Keine Werbung.</bdi></p>',
    'type="submit">Los</button>',
  ]) {
    expect(page).toContain(text)
  }
  // The owner did not translate this phrase.
  expect(await read('/fr')).toContain(`type="submit">${LOCALES.fr.subscribe}</button>`)
  expect(select(await read('/fr'), 'h1, .description, .note', ['lang'])).toEqual([['en'], ['en'], ['en']])
  expect(select(await read('/'), 'h1, .description, .note', ['lang'])).toEqual([[null], [null], [null]])
})

test('the question about a typing error names the button as the owner does', async () => {
  await visit(browser, service.origin, { path: '/de' }, async (page) => {
    await send(page, 'ann@gmial.com')
    await waitFor(page, 'drücken Sie noch einmal auf „Los“.')
  })
})

test('words of documents are in the first language', async () => {
  expect(await read('/llms.txt')).toStartWith(`# ${NAME}\n\n> Every Friday.\n`)
  expect(JSON.parse(await read('/openapi.json')).info).toMatchObject({ title: NAME, description: 'Every Friday.' })
})

test('links lead to the pages of the owner and, in the head, to the documents', async () => {
  const page = await read('/de')
  const home = 'https://www.gazette.example/'
  expect(select(page, 'main > a.home', ['href'])).toEqual([[home]])
  expect(select(page, 'main > a.home img', ['alt'])).toEqual([['Die Rundschau']])
  expect(select(page, 'footer p a', ['href']).flat()).toEqual([
    ...[home, 'mailto:owner@gazette.example', `${home}privacy`, `${home}imprint`],
    'https://creativecommons.org/licenses/by-sa/4.0/',
  ])
  const links = select(page, 'link[type]', ['rel', 'type', 'href'])
  expect(links.filter(([, type]) => !/image|font/.test(type ?? ''))).toEqual([
    ['service-doc', 'text/markdown', '/llms.txt'],
    ['service-desc', 'application/json', '/openapi.json'],
  ])
  // `developers: false` hides their section only.
  expect(page).not.toContain('/openapi.yaml')
})

test('the issues are in the language of the page, with their dates, and are the next step after a subscription', async () => {
  const [english, german] = [await read('/'), await read('/de')]
  expect(select(german, '.issues a', ['href']).flat()).toEqual([
    'https://www.gazette.example/41',
    'https://www.gazette.example/40?a=1&amp;b',
  ])
  expect(english).toContain('<span class="title"><bdi>Fog &amp; &lt;Ferries&gt;</bdi></span>')
  expect(english).toContain('<time datetime="2026-01-02">January 2, 2026</time>')
  expect(german).toContain(
    '<span class="title"><bdi>Nebel</bdi></span> <time datetime="2026-05-31">31. Mai 2026</time>',
  )
  expect(german).toContain('<span class="title" lang="en"><bdi>Cranes</bdi></span>')
  // Nothing competes with them.
  expect(select(german, '.done a.button', ['href'])).toEqual([])
  expect(german.indexOf('id="done"')).toBeLessThan(german.indexOf('class="issues"'))
})

test('the portrait of the author is beside the name', async () => {
  const page = await read('/de')
  const [[path, alt] = []] = select(page, '.author img', ['src', 'alt'])
  // The name beside it says what it shows.
  expect(alt).toBe('')
  expect(page).toContain('<span>von <bdi>Ann &lt;Smith&gt;</bdi></span></p>')
  const { status, headers, body } = await fetch(service.origin + path)
  expect([status, headers.get('content-type')]).toEqual([200, 'image/jpeg'])
  expect(Buffer.from(await new Response(body).bytes())).toEqual(JPEG)
})

/** Reads the JSON-LD of a page. */
function readData(page: string): Record<string, unknown> {
  const [, text = ''] = /<script type="application\/ld\+json">(.*?)<\/script>/.exec(page) ?? []
  return JSON.parse(text)
}

test('other programs learn what the owner provided: a card for links, and data for search engines', async () => {
  const page = await read('/de')
  const [, image = ''] = /"og:image" content="([^"]+)"/.exec(page) ?? []
  const cards = select(page, 'meta[property], meta[name^=twitter]', ['property', 'name', 'content'])
  expect(cards.map(([property, name, content]) => [property ?? name, content])).toEqual([
    ['og:url', `${BASE_URL}/de`],
    ['og:type', 'website'],
    ['og:title', 'Die Rundschau'],
    ['og:description', 'Jeden Freitag.'],
    ['og:site_name', 'Die Rundschau'],
    ['og:locale', 'de_DE'],
    ['og:image', image],
    ['og:image:width', '1200'],
    ['og:image:height', '630'],
    ['og:image:alt', 'Die Rundschau'],
    ['twitter:card', 'summary_large_image'],
  ])
  const card = await fetch(image.replace(BASE_URL, service.origin))
  expect([card.headers.get('content-type'), Buffer.from(await card.bytes())]).toEqual(['image/png', CARD])
  expect(select(page, 'meta[name=author]', ['content'])).toEqual([['Ann &lt;Smith&gt;']])
  const [[logo = ''] = []] = select(page, 'link[rel=apple-touch-icon]', ['href'])
  const [[portrait = ''] = []] = select(page, '.portrait', ['src'])
  expect(readData(page)).toEqual({
    '@context': 'https://schema.org',
    '@type': 'WebSite',
    name: NAME,
    description: 'Every Friday.',
    url: `${BASE_URL}/`,
    inLanguage: ['en', 'de', 'fr'],
    license: 'https://creativecommons.org/licenses/by-sa/4.0/',
    author: { '@type': 'Person', name: 'Ann <Smith>', image: BASE_URL + portrait },
    hasPart: [
      ...[['Fog & <Ferries>', '41', '2026-05-31'] as const, ['Cranes', '40?a=1&b', '2026-01-02'] as const].map(
        ([name, path, date]) => {
          return { '@type': 'PublicationIssue', name, url: `https://www.gazette.example/${path}`, datePublished: date }
        },
      ),
    ],
    publisher: { '@type': 'Organization', name: NAME, url: 'https://www.gazette.example/', logo: BASE_URL + logo },
  })
})

test('a square logo is the icon in tabs and on home screens', async () => {
  const page = await read('/')
  const [[icon, type] = [], [path] = []] = select(page, 'link[rel=icon], link[rel=apple-touch-icon]', ['href', 'type'])
  expect([icon, type]).toEqual([path!, 'image/png'])
  const response = await fetch(service.origin + path)
  expect(response.headers.get('content-type')).toBe('image/png')
  expect(Buffer.from(await response.bytes())).toEqual(PNG)
})

test('a square logo in SVG is every icon', async () => {
  const other = await createFolder()
  const red = '<svg viewBox="0 0 8 8" xmlns="http://www.w3.org/2000/svg"><path d="M2 2h4v4h-4z" fill="red"/></svg>'
  await writeFile(join(other, 'logo.svg'), red)
  const own = await startService({ folder: other, site: 'logo: logo.svg' })
  const page = await (await fetch(own.origin)).text()
  const [[icon] = []] = select(page, 'link[rel=icon]', ['href'])
  expect([[icon]]).toEqual(select(page, '.home img', ['src']))
  const [[touchIcon] = []] = select(page, 'link[rel=apple-touch-icon]', ['href'])
  // The width, and the color in the middle.
  const colors = await visit(browser, own.origin, {}, (shown) =>
    shown.evaluate<string[]>(`Promise.all(['${touchIcon}', '/favicon.ico'].map(async (path) => {
      const image = await createImageBitmap(await (await fetch(path)).blob())
      const context = new OffscreenCanvas(image.width, image.height).getContext('2d')
      context.drawImage(image, 0, 0)
      return [image.width, ...context.getImageData(image.width / 2, image.width / 2, 1, 1).data].join()
    }))`),
  )
  expect(colors).toEqual(['180,255,0,0,255', '180,255,0,0,255'])
  await own.stop()
})

test('a logo in SVG runs no scripts when it is opened by itself', async () => {
  const other = await createFolder()
  const svg = '<svg viewBox="0 0 3 1" xmlns="http://www.w3.org/2000/svg"><script>x()</script></svg>'
  await writeFile(join(other, 'logo.svg'), svg)
  const plain = await startService({ folder: other, site: 'logo: logo.svg\n' })
  const page = await (await fetch(plain.origin)).text()
  const [[path] = []] = select(page, '.home img', ['src'])
  const { status, headers } = await fetch(plain.origin + path)
  expect([status, headers.get('content-type'), headers.get('content-security-policy')]).toEqual([
    ...[200, 'image/svg+xml', "default-src 'none'; style-src 'unsafe-inline'; sandbox"],
  ])
  // It is not square.
  expect(select(page, 'link[rel=icon]', ['href'])).toEqual([['/favicon.svg']])
  await plain.stop()
})

test('the policy of the page allows everything in it, and a hostile name runs nothing', async () => {
  const [scripts, title] = await visit(browser, service.origin, {}, async (page) => [
    await page.locator('script').count(),
    await page.locator('h1').textContent(),
  ])
  expect([scripts, title]).toEqual([2, NAME])
})

test.each([
  ['with scripts', true],
  ['without scripts', false],
])('a subscription leads to the page of the owner, and no parameter changes that: %s', async (name, scripts) => {
  const email = `${name.replace(' ', '-')}@example.org`
  const path = '/de?after_subscribe=https://evil.example&next=https://evil.example'
  const options = { path, javaScriptEnabled: scripts, expected: new RegExp(`^requests ${SITE}/`) }
  const reached = await visit(browser, service.origin, options, async (page) => {
    await page.locator('#email').fill(email)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Welcome' }).waitFor()
    return page.url()
  })
  expect(reached).toBe(`${SITE}/welcome`)
  expect(await readList(folder)).toContain(email)
})

test.each([
  ['subscribes from the site of the owner', '127.0.0.1', '/form', 'You are on the list'],
  ['of a site that CORS_ORIGINS does not name cannot call the API', 'localhost', '/form', 'try again in a minute'],
  ['is told to try again when a proxy limits it', '127.0.0.1', '/form?limited', 'try again in a minute'],
])('the form of the documentation %s', async (name, host, path, outcome) => {
  const email = `${name.replaceAll(' ', '-')}@example.org`
  const isStored = outcome.includes('list')
  const origin = SITE.replace('127.0.0.1', host)
  await visit(browser, origin, { path, expected: /./ }, async (page) => {
    const send = async (address: string, text: string) => {
      await page.locator('#email').fill(address)
      await page.getByRole('button', { name: 'Subscribe' }).click()
      await page.getByRole('status').filter({ hasText: text }).waitFor()
    }
    if (isStored) await send('a@b', 'Please check the address.')
    await send(email, outcome)
  })
  expect((await readList(folder)).includes(email)).toBe(isStored)
})

test('the form of the documentation subscribes without its script, and puts no address into a URL', async () => {
  const email = 'no-script@example.org'
  const options = { path: '/form', javaScriptEnabled: false, expected: /./ }
  const urls = await visit(browser, SITE, options, async (page) => {
    const requested: string[] = []
    page.on('request', (request) => requested.push(request.url()))
    await send(page, email)
    await page.getByRole('heading', { name: 'Welcome' }).waitFor()
    return requested
  })
  expect(urls.filter((url) => url.includes('no-script'))).toEqual([])
  expect(await readList(folder)).toContain(email)
})

test('with `license: none` the page has no license', async () => {
  const bare = await startService({ site: 'license: none\n' })
  const page = await (await fetch(bare.origin)).text()
  expect(page).not.toMatch(/licen[cs]e/i)
  await bare.stop()
})

test('a site without a site file says nothing about an owner, and has icons', async () => {
  const plain = await startService()
  const page = await (await fetch(plain.origin)).text()
  expect([readData(page).publisher, readData(page).hasPart]).toEqual([undefined, undefined])
  expect(select(page, '.home, .note, .author, .issues, a.button, form[data-after-subscribe]', ['class'])).toEqual([])
  const [[icon = ''] = []] = select(page, 'link[rel=apple-touch-icon]', ['href'])
  const [[card = ''] = []] = select(page, 'meta[property="og:image"]', ['content'])
  for (const [path, mediaType, start] of [
    ['/favicon.svg', 'image/svg+xml', '<svg xmlns="http://www.w3.org/2000/svg"'],
    ['/favicon.ico', 'image/png', '\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\xb4\0\0\0\xb4'],
    // 180 × 180, and 1200 × 630.
    [icon, 'image/png', '\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\xb4\0\0\0\xb4'],
    [new URL(`${card}`).pathname, 'image/png', '\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x04\xb0\0\0\x02\x76'],
  ] as const) {
    const response = await fetch(plain.origin + path)
    expect([response.status, response.headers.get('content-type')]).toEqual([200, mediaType])
    expect(Buffer.from(await response.bytes()).toString('latin1')).toStartWith(start)
  }
  await plain.stop()
})
