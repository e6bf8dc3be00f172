/** The languages: one file for each, in an index that a program writes. */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { cpSync, mkdtempSync, symlinkSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLocaleIndex, toIndexFile } from '../../build/locales.ts'
import { LANGUAGE_TAGS } from '../../src/config/texts.ts'
import { ROOT } from '../support/paths.ts'

let copy: string
beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'rollcall-copy-'))
  cpSync(join(ROOT, 'src'), join(copy, 'src'), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
})
afterAll(() => rm(copy, { recursive: true }))

/** Writes the index of the copy, and opens the page in the copy. Returns the page in a language. */
async function renderInCopy(language: string): Promise<string> {
  await writeFile(toIndexFile(copy), await createLocaleIndex(copy, '2027-01-31'))
  const program = `
    import { parseSite } from '${copy}/src/config/site-file.ts'
    import { listPages } from '${copy}/src/page/head.tsx'
    import { renderPage } from '${copy}/src/page/render.tsx'
    const site = parseSite('', 'site.yaml')
    const assets = { stylesheet: '/a.css', script: '/a.js', icon: { path: '/a.svg' }, touchIcon: '/a.png' }
    console.log(JSON.stringify(listPages(site.languages)))
    console.log(renderPage({ site, baseUrl: 'https://www.gazette.example', assets }, '${language}'))`
  const child = Bun.spawn([process.execPath, '-'], { stdin: Buffer.from(program), stdout: 'pipe', stderr: 'inherit' })
  return child.stdout.text()
}

test('the index is up to date: run `npm run locales` after a change of a phrase', async () => {
  const today = new Date().toISOString().slice(0, 10)
  expect(await readFile(toIndexFile(ROOT), 'utf8')).toBe(await createLocaleIndex(ROOT, today))
})

test('English is the default, and the others are in the order of their own names', () => {
  expect(LANGUAGE_TAGS.slice(0, 3)).toEqual(['en', 'de', 'es'])
  expect(LANGUAGE_TAGS.slice(-3)).toEqual(['ar', 'ja', 'zh-Hans'])
})

test('one file adds a language', async () => {
  const english = await readFile(join(ROOT, 'src/locales/en.ts'), 'utf8')
  const esperanto = english
    .replace('const en:', 'const eo:')
    .replace("language: 'English'", "language: 'Esperanto'")
    .replace("subscribe: 'Subscribe'", "subscribe: 'Aboni'")
  await writeFile(join(copy, 'src/locales/eo.ts'), esperanto)
  const page = await renderInCopy('eo')
  expect(page).toContain('<html lang="eo" dir="ltr">')
  expect(page).toContain('Aboni')
  expect(page).toContain('hreflang="eo" href="https://www.gazette.example/eo"')
  // Its date is today, and the dates of the others stay.
  expect(page).toContain('{"path":"/eo","lastmod":"2027-01-31"')
  expect(page.match(/"lastmod":"2027-01-31"/g)).toHaveLength(1)
})

test('a file that exports another name is named', async () => {
  await writeFile(join(copy, 'src/locales/la.ts'), 'export const latin = {}')
  await expect(createLocaleIndex(copy, '2027-01-31')).rejects.toThrow('src/locales/la.ts must export la')
})
