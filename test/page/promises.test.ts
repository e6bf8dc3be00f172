/** The page in a real Chromium: it says only what is true, and what it says can be seen and heard. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { rm } from 'node:fs/promises'
import type { Browser, BrowserContextOptions, Page, Route } from 'playwright-core'
import { en } from '../../src/locales/en.ts'
import { openPage, startBrowser } from '../support/browser.ts'
import { readList } from '../support/list-file.ts'
import { createFolder, type RunningService, startService } from '../support/service.ts'

const ENDPOINT = '**/api/newsletter'

let browser: Browser
let folder: string
let service: RunningService
beforeAll(async () => {
  folder = await createFolder()
  service = await startService({ folder, site: 'name: The Gazette' })
  browser = await startBrowser()
})
afterAll(async () => {
  await browser.close()
  await service.stop()
  await rm(folder, { recursive: true })
})

/** Opens a page and acts on it. */
async function visit<T>(act: (page: Page) => Promise<T>, options: BrowserContextOptions = {}, path = '/'): Promise<T> {
  const { page, context } = await openPage(browser, service.origin, { locale: 'en', ...options })
  try {
    await page.goto(path)
    return await act(page)
  } finally {
    await context.close()
  }
}

async function send(page: Page, email: string): Promise<void> {
  await page.locator('#email').fill(email)
  await page.keyboard.press('Enter')
}

const waitForOutcome = (page: Page, text: string) => page.locator('#outcome', { hasText: text }).waitFor()
const waitForSuccess = (page: Page) => page.locator('#done').waitFor()

describe('a response that is not from the endpoint', () => {
  const html = { contentType: 'text/html', body: '<h1>Welcome to the WiFi of this hotel</h1>' }
  const other = { contentType: 'application/json', body: '{"ok":true}' }
  const RESPONSES = [
    ['the login page of a network', en.outcomes.unreachable, (route: Route) => route.fulfill({ status: 200, ...html })],
    ['JSON without ok', en.outcomes.unreachable, (route: Route) => route.fulfill({ status: 200, json: { ok: 1 } })],
    ['too many requests', en.outcomes.too_many, (route: Route) => route.fulfill({ status: 429, ...html })],
    ['a refusal', en.outcomes.too_many, (route: Route) => route.fulfill({ status: 403, ...other })],
    ['an error of a proxy', en.outcomes.storage_failure, (route: Route) => route.fulfill({ status: 502, ...html })],
  ] as const
  test.each(RESPONSES)('%s is no success, and the typed text stays', async (_name, outcome, respond) => {
    const state = await visit(async (page) => {
      await page.route(ENDPOINT, respond)
      await send(page, 'ann@news.example')
      await waitForOutcome(page, outcome)
      return { typed: await page.locator('#email').inputValue(), isDone: await page.locator('#done').isVisible() }
    })
    expect(state).toEqual({ typed: 'ann@news.example', isDone: false })
  })
})

test('the confirmation has the address and the focus, and leads back to it', async () => {
  const state = await visit(async (page) => {
    await send(page, ' Ann <Ann@NEWS.example> ')
    await waitForSuccess(page)
    const shown = await page.locator('#address').textContent()
    const isFocused = await page.locator('#done:focus').count()
    await page.locator('#again').click()
    const field = page.locator('#email:focus')
    const selected = await page.evaluate<string>('String(getSelection())')
    return { shown, isFocused, typed: await field.inputValue(), selected, url: page.url() }
  })
  const email = 'Ann@NEWS.example'
  expect(state).toEqual({ shown: email, isFocused: 1, typed: email, selected: email, url: `${service.origin}/` })
  expect(await readList(folder)).toContain(email)
})

test('while a request is sent, the button shows it, nothing moves, and what is typed stays', async () => {
  const state = await visit(async (page) => {
    const { promise: answer, resolve } = Promise.withResolvers<void>()
    await page.route(ENDPOINT, async (route) => {
      await answer
      await route.continue()
    })
    const button = page.locator('.field button')
    const read = async () => [await button.boundingBox(), await page.locator('footer').boundingBox()]
    const before = await read()
    await send(page, 'first@news.example')
    await page.locator('.field button[aria-disabled="true"]').waitFor()
    const ring = await page.evaluate(
      "getComputedStyle(document.querySelector('.field button'), '::after').animationName",
    )
    const [sending, announced] = [await read(), await page.locator('#outcome').textContent()]
    await page.locator('#email').fill('second@news.example')
    resolve()
    await waitForSuccess(page)
    return {
      isStill: Bun.deepEquals(sending, before),
      ring,
      announced,
      shown: await page.locator('#address').textContent(),
      typed: await page.locator('#email').inputValue(),
      isBusy: await button.getAttribute('aria-disabled'),
    }
  })
  expect(state).toEqual({
    isStill: true,
    ring: 'turn',
    announced: en.outcomes.sending,
    shown: 'first@news.example',
    typed: 'second@news.example',
    isBusy: 'false',
  })
})

