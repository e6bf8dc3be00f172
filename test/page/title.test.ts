/** The title fits every name: its font, its size, and where it breaks; in a real Chromium. */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import { hyphenate, toCardText, toSubsets } from '../../src/page/title.ts'
import { startBrowser, visit } from '../support/browser.ts'
import { startService } from '../support/service.ts'
import { until } from '../support/wait.ts'

test.each([
  ['latin', ['The Gazette', 'Größe, Café & Œuvre — n° 1', '🗞️ News', '2026', 'São Paulo™', '1️⃣ News']],
  ['latin,vietnamese', ['Tin tức mỗi buổi sáng', 'Cơ hội']],
  ['latin,extended', ['Gazeta Łódzka', 'İstanbul Günlüğü', 'Bună dimineața', 'Đorđe čita']],
  ['latin,vietnamese,extended', ['Łódź Việt']],
  ['', ['الجريدة', '日本の朝', 'Газета', 'The Gazette 日', '🗞️', '…']],
])('these files of the font have every letter: %p', (files, texts) => {
  expect(texts.filter((text) => toSubsets(text).join() !== files)).toEqual([])
})

test.each([
  ['Łódźki & Tygodnik 🗞️ ★', 'Łódźki & Tygodnik'],
  ['E\u0301tudes', 'Études'],
  ['Tiếng Việt', 'Tiếng Việt'],
  ['The Gazette 日', undefined],
  ['🗞️', undefined],
  ['Family 👩‍👩‍👧 1️⃣', 'Family 1'],
])('a picture shows %p as %p', (name, text) => {
  expect(toCardText(name)).toBe(text!)
})

test.each([
  'Do-nau-dampf-schiff-fahrts-ge-sell-schaft',
  'Pre-ci-pi-te-vo-lis-si-me-vol-men-te',
  'Kons-tan-ty-no-po-li-tań-czy-ko-wia-necz-ka',
  'Ми-ко-лаїв-щи-на',
  'Zei-tungs-dru-cke-rei',
])('the syllables are %p', (syllables) => {
  expect(hyphenate(syllables.replaceAll('-', '')).replaceAll('\u00ad', '-')).toBe(syllables)
})

let browser: Browser
beforeAll(async () => {
  browser = await startBrowser()
})
afterAll(() => browser.close())

/** Shows the title in its font, which may be late on a busy machine. A font that is added to the page takes its place at once. */
const showTitleFont = (page: Page) =>
  page.evaluate(`Promise.all([...document.querySelectorAll('link[as=font]')].map(async ({ href }) =>
    document.fonts.add(await new FontFace('Title', 'url(' + href + ')', { weight: '600' }).load())))`)

/** Returns the lines of the title. */
const readLines = (page: Page) =>
  page.evaluate<string[]>(`(() => {
    const lines = new Map()
    const texts = document.createTreeWalker(document.querySelector('h1'), NodeFilter.SHOW_TEXT)
    while (texts.nextNode()) {
      const { data } = texts.currentNode
      for (let index = 0; index < data.length; index++) {
        const range = document.createRange()
        range.setStart(texts.currentNode, index)
        range.setEnd(texts.currentNode, index + 1)
        // The top of a line differs by a pixel between fonts.
        const top = Math.round([...range.getClientRects()].at(-1)?.top / 8)
        if (data[index].trim()) lines.set(top, (lines.get(top) ?? '') + data[index])
      }
    }
    // A soft hyphen shows at the end of a line only.
    return [...lines.values()].map((line) => line.replace(/\u00ad$/, '-').replaceAll('\u00ad', ''))
  })()`)

