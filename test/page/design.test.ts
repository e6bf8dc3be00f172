/** How the page looks and moves, in a real Chromium: for every language, theme, size and preference of a reader. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import axe from 'axe-core'
import type { Page } from 'playwright-core'
import { LANGUAGE_TAGS, type Language } from '../../src/locales/texts.ts'
import { toPagePath } from '../../src/routes.ts'
import { openPage, send, startBrowser, type Visit, visit, type WatchedPage } from '../support/browser.ts'
import { startService } from '../support/service.ts'
import { until } from '../support/wait.ts'

const SITE = `
name: The Gazette
description: What happened this week, every Friday.
note: No ads. Leave at any time.
author: Ann Smith
issues:
  - { title: The night the ferry stayed, url: "https://www.gazette.example/41", date: 2026-11-20 }
  - { title: Who still buys fish at five in the morning, url: "https://www.gazette.example/38", date: 2026-10-30 }
  - { title: A crane is sold, url: "https://www.gazette.example/33", date: 2026-09-25 }
contact: mailto:editor@gazette.example
home: https://www.gazette.example/
privacy: https://www.gazette.example/privacy
accent: "#fff3b0"
`

const service = await startService({ site: SITE })
const browser = await startBrowser()
afterAll(async () => {
  await browser.close()
  await service.stop()
})

const open = <T>(options: Visit, act: (page: Page) => Promise<T>) => visit(browser, service.origin, options, act)

/** Reads a property of the style of an element. */
const readStyle = (page: Page, place: string, property: string) =>
  page.evaluate<string>(`getComputedStyle(document.querySelector(${JSON.stringify(place)}))['${property}']`)

async function sendAndWait(page: Page, email: string, place: string): Promise<void> {
  await send(page, email)
  await page.locator(place).filter({ visible: true, hasText: /\S/ }).waitFor()
}

/** Starts to send an address, and stays there. */
async function startSending(page: Page): Promise<void> {
  await page.route('**/api/newsletter', () => {})
  await send(page, 'ann@news.example')
  await page.locator('[aria-disabled="true"]').waitFor()
}

test('the title moves nothing when its font arrives late, and loads it once', async () => {
  const { promise: arrival, resolve } = Promise.withResolvers<void>()
  let requests = 0
  const prepare = (page: Page) =>
    page.route('**/*.woff2', async (route) => {
      requests++
      await arrival
      await route.continue()
    })
  await open({ prepare }, async (page) => {
    const read = async () => [await page.locator('h1 bdi').boundingBox(), await page.locator('form').boundingBox()]
    const isTrue = (condition: string) => until(() => page.evaluate<boolean>(condition), condition)
    await isTrue("performance.getEntriesByName('first-contentful-paint').length > 0")
    const before = await read()
    resolve()
    await isTrue("[...document.fonts].some(({ family, status }) => family === 'Title' && status === 'loaded')")
    await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))')
    expect(await read()).toEqual(before)
  })
  expect(requests).toBe(1)
})

test.each([
  [1366, 657],
  [390, 664],
  [360, 640],
  [375, 553],
])('the title stays where it is at a success, at %p × %p', async (width, height) => {
  await open({ viewport: { width, height } }, async (page) => {
    const read = async () => (await page.locator('h1').boundingBox())!.y
    const before = await read()
    await sendAndWait(page, 'ann@news.example', '#done h2')
    expect(Math.abs((await read()) - before)).toBeLessThanOrEqual(2)
    const heading = (await page.locator('#done h2').boundingBox())!
    expect(heading.y + heading.height).toBeLessThanOrEqual(height)
  })
})

test('a large screen shows a larger page, all of it at once, and a short page begins lower', async () => {
  const read = (origin: string, width: number, height: number) =>
    visit(browser, origin, { viewport: { width, height } }, async (page) => ({
      text: Number.parseFloat(await readStyle(page, 'html', 'fontSize')),
      title: (await page.locator('h1').boundingBox())!.y,
      height: await page.evaluate<number>('document.documentElement.scrollHeight'),
    }))
  const [large, usual] = [await read(service.origin, 1920, 1080), await read(service.origin, 1280, 1080)]
  expect([usual.text, large.text, large.height]).toEqual([16, 19.2, 1080])
  const bare = await startService({ site: 'name: The Gazette' })
  const short = await read(bare.origin, 1920, 1080)
  expect(short.title).toBeGreaterThan(2 * large.title)
  expect(short.height).toBe(1080)
  await bare.stop()
})

test.each(['light', 'dark'] as const)('in the %s theme, button and check mark have the exact accent', async (theme) => {
  const colors = await open({ colorScheme: theme }, async (page) => {
    const button = await readStyle(page, 'form > button', 'backgroundColor')
    await sendAndWait(page, 'ann@news.example', '#done')
    return [button, await readStyle(page, '#done svg', 'fill')]
  })
  expect(colors).toEqual(['rgb(255, 243, 176)', 'rgb(255, 243, 176)'])
})

test('an accent for the dark theme is used there only', async () => {
  const own = await startService({ site: 'accent: { light: "#0b3d2e", dark: "#8fd0b8" }' })
  const read = (colorScheme: 'light' | 'dark') =>
    visit(browser, own.origin, { colorScheme }, async (page) => [
      await readStyle(page, 'form > button', 'backgroundColor'),
      await readStyle(page, 'form > button', 'color'),
    ])
  expect(await read('light')).toEqual(['rgb(11, 61, 46)', 'rgb(255, 255, 255)'])
  expect(await read('dark')).toEqual(['rgb(143, 208, 184)', 'rgb(0, 0, 0)'])
  await own.stop()
})

