/** Takes the pictures of the page and of a terminal for the documentation: `npm run screenshots`. */

import { mkdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { openPage, startBrowser } from './browser.ts'
import { ROOT } from './paths.ts'
import { createFolder, startService } from './service.ts'
import { renderTerminal } from './terminal.ts'

const SITE = `
name: The Gazette
description: What happened in the harbour this week, every Friday, in five minutes.
contact: mailto:editor@gazette.example
`

const PICTURES = [
  { name: 'page', path: '/', width: 1120, height: 544, colorScheme: 'light' },
  { name: 'desktop', path: '/', width: 1120, height: 800, colorScheme: 'light', typed: 'name@example' },
  { name: 'phone', path: '/de?subscribed', width: 390, height: 844, colorScheme: 'light' },
  { name: 'dark', path: '/fr', width: 1120, height: 800, colorScheme: 'dark' },
  { name: 'arabic', path: '/ar', width: 390, height: 844, colorScheme: 'light' },
] as const

const docs = resolve(ROOT, 'docs')
await mkdir(docs, { recursive: true })
const folder = await createFolder()
await writeFile(join(folder, 'site.yaml'), SITE)
const service = await startService({ folder, env: { BASE_URL: 'https://gazette.example' } })
const browser = await startBrowser()
for (const { name, path, width, height, colorScheme, ...steps } of PICTURES) {
  const options = {
    viewport: { width, height },
    colorScheme,
    locale: path.slice(1, 3) || 'en',
    reducedMotion: 'reduce',
  } as const
  const { page, context } = await openPage(browser, service.origin, options)
  await page.goto(path)
  if ('typed' in steps) {
    await page.locator('input').fill(steps.typed)
    await page.keyboard.press('Enter')
    await page.locator('[data-outcome]').waitFor()
  }
  await page.screenshot({ path: join(docs, `${name}.png`) })
  await context.close()
}

const terminal = await browser.newPage({ deviceScaleFactor: 2 })
await terminal.setContent(await renderTerminal())
await terminal.locator('main').screenshot({ path: join(docs, 'terminal.png'), omitBackground: true })

await browser.close()
await service.stop()
