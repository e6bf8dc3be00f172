/** The lists in the documents are those of the code: settings, languages, programs that an export is for. */

import { expect, test } from 'bun:test'
import { SETTINGS } from '../../src/config/environment.ts'
import { LOCALES } from '../../src/locales/languages.ts'
import { FORMATS, TARGETS } from '../../src/transfer/writing/formats.ts'
import { readText } from '../support/markdown.ts'

/** The code spans in a cell of the first row of a file that begins with a text. */
function readCodes(file: string, start: string, cell: number): string[] {
  const row = readText(file)
    .split('\n')
    .find((line) => line.startsWith(start))
  return readSpans(row?.split(/(?<!\\)\|/)[cell] ?? '')
}

function readSpans(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code)
}

test('docs/settings.md has every setting, and no other', () => {
  const text =
    readText('docs/settings.md')
      .split(/^##+ /m)
      .find((section) => /^(?:Settings|Environment)\n/.test(section)) ?? ''
  const named = readSpans(text).filter((code) => /^[A-Z_]{4,}$/.test(code))
  expect([...new Set(named)].sort()).toEqual([...SETTINGS].sort())
})

test('docs/settings.md has every language', () => {
  const tags = readCodes('docs/settings.md', '| `languages` | all |', 3)
  expect(tags.sort()).toEqual(Object.keys(LOCALES).sort())
})

test('docs/page.md names every language', () => {
  const names = new Intl.DisplayNames('en', { type: 'language' })
  const text = readText('docs/page.md').replace(/\s+/g, ' ')
  const missing = Object.keys(LOCALES).filter((tag) => !text.includes(names.of(tag.slice(0, 2)) ?? tag))
  expect(missing).toEqual([])
})

test('docs/cli.md has every format of an export, and every program that one is for', () => {
  expect(readCodes('docs/cli.md', '| `--format ', 1)).toEqual(['--format csv', ...FORMATS.slice(1)])
  expect(readCodes('docs/cli.md', '| `--for ', 1)).toEqual([`--for ${TARGETS[0]}`, ...TARGETS.slice(1)])
})
