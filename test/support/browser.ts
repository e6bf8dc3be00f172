/** A real Chromium for the tests of the page, and a record of what the page does wrong. */

import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium as driver,
  type Page,
} from 'playwright-core'
import { CHROMIUM } from './chromium.ts'

/** Starts the browser. All tests of a file share it, each with its own context. */
export function startBrowser(): Promise<Browser> {
  return driver.launch({
    executablePath: CHROMIUM,
    // Not the arguments of its package: with its single process, the first closed page ends the browser, and it disables the checks
    // of origins that the tests need.
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--no-first-run'],
    headless: true,
  })
}

/** A page with the errors that it caused. */
export interface WatchedPage {
  readonly page: Page
  readonly context: BrowserContext
  /** Requests to other hosts, policy violations, uncaught errors and warnings in the console. */
  readonly errors: string[]
}

/** Opens an empty page in a new context and records its errors. @param origin the only origin that it may request */
export async function openPage(
  browser: Browser,
  origin: string,
  options: Parameters<Browser['newContext']>[0] = {},
): Promise<WatchedPage> {
  const context = await browser.newContext({ baseURL: origin, ...options })
  const page = await context.newPage()
  const errors: string[] = []
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== origin) errors.push(`requests ${request.url()}`)
  })
  page.on('pageerror', (error) => errors.push(`throws ${error.message}`))
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') errors.push(message.text())
  })
  return { page, context, errors }
}

export interface Visit extends BrowserContextOptions {
  /** The path and query; `/` without it. */
  readonly path?: string
  /** The errors that the visit causes on purpose. */
  readonly expected?: RegExp
  /** Runs before the page is loaded. */
  readonly prepare?: (page: Page) => Promise<unknown>
}

/** Opens a page of an origin, in English by default, and acts on it. Fails if the page causes an error that is not expected. */
export async function visit<T>(
  browser: Browser,
  origin: string,
  { path = '/', expected, prepare, ...options }: Visit,
  act: (page: Page) => Promise<T>,
): Promise<T> {
  const { page, context, errors } = await openPage(browser, origin, { locale: 'en', ...options })
  try {
    await prepare?.(page)
    // Scripts have run. A font that is late delays the event "load".
    await page.goto(path, { waitUntil: 'domcontentloaded' })
    const result = await act(page)
    const unexpected = errors.filter((error) => !expected?.test(error))
    if (unexpected.length > 0) throw new Error(unexpected.join('; '))
    return result
  } finally {
    await context.close()
  }
}

/** Types an address into the form, and sends it. */
export async function send(page: Page, email: string): Promise<void> {
  await page.locator('#email').fill(email)
  await page.keyboard.press('Enter')
}

/** Waits until the page shows an outcome. The error after the time limit contains the outcome. */
export async function waitFor(page: Page, outcome: string): Promise<void> {
  await page.locator('#outcome, #done', { hasText: outcome }).filter({ visible: true }).waitFor({ timeout: 40_000 })
}