/** Themes differ in colors only, which do not depend on the language: all languages are checked in one theme at each width, and these in both. */
const EVERYWHERE: readonly Language[] = ['en', 'ar']

describe.each(['light', 'dark'] as const)('in the %s theme', (colorScheme) => {
  describe.each([320, 1280])('at %p pixels', (width) => {
    const languages = (colorScheme === 'light') === (width === 320) ? LANGUAGE_TAGS : EVERYWHERE
    let opened: WatchedPage
    beforeAll(async () => {
      const options = { colorScheme, viewport: { width, height: 800 }, locale: 'fr' } as const
      opened = await openPage(browser, service.origin, options)
    })
    afterAll(() => opened.context.close())

    test.each([...languages])(
      'in %s axe finds nothing, nothing overflows, and a finger hits every target',
      async (tag) => {
        const { page, errors } = opened
        await page.goto(toPagePath(tag, LANGUAGE_TAGS))
        await sendAndWait(page, 'ann@gmial.com', '#outcome button')
        // The click elsewhere would close the list.
        for (const details of await page.locator('details').all())
          await details.evaluate((all) => all.setAttribute('open', ''))
        await page.evaluate(axe.source)
        const violations = await page.evaluate(async () => {
          const { violations } = await (globalThis as unknown as { axe: typeof axe }).axe.run()
          return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
        })
        expect(violations).toEqual([])
        expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(width)
        const small = await page.locator('a, button, summary, input').evaluateAll((targets) =>
          targets.flatMap((target) => {
            const { width, height } = target.getBoundingClientRect()
            return width > 0 && (width < 24 || height < 24) ? [`${target.outerHTML}: ${width} × ${height}`] : []
          }),
        )
        expect(small).toEqual([])
        expect(errors).toEqual([])
      },
    )
  })
})

test.each(['/', '/de', '/uk', '/ar'])('%s fits into 320 pixels with text of 200 %%', async (path) => {
  const width = await open({ path, viewport: { width: 320, height: 600 }, bypassCSP: true }, async (page) => {
    await page.addStyleTag({ content: 'html { font-size: 200% }' })
    return page.evaluate<number>('document.documentElement.scrollWidth')
  })
  expect(width).toBe(320)
})

test.each([
  ['a phone with its keyboard open', { width: 390, height: 400 }],
  ['a zoom of 400 %', { width: 320, height: 256 }],
  ['a usual screen', { width: 1280, height: 800 }],
])('%s: message and success are on the screen; a message moves nothing above it', async (_name, viewport) => {
  await open({ viewport }, async (page) => {
    const isOnScreen = async (place: string) => {
      const { y, height } = (await page.locator(place).boundingBox())!
      expect([place, y >= 0 && y + height <= viewport.height]).toEqual([place, true])
    }
    // Next to the button, a message moves nothing at all.
    const places = viewport.width > 600 ? ['#email', 'form > button', '.notes', 'footer'] : ['#email']
    const read = async () => {
      const scroll = await page.evaluate<number>('scrollY')
      const boxes = await Promise.all(places.map((place) => page.locator(place).boundingBox()))
      return boxes.map((box) => box!.y + scroll)
    }
    const before = await read()
    await sendAndWait(page, 'x@news', '#outcome:not(:empty)')
    expect(await read()).toEqual(before)
    await isOnScreen('#outcome')
    await sendAndWait(page, 'dan@news.example', '#done h2')
    await isOnScreen('#done h2')
  })
})

test('nothing moves by itself, for any reader', async () => {
  const count = (page: Page) => page.evaluate<number>('document.getAnimations().length')
  await open({}, async (page) => {
    await startSending(page)
    expect(await count(page)).toBe(0)
    await page.unroute('**/api/newsletter')
    await page.reload()
    await sendAndWait(page, 'ann@news.example', '#done')
    expect(await count(page)).toBe(0)
  })
})

test('in forced colors the button has an edge', async () => {
  await open({ forcedColors: 'active' }, async (page) => {
    expect(await readStyle(page, 'form > button', 'borderTopColor')).not.toBe('rgba(0, 0, 0, 0)')
  })
})

test('readers who prefer more contrast get no muted text and no faint edge', async () => {
  await open({ contrast: 'more' }, async (page) => {
    const text = await readStyle(page, 'body', 'color')
    expect(await readStyle(page, '.stored', 'color')).toBe(text)
    expect(await readStyle(page, 'form > button', 'borderTopColor')).toBe(text)
  })
})

test('a first visit loads at most 30,000 bytes, with all headers and the icon', async () => {
  let bytes = 0
  const files: string[] = []
  const prepare = async (page: Page) => {
    const session = await page.context().newCDPSession(page)
    await session.send('Network.enable')
    session.on('Network.responseReceived', ({ type }) => files.push(type))
    session.on('Network.loadingFinished', ({ encodedDataLength }) => (bytes += encodedDataLength))
  }
  await open({ prepare }, (page) => page.waitForLoadState('networkidle'))
  // Chromium without a window loads no icon.
  const { headers } = await fetch(`${service.origin}/favicon.svg`, { decompress: false })
  const icon = Number(headers.get('content-length')) + [...headers].flat().join('____').length
  expect(files.sort()).toEqual(['Document', 'Font', 'Script'])
  expect(bytes + icon).toBeLessThanOrEqual(30_000)
})
