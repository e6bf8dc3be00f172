/** Each state of the page: what a hand, a key and the Back button do to it, in a real Chromium. */

import { afterAll, describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { LOCALES } from '../../src/locales/languages.ts'
import { send, startBrowser, type Visit, visit, waitFor } from '../support/browser.ts'
import { readList } from '../support/list-file.ts'
import { startService } from '../support/service.ts'

const { en } = LOCALES
const ENDPOINT = '**/api/newsletter'
const FAILED_RESPONSE = /the server responded with a status of|ERR_FAILED/

const service = await startService({ site: 'name: The Gazette\nhome: https://www.gazette.example/' })
const bare = await startService({ site: 'name: The Gazette\nlanguages: [en]\nlicense: none\ndevelopers: false' })
const browser = await startBrowser()
afterAll(async () => {
  await browser.close()
  await Promise.all([service.stop(), bare.stop()])
})

const open = <T>(options: Visit, act: (page: Page) => Promise<T>) => visit(browser, service.origin, options, act)

describe('the question about a likely address', () => {
  const QUESTION = 'Did you mean'
  const stopClock = (page: Page) => page.clock.install()

  test.each([
    ['a double click', (page: Page) => page.locator('form > button').dblclick()],
    [
      'a double Enter',
      async (page: Page) => {
        await page.locator('#email').press('Enter')
        await page.keyboard.press('Enter')
      },
    ],
  ])('%s does not answer it; pressing again after a second does', async (name, press) => {
    const email = `${name.replaceAll(' ', '-')}@gmial.com`
    await open({ prepare: stopClock, viewport: { width: 390, height: 800 } }, async (page) => {
      let requests = 0
      page.on('request', (request) => {
        if (request.method() === 'POST') requests++
      })
      await page.clock.pauseAt(Date.now() + 60_000)
      await page.locator('#email').fill(email)
      await press(page)
      await waitFor(page, QUESTION)
      await page.clock.runFor(900)
      await page.locator('form > button').click()
      await waitFor(page, QUESTION)
      expect(requests).toBe(0)
      await page.clock.runFor(200)
      await page.locator('form > button').click()
      await waitFor(page, en.accepted)
    })
    expect(await readList(service.folder)).toContain(email)
  })

  test('its answer sends the other address, at once', async () => {
    await open({}, async (page) => {
      await send(page, 'answer@gmial.com')
      await waitFor(page, en.typo.replace('{subscribe}', en.subscribe).replace('{address}', 'answer@gmail.com'))
      // The second click of a double click on something that was here before.
      await page.locator('#outcome button').dispatchEvent('click', { detail: 2 })
      expect(await page.locator('#outcome button').isVisible()).toBe(true)
      await page.keyboard.press('Tab')
      await page.keyboard.press('Enter')
      await waitFor(page, en.accepted)
    })
    const list = await readList(service.folder)
    expect(list.filter((email) => email.startsWith('answer@'))).toEqual(['answer@gmail.com'])
  })

  test('is asked again after the address was edited', async () => {
    await open({ prepare: stopClock }, async (page) => {
      await page.clock.pauseAt(Date.now() + 60_000)
      await send(page, 'edited@gmial.com')
      await waitFor(page, QUESTION)
      await page.locator('#email').fill('other@news.example')
      expect(await page.locator('#outcome').textContent()).toBe('')
      await page.clock.runFor(2_000)
      await send(page, 'edited@gmial.com')
      await waitFor(page, QUESTION)
    })
    expect(await readList(service.folder)).not.toContain('edited@gmial.com')
  })

  test.each(['fr', 'it', 'en', 'ar'] as const)('in %s, no line begins with the question mark', async (language) => {
    await open(
      { path: language === 'en' ? '/' : `/${language}`, viewport: { width: 320, height: 700 } },
      async (page) => {
        for (const name of ['a', 'anna', 'anna.maria', 'anna.maria.smith', 'anna.maria.smith.jones', 'x'.repeat(25)]) {
          await send(page, `${name}@gmial.com`)
          await page.locator('#outcome button').waitFor()
          const [address, mark] = await page.evaluate<number[]>(`(() => {
          const texts = document.createTreeWalker(document.getElementById('outcome'), NodeFilter.SHOW_TEXT)
          const places = []
          while (texts.nextNode()) {
            const index = texts.currentNode.data.search(/[?؟]|m$/)
            if (index < 0 || places.length > 1) continue
            const range = document.createRange()
            range.setStart(texts.currentNode, index)
            range.setEnd(texts.currentNode, index + 1)
            places.push(range.getBoundingClientRect().top)
          }
          return places
        })()`)
          expect([name, mark]).toEqual([name, address])
        }
      },
    )
  })
})

test('a message stays until the address is valid', async () => {
  await open({}, async (page) => {
    await send(page, 'ann@news')
    await waitFor(page, en.invalid_email)
    const read = async () => [
      await page.locator('#outcome').textContent(),
      await page.locator('#email').getAttribute('aria-invalid'),
    ]
    await page.locator('#email').pressSequentially('.e')
    expect(await read()).toEqual([en.invalid_email, 'true'])
    await page.locator('#email').pressSequentially('x')
    expect(await read()).toEqual(['', 'false'])
  })
})

test.each([
  ['de', 320],
  ['fr', 320],
  ['uk', 320],
  ['en', 390],
  ['ja', 390],
  ['de', 1280],
] as const)('in %s at %p pixels, no message moves anything', async (language, width) => {
  const path = language === 'en' ? '/' : `/${language}`
  await open({ path, viewport: { width, height: 800 }, expected: FAILED_RESPONSE }, async (page) => {
    const read = async () => {
      const scroll = await page.evaluate<number>('scrollY')
      const boxes = await Promise.all(
        ['#email', 'form > button', 'footer'].map((place) => page.locator(place).boundingBox()),
      )
      return boxes.map((box) => box!.y + scroll)
    }
    const before = await read()
    const phrases = LOCALES[language]
    for (const [status, outcome] of [
      [0, phrases.unreachable],
      [429, phrases.too_many],
      [403, phrases.refused],
      [500, phrases.storage_failure],
    ] as const) {
      await page.route(ENDPOINT, (route) => (status === 0 ? route.abort() : route.fulfill({ status })))
      await send(page, 'ann@news.example')
      await waitFor(page, outcome)
      expect([outcome, await read()]).toEqual([outcome, before])
      await page.unroute(ENDPOINT)
    }
    for (const [email, outcome] of [
      ['x@news', phrases.invalid_email],
      ['jörg@news.example', phrases.non_ascii],
      ['ann@gmial.com', 'ann@gmail.com'],
    ] as const) {
      await send(page, email)
      await waitFor(page, outcome)
      expect([outcome, await read()]).toEqual([outcome, before])
    }
  })
})

describe.each([
  ['with scripts', true],
  ['without scripts', false],
] as const)('%s', (name, javaScriptEnabled) => {
  test('the title of the tab follows the state', async () => {
    await open({ javaScriptEnabled, expected: FAILED_RESPONSE }, async (page) => {
      const titles = [await page.title()]
      await send(page, 'ann@news')
      await waitFor(page, en.invalid_email)
      titles.push(await page.title())
      await send(page, `${name.replace(' ', '-')}@news.example`)
      await waitFor(page, en.accepted)
      titles.push(await page.title())
      await page.locator('#again').click()
      await page.locator('form').waitFor()
      titles.push(await page.title())
      const plain = 'The Gazette · Subscribe'
      expect(titles).toEqual([plain, `${en.invalid_email} · ${plain}`, `${en.accepted} · ${plain}`, plain])
    })
  })
})

test('the title follows the state after a response of the server too', async () => {
  // The form was sent before the script arrived.
  await open({ expected: FAILED_RESPONSE, javaScriptEnabled: true }, async (page) => {
    await page.evaluate("HTMLFormElement.prototype.submit.call(document.querySelector('form'))")
    await waitFor(page, en.empty)
    expect(await page.title()).toBe(`${en.empty} · The Gazette · Subscribe`)
    await page.locator('#email').fill('ann@news.example')
    expect(await page.title()).toBe('The Gazette · Subscribe')
  })
})

describe('the list of languages', () => {
  test('closes when the focus leaves it by Tab', async () => {
    await open({}, async (page) => {
      await page.locator('nav summary').press('Enter')
      const isOpen = () => page.locator('nav ul').isVisible()
      for (let index = 0; index < Object.keys(LOCALES).length; index++) await page.keyboard.press('Tab')
      expect([await isOpen(), await page.locator('nav li:last-child a:focus').count()]).toEqual([true, 1])
      await page.keyboard.press('Tab')
      expect(await isOpen()).toBe(false)
    })
  })

  test('gives the focus back to its button at Escape', async () => {
    await open({}, async (page) => {
      await page.locator('nav summary').press('Enter')
      await page.keyboard.press('Tab')
      await page.keyboard.press('Escape')
      expect(await page.locator('nav ul').isVisible()).toBe(false)
      expect(await page.locator('nav summary:focus').count()).toBe(1)
    })
  })
})

test.each([
  ['/ar', 'en'],
  ['/', 'ar'],
] as const)('the offer at %s of %s is at the start of the page, and as wide as its text', async (path, locale) => {
  await open({ path, locale, viewport: { width: 1280, height: 800 } }, async (page) => {
    const [offer, title] = [
      (await page.locator('header a').boundingBox())!,
      (await page.locator('main').boundingBox())!,
    ]
    expect(offer.width).toBeLessThan(400)
    const [start, wanted] = path === '/ar' ? [offer.x + offer.width, title.x + title.width] : [offer.x, title.x]
    expect(Math.abs(start - wanted)).toBeLessThan(2)
  })
})

test('a page in one language, without links, has no room for an offer, no banner and no rule at its foot', async () => {
  await visit(browser, bare.origin, { locale: 'de' }, async (page) => {
    expect((await page.locator('main').boundingBox())!.y).toBe(0)
    expect([await page.locator('header').count(), await page.locator('footer').isVisible()]).toEqual([0, false])
  })
})

test('“For developers” opens into view', async () => {
  await open({ viewport: { width: 390, height: 700 } }, async (page) => {
    await page.locator('.developers summary').click()
    const shown = page.locator('.developers > div')
    await page.waitForFunction(
      `document.querySelector('.developers > div').getBoundingClientRect().bottom <= innerHeight + 1`,
    )
    expect(await shown.isVisible()).toBe(true)
  })
})

test('a label of two lines is in the middle of its button', async () => {
  const label = 'See what happened on our website'
  const own = await startService({ site: `home: https://www.gazette.example/\nphrases: { home: ${label} }` })
  await visit(browser, own.origin, { viewport: { width: 320, height: 700 } }, async (page) => {
    await send(page, 'ann@news.example')
    await page.locator('#done').waitFor()
    const gaps = await page.evaluate<number[][]>(`(() => {
      const button = document.querySelector('.done .button')
      const range = document.createRange()
      range.selectNodeContents(button)
      const box = button.getBoundingClientRect()
      return [...range.getClientRects()].map(({ left, right }) => [left - box.left, box.right - right])
    })()`)
    expect(gaps.length).toBe(2)
    for (const [left = 0, right = 0] of gaps) expect(Math.abs(left - right)).toBeLessThan(2)
  })
  await own.stop()
})

describe('without scripts, Back from the confirmation shows the form', () => {
  const other = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: () =>
      new Response(
        `<!doctype html><link rel="icon" href="data:,"><form method="post" action="${service.origin}/">
        <input id="email" name="email"><button>Subscribe</button></form>`,
        { headers: { 'Content-Type': 'text/html' } },
      ),
  })
  afterAll(() => other.stop(true))

  test.each([
    ['on the page', () => service.origin],
    ['on another site', () => other.url.origin],
  ])('%s', async (_name, toOrigin) => {
    const options = { javaScriptEnabled: false, expected: /./ }
    await visit(browser, toOrigin(), options, async (page) => {
      await send(page, 'back@news')
      await waitFor(page, en.invalid_email)
      await send(page, 'back@news.example')
      await waitFor(page, en.accepted)
      await page.goBack()
      expect(await page.locator('form').isVisible()).toBe(true)
      await page.goForward()
      await waitFor(page, en.accepted)
    })
  })
})
