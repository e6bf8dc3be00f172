/** The page belongs to the owner: words in each language, links, where people go next, and what other programs read. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { openPage, startBrowser } from '../support/browser.ts'
import { readList } from '../support/list-file.ts'
import { findBlock } from '../support/markdown.ts'
import { createFolder, type RunningService, startService } from '../support/service.ts'

const BASE_URL = 'https://list.gazette.example'
const NAME = '</script><script>alert("1")</script> & \'Co\''
const PNG = Buffer.from('89504e470d0a1a0a0000000d', 'hex')

/** The site of the owner: a page to go to after a subscription, and one with the form of the documentation. */
const site = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: ({ url }) => {
    const { text } = findBlock('docs/page.md', 'html', 'own-form')
    const form = text.replace('https://list.example.org', service.origin)
    const body = url.endsWith('/form') ? `<!doctype html><link rel="icon" href="data:,">${form}` : '<h1>Welcome</h1>'
    return new Response(body, { headers: { 'Content-Type': 'text/html; charset=utf-8' } })
  },
})
const SITE = site.url.origin

let browser: Browser
let folder: string
let service: RunningService
beforeAll(async () => {
  folder = await createFolder()
  await writeFile(join(folder, 'logo.png'), PNG)
  const file = `
name: { en: ${JSON.stringify(NAME)}, de: Die Rundschau }
description: { en: Every Friday., de: Jeden Freitag. }
note: { en: No ads., de: Keine Werbung. }
contact: mailto:owner@gazette.example
home: https://www.gazette.example/
privacy: https://www.gazette.example/privacy
imprint: https://www.gazette.example/imprint
after_subscribe: ${SITE}/welcome
social_image: https://www.gazette.example/card.png
developers: false
logo: logo.png
languages: [en, de, fr]
phrases: { subscribe: { de: Los } }
`
  service = await startService({ folder, site: file, env: { BASE_URL, CORS_ORIGINS: SITE } })
  browser = await startBrowser()
})
afterAll(async () => {
  await browser.close()
  await service.stop()
  await site.stop(true)
  await rm(folder, { recursive: true })
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

describe('words', () => {
  test('are in the language of the page', async () => {
    const page = await read('/de')
    expect(page).toContain('<title>Die Rundschau · Los</title>')
    expect(page).toContain('<bdi>Die Rundschau</bdi></h1>')
    expect(page).toContain('<meta name="description" content="Jeden Freitag."/>')
    expect(page).toContain('<p class="note"><bdi>Keine Werbung.</bdi></p>')
    expect(page).toContain('<span>Los</span></button>')
  })

  test('without a translation are marked with their language', async () => {
    expect(select(await read('/fr'), 'h1, .description, .note', ['lang'])).toEqual([['en'], ['en'], ['en']])
    expect(select(await read('/'), 'h1, .description, .note', ['lang'])).toEqual([[null], [null], [null]])
  })

  test('of documents are in the first language', async () => {
    expect(await read('/llms.txt')).toStartWith(`# ${NAME}\n\n> Every Friday.\n`)
    expect(JSON.parse(await read('/openapi.json')).info).toMatchObject({ title: NAME, description: 'Every Friday.' })
    const data = readData(await read('/de'))
    expect([data.name, data.description]).toEqual([NAME, 'Every Friday.'])
  })
})

describe('links', () => {
  test('lead to the pages of the owner', async () => {
    const page = await read('/de')
    expect(select(page, 'main a.home', ['href', 'aria-label'])).toEqual([
      ['https://www.gazette.example/', 'Zu unserer Website'],
    ])
    expect(select(page, 'footer p a', ['href']).flat()).toEqual([
      'mailto:owner@gazette.example',
      'https://www.gazette.example/privacy',
      'https://www.gazette.example/imprint',
      'https://creativecommons.org/licenses/by-sa/4.0/',
    ])
  })

  test('the section for developers is hidden, and its documents stay', async () => {
    expect(await read('/')).not.toContain('/openapi.yaml')
    expect((await fetch(`${service.origin}/openapi.yaml`)).status).toBe(200)
  })

  test('in the head lead to the documents', async () => {
    const links = select(await read('/de'), 'link[type]', ['rel', 'type', 'href'])
    expect(links.filter(([, type]) => !/image|font/.test(type ?? ''))).toEqual([
      ['service-doc', 'text/markdown', '/llms.txt'],
      ['service-desc', 'application/json', '/openapi.json'],
    ])
  })
})

/** Reads the JSON-LD of a page. */
function readData(page: string): Record<string, unknown> {
  const [, text = ''] = /<script type="application\/ld\+json">(.*?)<\/script>/.exec(page) ?? []
  return JSON.parse(text)
}

test('a link to the page has a card', async () => {
  const cards = select(await read('/de'), 'meta[property], meta[name^=twitter]', ['property', 'name', 'content'])
  expect(cards.map(([property, name, content]) => [property ?? name, content])).toEqual([
    ['og:type', 'website'],
    ['og:site_name', 'Die Rundschau'],
    ['og:title', 'Die Rundschau'],
    ['og:description', 'Jeden Freitag.'],
    ['og:url', `${BASE_URL}/de`],
    ['og:image', 'https://www.gazette.example/card.png'],
    ['twitter:card', 'summary_large_image'],
  ])
})

test('search engines learn what the owner provided', async () => {
  const page = await read('/')
  const [[logo = ''] = []] = select(page, 'link[rel=apple-touch-icon]', ['href'])
  expect(readData(page)).toEqual({
    '@context': 'https://schema.org',
    '@type': 'WebSite',
    name: NAME,
    description: 'Every Friday.',
    url: `${BASE_URL}/`,
    inLanguage: ['en', 'de', 'fr'],
    license: 'https://creativecommons.org/licenses/by-sa/4.0/',
    publisher: {
      '@type': 'Organization',
      name: NAME,
      url: 'https://www.gazette.example/',
      logo: BASE_URL + logo,
      email: 'owner@gazette.example',
    },
    potentialAction: {
      '@type': 'SubscribeAction',
      target: {
        '@type': 'EntryPoint',
        urlTemplate: `${BASE_URL}/api/newsletter`,
        httpMethod: 'POST',
        encodingType: 'application/json',
        contentType: 'application/json',
      },
    },
  })
})

test('the icon for home screens is the logo, if that is a PNG file', async () => {
  const [[path] = []] = select(await read('/'), 'link[rel=apple-touch-icon]', ['href'])
  const response = await fetch(service.origin + path)
  expect(response.headers.get('content-type')).toBe('image/png')
  expect(Buffer.from(await response.bytes())).toEqual(PNG)
})

/** Opens a page, acts on it, and returns the result with the errors of the page. Requests to the owner's site are none. */
async function visit<T>(url: string, act: (page: Page) => Promise<T>, javaScriptEnabled = true) {
  const { page, context, errors } = await openPage(browser, new URL(url).origin, { javaScriptEnabled })
  try {
    await page.goto(url)
    const result = await act(page)
    return { result, errors: errors.filter((error) => !error.startsWith(`requests ${SITE}/`)) }
  } finally {
    await context.close()
  }
}

describe('in a browser', () => {
  test('the policy of the page allows everything in it, and a hostile name runs nothing', async () => {
    const { result, errors } = await visit(`${service.origin}/`, async (page) => {
      const scripts = await page.locator('script').count()
      return { scripts, title: await page.locator('h1').textContent() }
    })
    expect({ ...result, errors }).toEqual({ scripts: 2, title: NAME, errors: [] })
  })

  test.each([
    ['with scripts', true],
    ['without scripts', false],
  ])('a subscription leads to the page of the owner, and no parameter changes that: %s', async (name, scripts) => {
    const email = `${name.replace(' ', '-')}@example.org`
    const path = '/de?after_subscribe=https://evil.example&next=https://evil.example'
    const { result, errors } = await visit(
      service.origin + path,
      async (page) => {
        await page.locator('#email').fill(email)
        await page.locator('.field button').click()
        await page.getByRole('heading', { name: 'Welcome' }).waitFor()
        return page.url()
      },
      scripts,
    )
    expect({ result, errors }).toEqual({ result: `${SITE}/welcome`, errors: [] })
    expect(await readList(folder)).toContain(email)
  })

  test("the form of the documentation subscribes from the owner's site", async () => {
    const { result } = await visit(`${SITE}/form`, async (page) => {
      const send = async (email: string, outcome: string) => {
        await page.locator('#email').fill(email)
        await page.getByRole('button', { name: 'Subscribe' }).click()
        const status = page.getByRole('status').filter({ hasText: outcome })
        await status.waitFor()
        return status.textContent()
      }
      return [await send('a@b', 'at most 254 characters'), await send('own-form@example.org', 'You are on the list')]
    })
    expect(result[1]).toBe('Thank you. You are on the list.')
    expect(await readList(folder)).toContain('own-form@example.org')
  })

  test('a site that CORS_ORIGINS does not name cannot call the API', async () => {
    const other = `${SITE.replace('127.0.0.1', 'localhost')}/form`
    const { result } = await visit(other, async (page) => {
      await page.locator('#email').fill('other-site@example.org')
      await page.getByRole('button', { name: 'Subscribe' }).click()
      await page.getByRole('status').filter({ hasText: 'no connection' }).waitFor()
      return true
    })
    expect(result).toBe(true)
    expect(await readList(folder)).not.toContain('other-site@example.org')
  })
})

test('a site without a site file says nothing about an owner, and has an icon for home screens', async () => {
  const plain = await startService()
  const page = await (await fetch(plain.origin)).text()
  expect(readData(page).publisher).toBeUndefined()
  expect(select(page, 'a.home, .note, meta[property="og:image"], form[data-next]', ['class'])).toEqual([])
  expect(select(page, 'meta[name^=twitter]', ['content'])).toEqual([['summary']])
  const [[icon = ''] = []] = select(page, 'link[rel=apple-touch-icon]', ['href'])
  const response = await fetch(plain.origin + icon)
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'image/png'])
  const bytes = Buffer.from(await response.bytes())
  expect([bytes.subarray(1, 4).toString(), bytes.readUInt32BE(16), bytes.readUInt32BE(20)]).toEqual(['PNG', 180, 180])
  await plain.stop()
})
