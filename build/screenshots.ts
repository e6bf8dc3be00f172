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
home: https://www.gazette.example/
privacy: https://www.gazette.example/privacy
`

const DESKTOP = { width: 1120, height: 700 }
const PHONE = { width: 390, height: 800 }

const PICTURES = [
  { name: 'page', path: '/', ...DESKTOP, colorScheme: 'light' },
  { name: 'success', path: '/', ...DESKTOP, colorScheme: 'dark', typed: 'ann@news.example', until: '#done' },
  { name: 'question', path: '/', ...PHONE, colorScheme: 'light', typed: 'ann@gmial.com', until: '#outcome button' },
  { name: 'phone', path: '/de', ...PHONE, colorScheme: 'light', typed: 'ann@news.example', until: '#done' },
  { name: 'dark', path: '/fr', ...PHONE, colorScheme: 'dark' },
  { name: 'arabic', path: '/ar', ...PHONE, colorScheme: 'light' },
  { name: 'japanese', path: '/ja', ...PHONE, colorScheme: 'dark', typed: 'ann@news', until: '[aria-invalid="true"]' },
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
    await page.locator(steps.until).waitFor()
  }
  await page.screenshot({ path: join(docs, `${name}.png`) })
  await context.close()
}

const terminal = await browser.newPage({ deviceScaleFactor: 2 })
await terminal.setContent(await renderTerminal())
await terminal.locator('main').screenshot({ path: join(docs, 'terminal.png'), omitBackground: true })

await browser.close()
await service.stop()
