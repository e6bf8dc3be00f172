/**
 * The page in browsers of 2020, and in those inside of apps: each function that they lack is removed from a Chromium of today, and each
 * part of the style is made unknown. `npm run test:only -- old-browser` has a real one.
 */

import { afterAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { parse } from 'yaml'
import { z } from 'zod'
import { LOCALES } from '../../src/locales/languages.ts'
import { bundlePage } from '../../src/page/bundle.ts'
import { send, startBrowser, type Visit, visit, waitFor } from '../support/browser.ts'
import { readList } from '../support/list-file.ts'
import { startService } from '../support/service.ts'

const words = z.string().transform((text) => text.trim().split(/\s+/))
const LIST = z
  .object({
    script: z.object({ known: words }),
    style: z.object({
      properties: words,
      functions: words,
      units: words,
      selectors: words,
      newer: z.array(z.string()),
    }),
  })
  .parse(parse(readFileSync(new URL('engines.yaml', import.meta.url), 'utf8')))

/** What the script asks for before it takes the form over, as in `AbortSignal.timeout`. */
const NEEDED = Array.from(
  readFileSync(new URL('../../src/page/assets/needs.ts', import.meta.url), 'utf8').matchAll(/\[([\w.]+), '(\w+)'\]/g),
  ([, owner = '', name = '']) => ({ owner, name }),
)

const SITE = `
name: The Harbor Letter
description: One true story each Friday.
author: Ann Smith
issues: [{ title: The night the ferry stayed, url: "https://www.gazette.example/41", date: 2026-11-20 }]
`
const service = await startService({ site: SITE })
const browser = await startBrowser()
afterAll(async () => {
  await browser.close()
  await service.stop()
})

const open = <T>(options: Visit, act: (page: Page) => Promise<T>) => visit(browser, service.origin, options, act)

/** Returns the first group of every match, each once, without those that are known. */
function listUnknown(text: string, pattern: RegExp, known: readonly string[]): string[] {
  const found = new Set(Array.from(text.matchAll(pattern), ([, name = '']) => name))
  return [...found].filter((name) => !known.includes(name))
}

test('the script calls nothing that is neither in the list nor asked for', async () => {
  const { script } = await bundlePage()
  const known = [...LIST.script.known, ...NEEDED.map(({ name }) => name)]
  expect(listUnknown(script, /(?:\.|new )([A-Za-z]+)\(/g, known)).toEqual([])
  expect(NEEDED.length).toBeGreaterThan(3)
})

test('the style has nothing that is not in the list', async () => {
  const { properties, functions, units, selectors, newer } = LIST.style
  const style = (await bundlePage()).stylesheet.replace(/"[^"]*"|#[\da-f]{3,8}\b/g, '""')
  const rules = style.replace(/@supports[^{]*/g, '')
  const isNewer = (name: string) => newer.some((other) => other.replaceAll(':', '') === name)
  const unknown = {
    properties: listUnknown(rules, /[{;](-?[a-z][a-z-]*):(?!not)/g, properties),
    functions: listUnknown(rules, /\b([a-z][a-z-]*)\(/g, functions),
    units: listUnknown(rules, /\d([a-z]+|%)/g, units),
    selectors: listUnknown(rules.replace(/\{[^{}]*\}|@media[^{]*/g, ' '), /:([a-z][a-z-]*)/g, selectors),
  }
  expect(
    Object.values(unknown)
      .flat()
      .filter((name) => !isNewer(name)),
  ).toEqual([])
  for (const name of newer) expect(style).toContain(name)
})

describe('a browser without a function', () => {
  const asked = NEEDED.map(({ owner, name }) => `${owner}.${name}`)
  // Not asked for, as a defect of the script is not: the plain form takes over in the middle of a press.
  const others = ['String.prototype.lastIndexOf', 'window.Request', 'HTMLElement.prototype.focus']
  const without = (path: string) => (page: Page) => page.addInitScript(`delete ${path}`)

  test.each([...asked, ...others])('%s: subscribes, and blames no network', async (path) => {
    const email = `without-${path.toLowerCase()}@news.example`
    const expected = /is not a function|is not defined|is not a constructor/
    await open({ prepare: without(path), expected }, async (page) => {
      const shown: string[] = []
      await page.exposeFunction('record', (text: string) => shown.push(text))
      await page.evaluate(`new MutationObserver(() => record(document.getElementById('outcome').textContent))
        .observe(document.getElementById('outcome'), { childList: true })`)
      await send(page, email)
      await waitFor(page, LOCALES.en.accepted)
      expect(await page.locator('#address').textContent()).toBe(email)
      expect(shown).not.toContain(LOCALES.en.unreachable)
    })
    expect(await readList(service.folder)).toContain(email)
  })

  test.each(asked)('%s: gets messages from the plain form', async (path) => {
    await open({ prepare: without(path), expected: /status of/ }, async (page) => {
      await send(page, 'ann@news')
      await waitFor(page, LOCALES.en.invalid_email)
      expect(await page.locator('#email').inputValue()).toBe('ann@news')
    })
  })
})

/** Serves the page with parts of its style made unknown. The policy would refuse another style. */
const withoutStyle = (parts: readonly string[]) => (page: Page) =>
  page.route('**/', async (route) => {
    const response = await route.fetch()
    const { 'content-security-policy': _, ...headers } = response.headers()
    const text = await response.text()
    const toUnknown = (part: string) => part.replace(/[a-z]+/, 'x$&')
    const body = text.replace(/<style>.*<\/style>/s, (style) =>
      parts.reduce((shown, part) => shown.replaceAll(part, toUnknown(part)), style),
    )
    await route.fulfill({ response, headers, body })
  })

describe.each([320, 1280])('at %p pixels', (width) => {
  test.each([...LIST.style.newer.map((part) => [part]), LIST.style.newer])(
    'the page is in order without %p',
    async (...parts) => {
      const options = { locale: 'de', viewport: { width, height: 700 }, prepare: withoutStyle(parts) }
      await open(options, async (page) => {
        const read = (place: string) => page.locator(place).first().boundingBox()
        const toSize = (place: string) =>
          page.evaluate<number>(`Number.parseFloat(getComputedStyle(document.querySelector('${place}')).fontSize)`)
        expect(await toSize('h1')).toBeGreaterThan(1.2 * (await toSize('.description')))
        const [offer, title, form, footer] = [
          await read('header a'),
          await read('h1'),
          await read('form'),
          await read('footer'),
        ]
        // The offer of a language is on the screen, and nothing is over something else.
        expect(offer!.y).toBeGreaterThanOrEqual(0)
        expect(title!.y).toBeGreaterThanOrEqual(offer!.y + offer!.height)
        expect(form!.y).toBeGreaterThan(title!.y + title!.height)
        expect(footer!.y).toBeGreaterThan(form!.y + form!.height)
        expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(width)
      })
    },
  )
})

test('without the picture of the check mark, the words of the success are not indented', async () => {
  await open({ viewport: { width: 390, height: 800 } }, async (page) => {
    await page.evaluate("document.querySelectorAll('.done svg').forEach((picture) => picture.remove())")
    await send(page, 'no-picture@news.example')
    await waitFor(page, LOCALES.en.accepted)
    const starts = await page.evaluate<number[]>(
      "['.done h2', '.done .address', '.done .actions'].map((place) => document.querySelector(place).getBoundingClientRect().left)",
    )
    expect(new Set(starts).size).toBe(1)
  })
})
