/** The page in a real Chromium: its type, colours, logo, sizes and motion. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { rm } from 'node:fs/promises'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { createAccent } from '../../src/page/accent.ts'
import { createFaviconSvg } from '../../src/page/favicon.ts'
import { openPage, startBrowser } from '../support/browser.ts'
import { createFolder, type RunningService, startService } from '../support/service.ts'

let browser: Browser
let folder: string
let service: RunningService
beforeAll(async () => {
  folder = await createFolder()
  service = await startService({ folder, site: 'name: The Gazette\naccent: "#2b5a4e"' })
  browser = await startBrowser()
})
afterAll(async () => {
  await browser.close()
  await service.stop()
  await rm(folder, { recursive: true })
})

interface Visit extends BrowserContextOptions {
  /** Where to go; a path or a URL. */
  readonly to?: string
  /** Runs before the page is loaded. */
  readonly prepare?: (page: Page) => Promise<unknown>
}

/** Opens a page and acts on it. Fails if the page causes an error. */
async function visit<T>(act: (page: Page) => Promise<T>, { to = '/', prepare, ...options }: Visit = {}): Promise<T> {
  const { origin } = new URL(to, service.origin)
  const { page, context, errors } = await openPage(browser, origin, { locale: 'en', ...options })
  try {
    await prepare?.(page)
    // A font that is late delays the event "load".
    await page.goto(to, { waitUntil: 'domcontentloaded' })
    const result = await act(page)
    expect(errors).toEqual([])
    return result
  } finally {
    await context.close()
  }
}

/** Reads a property of the style of an element or of one of its pseudo-elements. */
const readStyle = (page: Page, place: string, property: string, pseudo = '') =>
  page.evaluate<string>(
    `getComputedStyle(document.querySelector(${JSON.stringify(place)}), '${pseudo}')['${property}']`,
  )

async function subscribe(page: Page): Promise<void> {
  await page.locator('#email').fill('ann@news.example')
  await page.keyboard.press('Enter')
  await page.locator('#done').waitFor()
}

describe('the title', () => {
  const isLoaded = (page: Page) =>
    page.evaluate<boolean>(
      "document.fonts.ready.then(() => [...document.fonts].some(({ family, status }) => family === 'Title' && status === 'loaded'))",
    )

  test('is in its own font, which is loaded once', async () => {
    let requests = 0
    const count = (request: { url(): string }) => {
      if (request.url().endsWith('.woff2')) requests++
    }
    const loaded = await visit(isLoaded, { prepare: async (page) => page.on('request', count) })
    expect({ loaded, requests }).toEqual({ loaded: true, requests: 1 })
  })

  test('moves nothing when the font arrives late', async () => {
    const { promise: arrival, resolve } = Promise.withResolvers<void>()
    const shift = await visit(
      async (page) => {
        const read = async () => {
          const [title, form] = [await page.locator('h1 bdi').boundingBox(), await page.locator('form').boundingBox()]
          return { width: title!.width, top: form!.y }
        }
        const before = await read()
        const fallbacks = await page.evaluate<string[]>(
          "[...document.fonts].filter(({ status }) => status === 'loaded').map(({ family }) => family)",
        )
        resolve()
        expect(await isLoaded(page)).toBe(true)
        const after = await read()
        expect(after.top).toBe(before.top)
        // A system may have none of the fonts that are scaled.
        if (fallbacks.length > 0) expect(Math.abs(after.width / before.width - 1)).toBeLessThan(0.04)
        return page.evaluate<number>(`new Promise((resolve) => {
          const observer = new PerformanceObserver((list) => resolve(list.getEntries().reduce((sum, { value }) => sum + value, 0)))
          observer.observe({ type: 'layout-shift', buffered: true })
          setTimeout(() => resolve(0), 500)
        })`)
      },
      {
        prepare: (page) =>
          page.route('**/*.woff2', async (route) => {
            await arrival
            await route.continue()
          }),
      },
    )
    expect(shift).toBeLessThan(0.01)
  })

  test('with a letter that is not in that font is in one font of the system', async () => {
    const site = await startService({ site: 'name: Łódź\nlanguages: [en]' })
    const state = await visit(
      async (page) => ({ isLoaded: await isLoaded(page), family: await readStyle(page, 'h1', 'fontFamily') }),
      { to: `${site.origin}/` },
    )
    await site.stop()
    expect(state.isLoaded).toBe(false)
    expect(state.family).toStartWith('Georgia')
  })
})

test.each(['light', 'dark'] as const)('in the %s theme, button, logo and check mark have the accent', async (theme) => {
  const colours = await visit(
    async (page) => {
      const [button, logo] = [
        await readStyle(page, '.field button', 'backgroundColor'),
        await readStyle(page, '.mark', 'backgroundColor'),
      ]
      await subscribe(page)
      return [button, logo, await readStyle(page, '#done svg', 'fill')]
    },
    { colorScheme: theme },
  )
  const accent = createAccent('#2b5a4e')
    [theme].slice(1)
    .match(/../g)!
    .map((channel) => Number.parseInt(channel, 16))
  expect([...new Set(colours)]).toEqual([`rgb(${accent.join(', ')})`])
})