test.each([
  ['MWMWMWMWMW Weekly', 'en', ['MWMWMWMWMW', 'Weekly'], ['MWMWMWMWMW', 'Weekly']],
  ['COMMUNICATIONS', 'en', ['COMMUNICATIONS'], ['COMMUNICATIONS']],
  ['МИКОЛАЇВЩИНА', 'uk', ['МИКОЛАЇВЩИНА'], ['МИКОЛАЇВЩИНА']],
  ['newsletter.mycompany.example', 'en', ['newsletter.', 'mycompany.example'], ['newsletter.mycompany.example']],
  [
    'Amt für Donaudampfschifffahrtsgesellschaften',
    'de',
    ['Amtfür', 'Donaudampfschiff-', 'fahrtsgesellschaften'],
    ['AmtfürDonaudampfschifffahrtsgesellschaften'],
  ],
  ['abcde'.repeat(8), 'en', ['abcdeabcdeabc-', 'deabcdeabcdeabc-', 'deabcdeabcde'], ['abcde'.repeat(8)]],
] as const)('the lines of %p, in %s', async (name, language, narrow, wide) => {
  const own = await startService({ site: `name: ${name}\nlanguages: [${language}]\ndescription: Every Friday.` })
  for (const [width, expected] of [
    [320, narrow],
    [1280, wide],
  ] as const) {
    await visit(browser, own.origin, { viewport: { width, height: 800 } }, async (page) => {
      await showTitleFont(page)
      expect([width, await readLines(page)]).toEqual([width, [...expected]])
      const [title = 0, description = 0] = await page.evaluate<number[]>(
        "['h1', '.description'].map((place) => Number.parseFloat(getComputedStyle(document.querySelector(place)).fontSize))",
      )
      expect(title).toBeGreaterThan(description)
      expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(width)
    })
  }
  await own.stop()
})

test('a title in Japanese, which may break between letters, has no more lines than it needs', async () => {
  const own = await startService({ site: 'name: 日本の朝のニュースレター' })
  await visit(browser, own.origin, { viewport: { width: 1440, height: 800 } }, async (page) => {
    // The width of its letters depends on the fonts of the machine.
    const needed = await page.evaluate<number>(`(() => {
      const [title, text] = [document.querySelector('h1'), document.querySelector('h1 bdi')]
      title.style.whiteSpace = 'nowrap'
      const width = text.getBoundingClientRect().width
      title.style.whiteSpace = ''
      return Math.ceil(width / title.clientWidth)
    })()`)
    expect((await readLines(page)).length).toBe(needed)
  })
  await own.stop()
})

test.each(['COMMUNICATIONS', 'MWMWMWMWMW', 'HNHNHNHNHNHN', 'mmmmmmmmmm', 'hnuhnuhnuhnuhnu'])(
  'a serif of the system, which replaces a late font, breaks no word either: %s',
  async (name) => {
    const own = await startService({ site: `name: ${name}` })
    const prepare = (page: Page) => page.route(/\.woff2$/, (route) => route.abort())
    for (const width of [320, 768]) {
      const options = { viewport: { width, height: 800 }, prepare, expected: /ERR_FAILED/ }
      expect(await visit(browser, own.origin, options, readLines)).toEqual([name])
    }
    await own.stop()
  },
)

test.each([
  ['The Gazette', ['latin']],
  ['Tin tức mỗi buổi sáng', ['latin', 'vietnamese']],
  ['Gazeta Łódzka', ['latin', 'extended']],
  ['МИКОЛАЇВЩИНА', []],
])('%s loads the files of the font that it needs, and is in that font alone', async (name, files) => {
  const own = await startService({ site: `name: ${name}` })
  const loaded: string[] = []
  const prepare = async (page: Page) => {
    page.on('request', (request) => {
      const [, file] = /assets\/(\w+)\..*woff2$/.exec(request.url()) ?? []
      if (file) loaded.push(file)
    })
  }
  const fonts = await visit(browser, own.origin, { prepare }, async (page) => {
    await showTitleFont(page)
    const devtools = await page.context().newCDPSession(page)
    await devtools.send('DOM.enable')
    await devtools.send('CSS.enable')
    const { root } = await devtools.send('DOM.getDocument')
    const { nodeId } = await devtools.send('DOM.querySelector', { nodeId: root.nodeId, selector: 'h1 bdi' })
    const isCustom = async () =>
      new Set((await devtools.send('CSS.getPlatformFontsForNode', { nodeId })).fonts.map((font) => font.isCustomFont))
    // A font that was just added is there at the next layout.
    if (files.length > 0) await until(async () => (await isCustom()).has(true))
    return await isCustom()
  })
  expect([...new Set(loaded)].sort()).toEqual([...files].sort())
  expect(fonts).toEqual(new Set([files.length > 0]))
  await own.stop()
})
