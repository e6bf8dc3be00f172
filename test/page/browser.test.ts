/** The page in a real Chromium: with and without scripts, by keyboard, in every language and theme, on small and large screens. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { rm } from 'node:fs/promises'
import axe from 'axe-core'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { LANGUAGE_TAGS, type Language, toPagePath } from '../../src/config/texts.ts'
import { LOCALES } from '../../src/locales/languages.ts'
import { openPage, startBrowser, type WatchedPage } from '../support/browser.ts'
import { holdLock, readList, toListFile } from '../support/list-file.ts'
import { createFolder, type RunningService, startService } from '../support/service.ts'

let browser: Browser
let folder: string
let service: RunningService
beforeAll(async () => {
  folder = await createFolder()
  const links = ['home', 'privacy', 'imprint'].map((key) => `${key}: https://www.gazette.example/${key}\n`)
  const site = `name: The Gazette\nnote: No ads.\ncontact: mailto:editor@gazette.example\n${links.join('')}`
  service = await startService({ folder, site })
  browser = await startBrowser()
})
afterAll(async () => {
  await browser.close()
  await service.stop()
  await rm(folder, { recursive: true })
})

const pathOf = (language: Language) => toPagePath(language, LANGUAGE_TAGS)

/** Opens the page in a language, and acts on it. Fails if the page causes an error that is not expected. */
async function visit<T>(
  language: Language,
  options: BrowserContextOptions,
  act: (page: Page) => Promise<T>,
  expected: readonly RegExp[] = [],
): Promise<T> {
  const { page, context, errors } = await openPage(browser, service.origin, { locale: language, ...options })
  try {
    await page.goto(pathOf(language))
    const result = await act(page)
    expect(errors.filter((error) => !expected.some((pattern) => pattern.test(error)))).toEqual([])
    return result
  } finally {
    await context.close()
  }
}

/** Types an address, sends the form, and waits for an outcome. */
async function subscribe(page: Page, email: string, outcome: string): Promise<void> {
  await page.locator('#email').fill(email)
  await page.locator('.field button').click()
  await waitForOutcome(page, outcome)
}

/** Waits until the page shows an outcome. The error after the time limit contains the outcome. */
async function waitForOutcome(page: Page, outcome: string): Promise<void> {
  await page.locator('#outcome, #done', { hasText: outcome }).filter({ visible: true }).waitFor({ timeout: 40_000 })
}

// The browser writes this to the console for each response with an error status.
const FAILED_RESPONSE = /the server responded with a status of/

describe.each([
  ['with scripts', true],
  ['without scripts', false],
] as const)('%s', (_name, javaScriptEnabled) => {
  test.each(['en', 'uk', 'ar'] as const)('a person subscribes in %s', async (language) => {
    const email = `${language}-${javaScriptEnabled}@example.org`
    const { isFormVisible, again } = await visit(language, { javaScriptEnabled }, async (page) => {
      await subscribe(page, email, LOCALES[language].outcomes.accepted)
      const isFormVisible = await page.locator('form').isVisible()
      await page.locator('#again').click()
      await page.locator('form').waitFor()
      return { isFormVisible, again: await page.locator('#done').isVisible() }
    })
    expect({ isFormVisible, again }).toEqual({ isFormVisible: false, again: false })
    expect(await readList(folder)).toContain(email)
  })

  test('an invalid address gives a message, and the typed text stays', async () => {
    const before = await readList(folder)
    const state = await visit(
      'fr',
      { javaScriptEnabled },
      async (page) => {
        await subscribe(page, 'name@example', LOCALES.fr.outcomes.invalid_email)
        const field = page.locator('#email')
        return {
          typed: await field.inputValue(),
          invalid: await field.getAttribute('aria-invalid'),
          described: await field.getAttribute('aria-describedby'),
          announced: await page.locator('#outcome').getAttribute('role'),
          focused: await page.locator('#email:focus').count(),
        }
      },
      [FAILED_RESPONSE],
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

  test('a non-ASCII domain is stored in its xn-- form', async () => {
    await visit('de', { javaScriptEnabled }, (page) =>
      subscribe(page, `jo-${javaScriptEnabled}@bücher.example`, LOCALES.de.outcomes.accepted),
    )
    expect(await readList(folder)).toContain(`jo-${javaScriptEnabled}@xn--bcher-kva.example`)
  })

  test('a store failure gives a message, the typed text stays, and a second attempt is stored', async () => {
    const email = `again-${javaScriptEnabled}@example.org`
    await visit(
      'pl',
      { javaScriptEnabled },
      async (page) => {
        const lock = await holdLock(toListFile(folder))
        await subscribe(page, email, LOCALES.pl.outcomes.storage_failure).finally(lock.release)
        expect(await page.locator('#email').inputValue()).toBe(email)
        await page.locator('.field button').click()
        await waitForOutcome(page, LOCALES.pl.outcomes.accepted)
      },
      [FAILED_RESPONSE],
    )
    expect((await readList(folder)).filter((listed) => listed === email)).toHaveLength(1)
  })
})

test('without a network the page gives a message, and the typed text stays', async () => {
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

test('the form works with the keyboard only, and the focus is visible', async () => {
  await visit('nl', {}, async (page) => {
    const focused = page.locator('#email:focus')
    for (let tab = 0; tab < 10 && (await focused.count()) === 0; tab++) await page.keyboard.press('Tab')
    expect(await focused.count()).toBe(1)
    const outline = await page.evaluate<string>('getComputedStyle(document.activeElement).outlineStyle')
    expect(outline).not.toBe('none')
    await page.keyboard.type('keys@example.org')
    await page.keyboard.press('Enter')
    await waitForOutcome(page, LOCALES.nl.outcomes.accepted)
  })
  expect(await readList(folder)).toContain('keys@example.org')
})

test('Arabic runs from right to left', async () => {
  const { label, field } = await visit('ar', { viewport: { width: 900, height: 700 } }, async (page) => ({
    label: (await page.locator('label').boundingBox())!,
    field: (await page.locator('#email').boundingBox())!,
  }))
  const button = await visit('ar', { viewport: { width: 900, height: 700 } }, async (page) =>
    page.locator('.field button').boundingBox(),
  )
  expect(button!.x).toBeLessThan(field.x)
  expect(label.x + label.width).toBeCloseTo(field.x + field.width, 0)
})

/**
 * Themes differ in colours only, and colours do not depend on the language. So all languages are checked in the light
 * theme on the small screen and in the dark theme on the large one, and these everywhere.
 */
const EVERYWHERE: readonly Language[] = ['en', 'ar']

describe.each(['light', 'dark'] as const)('in the %s theme', (colorScheme) => {
  describe.each([320, 1280])('at %p pixels', (width) => {
    const languages = (colorScheme === 'light') === (width === 320) ? LANGUAGE_TAGS : EVERYWHERE
    let opened: WatchedPage
    beforeAll(async () => {
      const options = { colorScheme, viewport: { width, height: 800 }, reducedMotion: 'reduce' } as const
      opened = await openPage(browser, service.origin, options)
    })
    afterAll(() => opened.context.close())

    test.each([...languages])('axe finds no violation in %s, and nothing overflows', async (language) => {
      const { page, errors } = opened
      await page.goto(pathOf(language))
      for (const summary of await page.locator('summary').all()) await summary.click()
      await page.evaluate(axe.source)
      const violations = await page.evaluate(async () => {
        const { violations } = await (globalThis as unknown as { axe: typeof axe }).axe.run()
        return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
      })
      expect(violations).toEqual([])
      expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(width)
      expect(errors).toEqual([])
    })
  })
})
