/**
 * `npm run screenshots`: takes the pictures of the documentation. The system needs fonts for every language, such as
 * `fonts-noto-core` and `fonts-noto-cjk`.
 */

import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { openPage, startBrowser } from '../test/support/browser.ts'
import { ROOT } from '../test/support/paths.ts'
import { runCommand, startService } from '../test/support/service.ts'
import { createFolder } from '../test/support/workspace.ts'

const SITE = `
name: { en: The Gazette, ar: جريدة الميناء, ja: 港だより }
description:
  en: What happened in the harbor this week, every Friday, in five minutes.
  de: Was diese Woche im Hafen geschah, jeden Freitag, in fünf Minuten.
  fr: Ce qui s’est passé cette semaine au port, chaque vendredi, en cinq minutes.
  ar: ما حدث في الميناء هذا الأسبوع، كل يوم جمعة، في خمس دقائق.
  ja: 今週の港のできごとを、毎週金曜日に5分で。
note:
  en: No ads. Leave at any time.
  de: Keine Werbung. Abmelden geht immer.
  fr: Sans publicité. Vous partez quand vous voulez.
  ar: بلا إعلانات. غادر متى شئت.
  ja: 広告なし。いつでも解除できます。
author: Ann Smith
portrait: ann.svg
issues:
  - title:
      en: The night the ferry stayed
      de: Die Nacht, in der die Fähre blieb
      fr: La nuit où le ferry est resté
      ar: الليلة التي بقيت فيها العبّارة
      ja: フェリーが残った夜
    url: https://www.gazette.example/issues/41
    date: 2026-11-20
  - title:
      en: Who still buys fish at five in the morning
      de: Wer kauft morgens um fünf noch Fisch?
      fr: Qui achète du poisson à cinq heures du matin ?
      ar: من يشتري السمك في الخامسة صباحًا؟
      ja: 朝五時に魚を買う人たち
    url: https://www.gazette.example/issues/38
    date: 2026-10-30
  - title:
      en: A crane is sold
      de: Ein Kran wird verkauft
      fr: Une grue à vendre
      ar: رافعة للبيع
      ja: クレーンが売られる
    url: https://www.gazette.example/issues/33
    date: 2026-09-25
contact: mailto:editor@gazette.example
home: https://www.gazette.example/
privacy: https://www.gazette.example/privacy
`

/** The portrait of the author. */
const PORTRAIT = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 256 256">
<path fill="#b9cbc6" d="M0 0h256v256H0z"/><path fill="#24433c" d="M20 256c6-58 50-74 108-74s102 16 108 74z"/>
<path fill="#4a2f22" d="M62 118c-6-62 28-92 68-92s72 30 64 96c-4 26-8 60-22 66-18 8-72 8-90 0-12-6-18-44-20-70z"/>
<path fill="#cf9673" d="M104 160h48v40q-24 20-48 0z"/><ellipse fill="#e8bd9c" cx="128" cy="116" rx="48" ry="60"/>
<path fill="#5a3a2a" d="M80 104c10-30 40-44 62-40 20 4 34 20 36 44-18-2-40-14-50-28-8 12-30 24-48 24z"/>
<path fill="none" stroke="#a4553f" stroke-width="4" stroke-linecap="round" d="M110 146q18 14 36 0"/>
<g fill="#2b211c"><circle cx="109" cy="118" r="4.5"/><circle cx="147" cy="118" r="4.5"/></g></svg>`

const DESKTOP = { width: 1120, height: 880 }
const PHONE = { width: 390, height: 800 }

interface Picture {
  readonly name: string
  readonly path: string
  readonly viewport: { readonly width: number; readonly height: number }
  readonly colorScheme?: 'light' | 'dark'
  /** What is typed, and the element that shows the outcome. */
  readonly typed?: readonly [text: string, until: string]
}

const PICTURES: readonly Picture[] = [
  { name: 'page', path: '/', viewport: DESKTOP },
  { name: 'success', path: '/', viewport: DESKTOP, colorScheme: 'dark', typed: ['ann@news.example', '#done'] },
  { name: 'question', path: '/', viewport: PHONE, typed: ['ann@gmial.com', '#outcome button'] },
  { name: 'phone', path: '/de', viewport: PHONE, typed: ['ann@news.example', '#done'] },
  { name: 'dark', path: '/fr', viewport: PHONE, colorScheme: 'dark' },
  { name: 'arabic', path: '/ar', viewport: PHONE },
  { name: 'japanese', path: '/ja', viewport: PHONE, colorScheme: 'dark', typed: ['ann@news', '[aria-invalid="true"]'] },
]

async function takePicture(browser: Browser, origin: string, picture: Picture): Promise<Buffer> {
  const { path, typed, viewport, colorScheme = 'light' } = picture
  const locale = path.slice(1) || 'en'
  const options = { viewport, colorScheme, locale, deviceScaleFactor: 2 } as const
  const { page, context } = await openPage(browser, origin, options)
  // At the second visit, the font of the title is there from the start.
  for (let visit = 0; visit < 2; visit++) await page.goto(path)
  if (typed) {
    await page.locator('#email').fill(typed[0])
    await page.keyboard.press('Enter')
    await page.locator(typed[1]).waitFor()
  }
  const image = await page.screenshot()
  await context.close()
  return image
}

/** Takes the page of `status --html` for a list of 90 days. */
async function takeStatus(browser: Browser): Promise<Buffer> {
  const folder = await createFolder()
  await Bun.write(join(folder, 'site.yaml'), 'name: The Gazette')
  await runCommand(['import', '-', '--yes'], { folder, stdin: createOldList() })
  await runCommand(['status', '--html', 'status.html'], { folder })
  const page = await browser.newPage({ viewport: { width: 800, height: 430 }, deviceScaleFactor: 2 })
  await page.setContent(await Bun.file(join(folder, 'status.html')).text())
  return page.screenshot({ fullPage: true })
}

/** A list of 90 days. `.harbor` is no top-level domain, and not a reserved one. */
function createOldList(): string {
  const readers = Array.from({ length: 90 }, (_, day) => {
    // Some days have more readers than others, and every seventh day has an issue.
    const count = 12 + ((day * 7919) % 17) + (day % 7 === 3 ? 45 : 0)
    const date = new Date(Date.now() - day * 86_400_000).toISOString()
    return Array.from({ length: count }, (_, index) => `reader${day}.${index}@mail.harbor,${date}\n`)
  })
  return `email,subscribed_at\n${readers.flat().join('')}`
}

const docs = join(ROOT, 'docs')
const folder = await createFolder()
await Bun.write(join(folder, 'ann.svg'), PORTRAIT)
const service = await startService({ folder, site: SITE, env: { BASE_URL: 'https://gazette.example' } })
const browser = await startBrowser()
for (const picture of PICTURES) {
  await Bun.write(join(docs, `${picture.name}.png`), await takePicture(browser, service.origin, picture))
}
const [card = ''] = /\/assets\/card\.[^"]+/.exec(await (await fetch(service.origin)).text()) ?? []
await Bun.write(join(docs, 'card.png'), await fetch(service.origin + card))
await Bun.write(join(docs, 'status.png'), await takeStatus(browser))
await browser.close()
await service.stop()
