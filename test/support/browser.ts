/** A real Chromium for the tests of the page, and a record of what the page does wrong. */

import chromium from '@sparticuz/chromium'
import { type Browser, type BrowserContext, chromium as driver, type Page } from 'playwright-core'

/** Starts the browser. All tests of a file share it, each with its own context. */
export async function startBrowser(): Promise<Browser> {
  return driver.launch({
    executablePath: await chromium.executablePath(),
    // Not chromium.args: with its single process, the first closed page ends the browser, and it disables the checks
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
