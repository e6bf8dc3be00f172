/** What readers do with the page, in a real Chromium: with and without scripts, by keyboard, on networks that lie. */

import { Database } from 'bun:sqlite'
import { afterAll, describe, expect, test } from 'bun:test'
import type { Page, Route } from 'playwright-core'
import { BODY_DEADLINE_MS, STORE_DEADLINE_MS } from '../../src/limits.ts'
import { LOCALES } from '../../src/locales/languages.ts'
import { LANGUAGE_TAGS, type Language, toOwnName } from '../../src/locales/texts.ts'
import { toPagePath } from '../../src/routes.ts'
import { send, startBrowser, type Visit, visit, waitFor } from '../support/browser.ts'
import { readList, toListFile } from '../support/list-file.ts'
import { startService } from '../support/service.ts'

const { en } = LOCALES
const ENDPOINT = '**/api/newsletter'

const service = await startService({ site: 'name: The Gazette' })
const browser = await startBrowser()
afterAll(async () => {
  await browser.close()
  await service.stop()
})

// The browser writes this to the console for each response with an error status.
const FAILED_RESPONSE = /the server responded with a status of/

const open = <T>(options: Visit, act: (page: Page) => Promise<T>) => visit(browser, service.origin, options, act)

const inLanguage = (language: Language): Visit => ({ path: toPagePath(language, LANGUAGE_TAGS), locale: language })

describe.each([
  ['with scripts', true],
  ['without scripts', false],
] as const)('%s', (_name, javaScriptEnabled) => {
  const kind = javaScriptEnabled ? 'scripts' : 'plain'

  test.each(['en', 'uk', 'ar'] as const)('a person subscribes in %s, and can add another address', async (language) => {
    const email = `${language}-${kind}@news.example`
    await open({ ...inLanguage(language), javaScriptEnabled }, async (page) => {
      await send(page, ` <${email}> `)
      await waitFor(page, LOCALES[language].accepted)
      const text = await page.locator('#done:focus').innerText()
      expect([text.includes(email), text.includes(LOCALES[language].next)]).toEqual([true, true])
      expect(await page.locator('form').isVisible()).toBe(false)
      await page.locator('#again').click()
      await page.locator('form').waitFor()
      expect(await page.locator('#done').isVisible()).toBe(false)
    })
    expect(await readList(service.folder)).toContain(email)
  })

  test('an invalid address gets a message, and the typed text stays', async () => {
    const before = await readList(service.folder)
    const options = { ...inLanguage('fr'), javaScriptEnabled, expected: FAILED_RESPONSE }
    await open(options, async (page) => {
      await send(page, 'name@example')
      await waitFor(page, LOCALES.fr.invalid_email)
      const field = page.locator('#email:focus')
      expect(await field.inputValue()).toBe('name@example')
      expect(await field.getAttribute('aria-invalid')).toBe('true')
      expect(await field.getAttribute('aria-describedby')).toBe('outcome stored')
      expect(await page.locator('#outcome').getAttribute('role')).toBe('status')
    })
    expect(await readList(service.folder)).toEqual(before)
  })

  test('a store failure gets a message, the typed text stays, and a second attempt is stored once', async () => {
    const email = `again-${kind}@news.example`
    await open({ ...inLanguage('pl'), javaScriptEnabled, expected: FAILED_RESPONSE }, async (page) => {
      using db = new Database(toListFile(service.folder))
      db.run('PRAGMA busy_timeout = 5000')
      db.run(`CREATE TRIGGER broken BEFORE INSERT ON inbox BEGIN SELECT raise(ABORT, 'broken'); END`)
      await send(page, email)
      await waitFor(page, LOCALES.pl.storage_failure).finally(() => db.run('DROP TRIGGER broken'))
      expect(await page.locator('#email').inputValue()).toBe(email)
      await page.locator('form > button').click()
      await waitFor(page, LOCALES.pl.accepted)
      await page.reload()
    })
    expect((await readList(service.folder)).filter((listed) => listed === email)).toHaveLength(1)
  })

  test('the list of languages opens above its button by keyboard, and moves nothing', async () => {
    await open({ javaScriptEnabled, viewport: { width: 390, height: 800 } }, async (page) => {
      const control = page.locator('nav summary')
      const read = async () => [await control.boundingBox(), await page.locator('footer').boundingBox()]
      const before = await read()
      await control.press('Enter')
      await page.locator('nav ul').waitFor()
      expect(await read()).toEqual(before)
      const list = (await page.locator('nav ul').boundingBox())!
      expect(list.y + list.height).toBeLessThanOrEqual(before[0]!.y)
      expect(await page.locator('[aria-current]').textContent()).toBe('English')
      await page.getByRole('link', { name: 'Deutsch' }).press('Enter')
      await page.waitForURL('**/de')
      expect(await control.textContent()).toBe('Deutsch')
    })
  })
})