test('a message goes away when the address is corrected', async () => {
  const state = await visit(async (page) => {
    await send(page, 'ann@news')
    await waitForOutcome(page, en.outcomes.invalid_email)
    await page.locator('#email').pressSequentially('.')
    return {
      message: await page.locator('#outcome').textContent(),
      invalid: await page.locator('#email').getAttribute('aria-invalid'),
    }
  })
  expect(state).toEqual({ message: '', invalid: 'false' })
})

describe('a domain that is close to a big provider', () => {
  const question = (likely: string) =>
    en.outcomes.typo.replace('{address}', likely).replace('{subscribe}', en.subscribe)

  test('gets a question, and the answer is sent', async () => {
    await visit(async (page) => {
      await send(page, 'bea@gmial.com')
      await waitForOutcome(page, question('bea@gmail.com'))
      await page.locator('#outcome button').click()
      await waitForSuccess(page)
    })
    expect(await readList(folder)).toContain('bea@gmail.com')
    expect(await readList(folder)).not.toContain('bea@gmial.com')
  })

  test('is sent as it is the second time', async () => {
    await visit(async (page) => {
      await send(page, 'cyd@gmial.com')
      await waitForOutcome(page, question('cyd@gmail.com'))
      await page.keyboard.press('Enter')
      await waitForSuccess(page)
    })
    expect(await readList(folder)).toContain('cyd@gmial.com')
  })
})

/** A phone with its keyboard open, a zoom of 400 %, and a usual screen. */
const VIEWPORTS = [
  { width: 390, height: 400 },
  { width: 320, height: 256 },
  { width: 1280, height: 800 },
]

describe.each(VIEWPORTS)('at %p', (viewport) => {
  test.each([
    ['a mistake', 'x@news', '#outcome'],
    ['a success', 'dan@news.example', '#done h2'],
  ] as const)('%s is on the screen', async (_name, email, place) => {
    const box = await visit(
      async (page) => {
        await send(page, email)
        await page.locator(place).filter({ visible: true, hasText: /\S/ }).waitFor()
        await page.evaluate('Promise.all(document.getAnimations().map(({ finished }) => finished))')
        return (await page.locator(place).boundingBox())!
      },
      { viewport },
    )
    expect(box.y).toBeGreaterThanOrEqual(0)
    expect(box.y + box.height).toBeLessThanOrEqual(viewport.height)
  })

  test('the region of the outcome is there before it speaks, and nothing above it moves', async () => {
    const [before, after, isRendered] = await visit(
      async (page) => {
        const read = async () => {
          const [button, scroll] = [await page.locator('.field button').boundingBox(), await page.evaluate('scrollY')]
          return button!.y + Number(scroll)
        }
        const isRendered = await page.locator('#outcome').evaluate((element) => element.getClientRects().length > 0)
        const before = await read()
        await send(page, 'x@news')
        await waitForOutcome(page, en.outcomes.invalid_email)
        return [before, await read(), isRendered]
      },
      { viewport },
    )
    expect([after, isRendered]).toEqual([before, true])
  })
})

test('the outline of a field with an error has the colour of the error', async () => {
  const [outline, message] = await visit(async (page) => {
    await send(page, 'x@news')
    await waitForOutcome(page, en.outcomes.invalid_email)
    const read = (place: string, property: string) =>
      page.evaluate<string>(`getComputedStyle(document.querySelector('${place}')).${property}`)
    return [await read('#email:focus', 'outlineColor'), await read('#outcome', 'color')]
  })
  expect(outline).toBe(message)
})

test.each(['/', '/de', '/uk'])('%s fits into 320 pixels with text of 200 %%', async (path) => {
  const width = await visit(
    async (page) => {
      await page.addStyleTag({ content: 'html { font-size: 200% }' })
      return page.evaluate<number>('document.documentElement.scrollWidth')
    },
    { viewport: { width: 320, height: 600 }, bypassCSP: true },
    path,
  )
  expect(width).toBe(320)
})

test('nothing moves for readers who prefer that', async () => {
  const animations = await visit(
    async (page) => {
      await send(page, 'eva@news.example')
      await waitForSuccess(page)
      return page.evaluate<number>('document.getAnimations().length')
    },
    { reducedMotion: 'reduce' },
  )
  expect(animations).toBe(0)
})

test('in forced colours the button has an edge, and on paper there is no form', async () => {
  await visit(
    async (page) => {
      const edge = await page.evaluate<string>(
        "getComputedStyle(document.querySelector('.field button')).borderTopColor",
      )
      expect(edge).not.toBe('rgba(0, 0, 0, 0)')
      await page.emulateMedia({ media: 'print' })
      expect(await page.locator('form').isVisible()).toBe(false)
      expect(await page.locator('h1').isVisible()).toBe(true)
    },
    { forcedColors: 'active' },
  )
})