describe('the letter of the name', () => {
  test('is on the page, but not in its text', async () => {
    const state = await visit(async (page) => ({
      letter: await readStyle(page, '.mark', 'content', '::before'),
      text: await page.locator('main').innerText(),
    }))
    expect(state.letter).toBe('"T"')
    expect(state.text).toStartWith('The Gazette')
  })

  test('is a valid image with any name', async () => {
    const names = ['<', '&amp;', '"\'>', '🗞️', '👩‍👩‍👧', 'الجريدة', '日', 'E\u0301', ']]>', '\u{10FFFE}']
    const icons = names.map((name) => createFaviconSvg(name, '#123456'))
    const page = await browser.newPage()
    const drawn = await page.evaluate<string[]>(`Promise.all(${JSON.stringify(icons)}.map(async (icon) => {
      const image = new Image()
      image.src = 'data:image/svg+xml,' + encodeURIComponent(icon)
      return image.decode().then(() => 'drawn', () => icon)
    }))`)
    await page.close()
    expect([...new Set(drawn)]).toEqual(['drawn'])
  })
})

test.each([320, 390])('at %p pixels, the button is as wide as the field', async (width) => {
  const [field, button] = await visit(
    async (page) => [await page.locator('#email').boundingBox(), await page.locator('.field button').boundingBox()],
    { viewport: { width, height: 800 } },
  )
  expect(button!.width).toBe(field!.width)
  expect(button!.y).toBeGreaterThan(field!.y)
})

test.each([true, false])('the languages open by keyboard, with scripts: %p', async (javaScriptEnabled) => {
  await visit(
    async (page) => {
      const control = page.getByRole('navigation').locator('summary')
      expect(await control.textContent()).toBe('English')
      const link = page.getByRole('link', { name: 'Deutsch' })
      expect(await link.isVisible()).toBe(false)
      await control.press('Enter')
      await link.waitFor()
      expect(await page.locator('[aria-current]').textContent()).toBe('English')
      await link.press('Enter')
      await page.waitForURL('**/de')
      expect(await page.getByRole('navigation').locator('summary').textContent()).toBe('Deutsch')
    },
    { javaScriptEnabled },
  )
})

test('the message covers the note, which comes back when the message goes', async () => {
  await visit(async (page) => {
    const note = page.locator('#kept')
    await page.keyboard.press('Tab')
    await page.locator('#email').fill('x@news')
    await page.keyboard.press('Enter')
    await page.locator('#outcome:not(:empty)').waitFor()
    const [message, place] = [await page.locator('#outcome').boundingBox(), await note.boundingBox()]
    expect([await note.isVisible(), message!.y]).toEqual([false, place!.y])
    await page.locator('#email').fill('x@news.example')
    expect(await note.isVisible()).toBe(true)
  })
})

test('no motion takes longer than 200 ms, except for the ring on the button', async () => {
  const read = (page: Page) =>
    page.evaluate<[string, number][]>(
      "document.getAnimations().map((animation) => [animation.animationName ?? 'transition', animation.effect.getComputedTiming().duration])",
    )
  const motions = await visit(async (page) => {
    await page.route('**/api/newsletter', async (route) => {
      await page.locator('[aria-disabled="true"]').waitFor()
      sending.push(...(await read(page)))
      await route.continue()
    })
    const sending: [string, number][] = []
    await subscribe(page)
    return [...sending, ...(await read(page))]
  })
  const names = motions.map(([name]) => name)
  expect(names).toContain('turn')
  for (const [name, duration] of motions) if (name !== 'turn') expect(duration).toBeLessThan(200)
})

test('a success replaces the form by a panel with a drawn check mark, the address and what comes next', async () => {
  const state = await visit(async (page) => {
    await subscribe(page)
    return {
      form: await page.locator('form').isVisible(),
      mark: await readStyle(page, '#done path', 'animationName'),
      text: await page.locator('#done').innerText(),
    }
  })
  expect(state.form).toBe(false)
  expect(state.mark).toBe('draw')
  expect(state.text).toMatch(/ann@news\.example[\s\S]+next newsletter[\s\S]+another address/)
})

test('for readers who prefer less motion, a sentence takes the place of the ring that turns', async () => {
  await visit(
    async (page) => {
      await page.route('**/api/newsletter', () => {})
      await page.locator('#email').fill('ann@news.example')
      await page.keyboard.press('Enter')
      await page.locator('[aria-disabled="true"]').waitFor()
      expect(await page.evaluate<number>('document.getAnimations().length')).toBe(0)
      expect(await readStyle(page, '#outcome', 'clipPath')).toBe('none')
      expect(await readStyle(page, '#kept', 'visibility')).toBe('hidden')
    },
    { reducedMotion: 'reduce' },
  )
})

test('a first visit loads less than 30 KB, with all headers', async () => {
  let bytes = 0
  let files = 0
  await visit((page) => page.waitForLoadState('networkidle'), {
    prepare: async (page) => {
      const session = await page.context().newCDPSession(page)
      await session.send('Network.enable')
      session.on('Network.loadingFinished', ({ encodedDataLength }) => {
        bytes += encodedDataLength
        files++
      })
    },
  })
  // The page, its style, its script, the font, and in some modes of the browser the icon.
  expect(files).toBeGreaterThanOrEqual(4)
  expect(bytes).toBeLessThan(30_000)
})