test.each([
  ['de-AT', '/', 'de'],
  ['pt-PT', '/de', 'pt-BR'],
  ['en-GB', '/ar', 'en'],
  ['de', '/de', undefined],
  ['zh-TW', '/', undefined],
  ['xx', '/', undefined],
] as const)('a browser in %s at %s is offered %s, and nothing moves', async (locale, path, offered) => {
  // Without the font of titles: this machine may lack the serifs that have its width, so its arrival may move the text.
  const prepare = (page: Page) => page.route(/\.woff2$/, (route) => route.abort())
  const options = { path, locale, viewport: { width: 320, height: 700 }, prepare, expected: /ERR_FAILED/ }
  await open(options, async (page) => {
    const shift = await page.evaluate<number>(`new Promise((resolve) => {
      requestAnimationFrame(() => requestAnimationFrame(() => {
        const observer = new PerformanceObserver(() => {})
        observer.observe({ type: 'layout-shift', buffered: true })
        resolve(observer.takeRecords().reduce((sum, { value }) => sum + value, 0))
      }))
    })`)
    expect(shift).toBe(0)
    const links = page.locator('header a')
    const offers = await links.evaluateAll((all) =>
      all.map((link) => [link.getAttribute('hreflang'), link.textContent]),
    )
    expect(offers).toEqual(offered === undefined ? [] : [[offered, toOwnName(offered)]])
  })
})

test('a language of the browser that is no tag is skipped', async () => {
  const prepare = (page: Page) =>
    page.addInitScript("Object.defineProperty(navigator, 'languages', { value: ['en_US@posix', 'de'] })")
  expect(await open({ prepare }, (page) => page.locator('header a').textContent())).toBe('Deutsch')
})

const HTML = { contentType: 'text/html', body: '<h1>Welcome to the WiFi of this hotel</h1>' }

test.each([
  ['the login page of a network', en.unreachable, (route: Route) => route.fulfill({ status: 200, ...HTML })],
  ['JSON without ok', en.unreachable, (route: Route) => route.fulfill({ status: 200, json: { ok: 1 } })],
  ['no network', en.unreachable, (route: Route) => route.abort('internetdisconnected')],
  ['too many requests', en.too_many, (route: Route) => route.fulfill({ status: 429, ...HTML })],
  ['a refusal of a proxy', en.refused, (route: Route) => route.fulfill({ status: 403, json: { ok: true } })],
  ['an error of a proxy', en.storage_failure, (route: Route) => route.fulfill({ status: 502, ...HTML })],
])('%s is no success, and the typed text stays', async (_name, outcome, respond) => {
  const state = await open({ expected: /status of|ERR_INTERNET/ }, async (page) => {
    await page.route(ENDPOINT, respond)
    await send(page, 'ann@news.example')
    await waitFor(page, outcome)
    return [await page.locator('#email').inputValue(), await page.locator('#done').isVisible()]
  })
  expect(state).toEqual(['ann@news.example', false])
})

test('a double click sends one request; while it is sent nothing moves, and what is typed stays', async () => {
  const { promise: answer, resolve } = Promise.withResolvers<void>()
  const state = await open({}, async (page) => {
    let requests = 0
    await page.route(ENDPOINT, async (route) => {
      requests++
      await answer
      await route.continue()
    })
    const button = page.locator('form > button')
    const read = async () => [await button.boundingBox(), await page.locator('footer').boundingBox()]
    await page.locator('#email').fill('first@news.example')
    const before = await read()
    await button.dblclick()
    await page.locator('form > button[aria-disabled="true"]').waitFor()
    const isStill = Bun.deepEquals(await read(), before)
    const announced = await page.locator('#outcome').textContent()
    await page.locator('#email').fill('second@news.example')
    resolve()
    await waitFor(page, 'first@news.example')
    const isBusy = await button.getAttribute('aria-disabled')
    return { isStill, announced, typed: await page.locator('#email').inputValue(), isBusy, requests }
  })
  const expected = { isStill: true, announced: en.sending, typed: 'second@news.example', isBusy: 'false' }
  expect(state).toEqual({ ...expected, requests: 1 })
})

test('a page whose request gets no answer says so in the end', async () => {
  const state = await open({}, async (page) => {
    // A hundredth of the time that the page asks for. The page has its own AbortSignal.
    await page.addInitScript(`
      const wait = AbortSignal.timeout.bind(AbortSignal)
      AbortSignal.timeout = (milliseconds) => wait((window.waited = milliseconds) / 100)`)
    await page.reload()
    await page.route(ENDPOINT, () => {})
    await send(page, 'slow@news.example')
    await waitFor(page, en.unreachable)
    return page.evaluate('window.waited')
  })
  expect(state).toBeWithin(BODY_DEADLINE_MS + STORE_DEADLINE_MS, 25_000)
})

test('a page that was left while it sent says nothing when the browser shows it again', async () => {
  const state = await open({}, async (page) => {
    await page.route(ENDPOINT, () => {})
    await send(page, 'left@news.example')
    await page.locator('form > button[aria-disabled="true"]').waitFor()
    const read = async () => [
      await page.locator('#outcome').textContent(),
      await page.locator('form > button').getAttribute('aria-disabled'),
    ]
    // A first load, whose pictures may arrive after the press, changes nothing.
    await page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', { persisted: false }))")
    const first = await read()
    await page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))")
    return [first, await read()]
  })
  expect(state).toEqual([
    [en.sending, 'true'],
    ['', 'false'],
  ])
})

test('the page works by keyboard only, and the focus is visible', async () => {
  await open(inLanguage('nl'), async (page) => {
    const focused = page.locator('#email:focus')
    for (let tab = 0; tab < 10 && (await focused.count()) === 0; tab++) await page.keyboard.press('Tab')
    expect(await page.evaluate<string>('getComputedStyle(document.activeElement).outlineStyle')).not.toBe('none')
    await page.keyboard.type('keys@news.example')
    await page.keyboard.press('Enter')
    await waitFor(page, LOCALES.nl.accepted)
    await page.locator('#again').press('Enter')
    expect(await page.evaluate<string>('String(getSelection())')).toBe('keys@news.example')
  })
  expect(await readList(service.folder)).toContain('keys@news.example')
})
