/** A real Chromium for the tests of the page, and what a page does in it that it should not. */

import chromium from '@sparticuz/chromium'
import { type Browser, type BrowserContext, chromium as driver, type Page } from 'playwright-core'

/** Starts the browser; one serves all tests of a file, each in a context of its own. */
export async function startBrowser(): Promise<Browser> {
  return driver.launch({
    executablePath: await chromium.executablePath(),
    // Not chromium.args: they are for functions in a cloud, with one process, which the first closed page ends, and
    // without the checks of origins, which are to be tested here.
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--no-first-run'],
    headless: true,
  })
}

/** A page, with everything that is wrong about how it was loaded and run. */
export interface WatchedPage {
  readonly page: Page
  readonly context: BrowserContext
  /** Requests to other hosts, policy violations, uncaught errors, and warnings in the console; none is as it should be. */
  readonly faults: string[]
}

/** Opens a page in a context of its own, and watches it. @param origin the only host that it may ask for anything */
export async function openPage(
  browser: Browser,
  origin: string,
  options: Parameters<Browser['newContext']>[0] = {},
): Promise<WatchedPage> {
  const context = await browser.newContext({ baseURL: origin, ...options })
  const page = await context.newPage()
  const faults: string[] = []
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== origin) faults.push(`asks for ${request.url()}`)
  })
  page.on('pageerror', (error) => faults.push(`throws ${error.message}`))
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') faults.push(message.text())
  })
  return { page, context, faults }
}
