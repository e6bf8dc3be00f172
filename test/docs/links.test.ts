/** What the documentation names exists: links, headings, pictures, source files. */

import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { MARKDOWN_FILES, readProse, readText } from '../support/markdown.ts'
import { ROOT } from '../support/paths.ts'

/** Files that code spans may name by their last name only. */
const SOURCES = [...new Bun.Glob('{src,test,bench,endurance}/**/*.ts').scanSync({ cwd: ROOT })]

/** The links and pictures of a file: URLs, and paths from its folder. */
function readLinks(file: string): string[] {
  const text = readProse(file).replace(/`[^`\n]*`/g, '')
  return [...text.matchAll(/\]\(([^()\s]+)\)/g)].map(([, target = '']) => target)
}

/** The anchors of a file as GitHub makes them from its headings. */
function readAnchors(file: string): string[] {
  const headings = readProse(file).match(/(?<=^#+ ).*/gm) ?? []
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

test.each(MARKDOWN_FILES)('%s: the files, headings and sources that it names exist', (file) => {
  const targets = readLinks(file).filter((target) => !/^[a-z]+:/.test(target))
  const lost = targets.filter((target) => {
    const [path = '', anchor] = target.split('#')
    const linked = path === '' ? file : join(dirname(file), path)
    if (!existsSync(join(ROOT, linked))) return true
    return anchor !== undefined && !readAnchors(linked).includes(anchor)
  })
  expect(lost).toEqual([])

  // A fixture may name files of other programs.
  const names = file.startsWith('test/') ? [] : (readProse(file).match(/(?<=`)[\w./-]+\.ts(?=`)/g) ?? [])
  const isSource = (name: string) =>
    SOURCES.some((source) => source === name || source === `src/${name}` || basename(source) === name)
  expect(names.filter((name) => !isSource(name))).toEqual([])
})

test('every guide is linked from the README', () => {
  const linked = readLinks('README.md').map((target) => target.split('#')[0])
  const guides = MARKDOWN_FILES.filter((file) => dirname(file) === 'docs')
  expect(guides.filter((file) => !linked.includes(file))).toEqual([])
})

test('every message in docs/troubleshooting.md is in the code', () => {
  const code = SOURCES.filter((name) => name.startsWith('src/'))
    .map(readText)
    .join('\n')
  const symptoms = readProse('docs/troubleshooting.md').match(/^\| `.*?` \|/gm) ?? []
  const messages = symptoms.flatMap((cell) => cell.match(/(?<=`)[^`|]{2,}(?=`)/g) ?? [])
  // What stands for a name or a number is not in the code.
  const parts = messages.flatMap((message) => message.split('…')).map((part) => part.replace(/^[":; ]+|[":; ]+$/g, ''))
  expect(parts.length).toBeGreaterThan(30)
  expect(parts.filter((part) => !code.includes(part))).toEqual([])
})
