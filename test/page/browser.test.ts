/** The page in a real Chromium: with a script and without, by keyboard, in every language, on every screen. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { rm } from 'node:fs/promises'
import axe from 'axe-core'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { LANGUAGE_TAGS, type Language, toPagePath } from '../../src/config/languages.ts'
import { LOCALES } from '../../src/page/locales.ts'
import { openPage, startBrowser } from '../support/browser.ts'
import { holdLock, readList, toListFile } from '../support/list-file.ts'
import { createFolder, type RunningService, startService } from '../support/service.ts'

let browser: Browser
let folder: string
let service: RunningService
beforeAll(async () => {
  folder = await createFolder()
  const site = 'name: The Gazette\ncontact: mailto:editor@gazette.example\n'
  service = await startService({ folder, site })
  browser = await startBrowser()
})
afterAll(async () => {
  await browser.close()
  await service.stop()
  await rm(folder, { recursive: true })
})

const pathOf = (language: Language) => toPagePath(language, LANGUAGE_TAGS)

/** Does something with the page of a language; nothing may leave the host, break the policy or fail meanwhile. */
async function visit<T>(
  language: Language,
  options: BrowserContextOptions,
  act: (page: Page) => Promise<T>,
  expected: readonly RegExp[] = [],
): Promise<T> {
  const { page, context, faults } = await openPage(browser, service.origin, { locale: language, ...options })
  try {
    await page.goto(pathOf(language))
    const result = await act(page)
    expect(faults.filter((fault) => !expected.some((pattern) => pattern.test(fault)))).toEqual([])
    return result
  } finally {
    await context.close()
  }
}

/** Types an address, sends the form, and waits for what is told of it. */
async function subscribe(page: Page, email: string, outcome: string): Promise<void> {
  await page.locator('#email').fill(email)
  await page.locator('button').click()
  await page.locator('#outcome', { hasText: outcome }).waitFor({ timeout: 10_000 })
}

// The browser itself writes this to the console for each answer that is no success.
const FAILED_ANSWER = /the server responded with a status of/

describe.each([true, false])('scripts %p', (javaScriptEnabled) => {
  test.each(['en', 'uk', 'ar'] as const)('a person subscribes in %s', async (language) => {
    const email = `${language}-${javaScriptEnabled}@example.org`
    const left = await visit(language, { javaScriptEnabled }, async (page) => {
      await subscribe(page, email, LOCALES[language].outcomes.accepted)
      return page.locator('#email').inputValue()
    })
    expect(left).toBe('')
    expect(await readList(folder)).toContain(email)
  })

  test('a mistake is told, and what was typed stays', async () => {
    const before = await readList(folder)
    const state = await visit(
      'fr',
      { javaScriptEnabled },
      async (page) => {
        await subscribe(page, 'name@example', LOCALES.fr.outcomes.invalid_email)
        const field = page.locator('#email')
        const told = page.locator('#outcome')
        return {
          typed: await field.inputValue(),
          invalid: await field.getAttribute('aria-invalid'),
          described: await field.getAttribute('aria-describedby'),
          announced: await told.getAttribute('role'),
          focused: await page.locator('#email:focus').count(),
        }
      },
      [FAILED_ANSWER],
    )
    expect(state).toEqual({
      typed: 'name@example',
      invalid: 'true',
      described: 'outcome kept',
      announced: 'status',
      focused: 1,
    })
    expect(await readList(folder)).toEqual(before)
  })

  test('a domain outside ASCII reaches the list in its xn-- form', async () => {
    await visit('de', { javaScriptEnabled }, (page) =>
      subscribe(page, `jo-${javaScriptEnabled}@bücher.example`, LOCALES.de.outcomes.accepted),
    )
    expect(await readList(folder)).toContain(`jo-${javaScriptEnabled}@xn--bcher-kva.example`)
  })

  test('a store that fails is told, what was typed stays, and sent again it is kept', async () => {
    const email = `again-${javaScriptEnabled}@example.org`
    await visit(
      'pl',
      { javaScriptEnabled },
      async (page) => {
        const { released } = await holdLock(toListFile(folder), 6_000)
        await subscribe(page, email, LOCALES.pl.outcomes.storage_failure)
        expect(await page.locator('#email').inputValue()).toBe(email)
        await released
        await page.locator('button').click()
        await page.locator('#outcome', { hasText: LOCALES.pl.outcomes.accepted }).waitFor({ timeout: 10_000 })
      },
      [FAILED_ANSWER],
    )
    expect((await readList(folder)).filter((listed) => listed === email)).toHaveLength(1)
  })
})

test('without a network it says so, and keeps what was typed', async () => {
  await visit(
    'it',
    {},
    async (page) => {
      await page.context().setOffline(true)
      await subscribe(page, 'offline@example.org', LOCALES.it.outcomes.unreachable)
      expect(await page.locator('#email').inputValue()).toBe('offline@example.org')
    },
    [/ERR_INTERNET_DISCONNECTED/],
  )
})

test('the keyboard is enough, and the focus can be seen', async () => {
  await visit('nl', {}, async (page) => {
    while ((await page.locator('#email:focus').count()) === 0) await page.keyboard.press('Tab')
    const outline = await page.evaluate<string>('getComputedStyle(document.activeElement).outlineStyle')
    expect(outline).not.toBe('none')
    await page.keyboard.type('keys@example.org')
    await page.keyboard.press('Enter')
    await page.locator('#outcome', { hasText: LOCALES.nl.outcomes.accepted }).waitFor({ timeout: 10_000 })
  })
  expect(await readList(folder)).toContain('keys@example.org')
})

test('Arabic runs from right to left', async () => {
  const { label, field } = await visit('ar', { viewport: { width: 900, height: 700 } }, async (page) => ({
    label: (await page.locator('label').boundingBox())!,
    field: (await page.locator('#email').boundingBox())!,
  }))
  const button = await visit('ar', { viewport: { width: 900, height: 700 } }, async (page) =>
    page.locator('button').boundingBox(),
  )
  expect(button!.x).toBeLessThan(field.x)
  expect(label.x + label.width).toBeCloseTo(field.x + field.width, 0)
})

describe.each(['light', 'dark'] as const)('%s', (colorScheme) => {
  test.each([320, 1280])(
    'axe finds nothing in any language, at %p px, and nothing sticks out',
    async (width) => {
      const options = { colorScheme, viewport: { width, height: 800 }, reducedMotion: 'reduce' } as const
      const { page, context, faults } = await openPage(browser, service.origin, options)
      for (const language of LANGUAGE_TAGS) {
        await page.goto(pathOf(language))
        await page.locator('summary').click()
        await page.evaluate(axe.source)
        const found = await page.evaluate(async () => {
          const { violations } = await (globalThis as unknown as { axe: typeof axe }).axe.run()
          return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
        })
        expect([language, found]).toEqual([language, []])
        expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(width)
      }
      await context.close()
      expect(faults).toEqual([])
    },
  )
})
