/** What the documentation names exists: links, pictures, source files and scripts. */

import { expect, test } from 'bun:test'
import { existsSync, readdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { MARKDOWN_FILES, readAnchors, readFileNames, readLinks, readText } from '../support/markdown.ts'
import { ROOT } from '../support/paths.ts'

const DECISIONS = 'docs/decisions'

/** Files that code spans may name by their last name only. */
const SOURCES = [...new Bun.Glob('{src,test,bench,endurance}/**/*.ts').scanSync({ cwd: ROOT })]
/** Says what is wrong with a link to a file of the repository. */
function findLinkFault(file: string, target: string): string | undefined {
  const [path = '', anchor] = target.split('#')
  const linked = path === '' ? file : join(dirname(file), path)
  if (!existsSync(join(ROOT, linked))) return 'the file does not exist'
  return anchor === undefined || readAnchors(linked).includes(anchor) ? undefined : 'the heading does not exist'
}

function isSourceFile(name: string): boolean {
  return SOURCES.some((source) => source === name || source === `src/${name}` || basename(source) === name)
}

test.each(MARKDOWN_FILES)('%s links to files and headings that exist', (file) => {
  const faults = readLinks(file)
    .filter(({ target }) => !/^[a-z]+:/.test(target))
    .map(({ line, target }) => ({ line, target, fault: findLinkFault(file, target) }))
    .filter(({ fault }) => fault !== undefined)
  expect(faults).toEqual([])
})

// A fixture may name files of an older version.
test.each(MARKDOWN_FILES.filter((file) => !file.startsWith('test/')))('%s names source files that exist', (file) => {
  expect(readFileNames(file).filter(({ target }) => !isSourceFile(target))).toEqual([])
})

test('every picture in docs/ is shown somewhere', () => {
  const shown = MARKDOWN_FILES.flatMap((file) => readLinks(file).map(({ target }) => basename(target)))
  const pictures = readdirSync(join(ROOT, 'docs')).filter((name) => /\.(?:png|svg)$/.test(name))
  expect(pictures.filter((name) => !shown.includes(name))).toEqual([])
})

test('every guide in docs/ is linked from the README', () => {
  const linked = readLinks('README.md').map(({ target }) => target.split('#')[0])
  const guides = MARKDOWN_FILES.filter((file) => dirname(file) === 'docs')
  expect(guides.filter((file) => !linked.includes(file))).toEqual([])
})

test('the decisions are short, numbered without a gap, and listed with their titles', () => {
  const records = readdirSync(join(ROOT, DECISIONS))
    .filter((name) => name !== 'README.md')
    .sort()
  const entries = records.map((name, index) => {
    const lines = readText(join(DECISIONS, name)).trimEnd().split('\n')
    const [title = ''] = lines
    expect(name).toStartWith(`${String(index + 1).padStart(2, '0')}-`)
    expect(title).toStartWith(`# ${index + 1}. `)
    expect({ name, isShort: lines.length <= 40 }).toEqual({ name, isShort: true })
    return `- [${title.slice('# '.length)}](${name})`
  })
  const listed = readText(join(DECISIONS, 'README.md')).split('\n')
  expect(listed.filter((line) => line.startsWith('- '))).toEqual(entries)
})
