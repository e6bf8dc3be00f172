/** ARCHITECTURE.md describes the code as it is. */

import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, parse } from 'node:path'
import { preProcessFile } from 'typescript'
import { findBlock, readText } from '../support/markdown.ts'
import { ROOT } from '../support/paths.ts'

const FILE = 'ARCHITECTURE.md'

/** The files of `src/`, as paths from there. */
const SOURCES = [...new Bun.Glob('**/*').scanSync({ cwd: join(ROOT, 'src') })].sort()

test('the map names every file of src/, in the row of its folder; verbs and languages are in their tables', () => {
  const rows = findBlock(FILE, 'text', 'map').text.split(/\n(?! )/)
  const tables = readText('src/cli.ts') + readText('src/locales/languages.ts')
  const isNamed = (file: string) => {
    const row = rows.find((text) => text.startsWith(file.includes('/') ? `${dirname(file)}/ ` : `${file} `)) ?? ''
    const { name } = parse(file)
    return new RegExp(`(?<![\\w-])${RegExp.escape(name)}(?![\\w-])`).test(row) || tables.includes(`/${name}.ts'`)
  }
  expect(SOURCES.length).toBeGreaterThan(100)
  expect(SOURCES.filter((file) => !isNamed(file) && !file.endsWith('tsconfig.json'))).toEqual([])
})

test('everything that the map and the path of a request name exists', () => {
  const map = findBlock(FILE, 'text', 'map').text.match(/^\S+/gm) ?? []
  const flow = findBlock(FILE, 'text', 'flow').text.replace(/\([^)]*\)|<[^>]*>|^\w+/gm, '')
  const names = [...map, ...(flow.match(/[a-z/]+/g) ?? [])]
  const exists = (name: string) => ['', '.ts'].some((end) => existsSync(join(ROOT, 'src', name + end)))
  expect(names.length).toBeGreaterThan(30)
  expect(names.filter((name) => !exists(name))).toEqual([])
})

test('every import leads to a lower line of the diagram', () => {
  const { text } = findBlock(FILE, 'text', 'imports')
  const lines = text.split('\n').filter(Boolean)
  const levels = new Map(lines.flatMap((line, level) => line.split(/ +/).map((name) => [name, level] as const)))
  const toEntry = (file: string) => (file.split('/')[0] ?? '').replace(/\.ts$/, '')
  const missing = new Set(SOURCES.map(toEntry).filter((entry) => !levels.has(entry)))
  expect([...missing]).toEqual([])

  const upward = SOURCES.filter((file) => /\.tsx?$/.test(file)).flatMap((file) =>
    listImports(file)
      .filter((imported) => toEntry(imported) !== toEntry(file))
      .filter((imported) => levels.get(toEntry(imported))! <= levels.get(toEntry(file))!)
      .map((imported) => `${file} imports ${imported}`),
  )
  expect(upward).toEqual([])
})

/** The code on the way of an address to a list in SQLite: files, and folders with all of theirs. */
const WAY = [
  ...['service', 'email', 'errors', 'limits', 'routes', 'subscriber', 'commands/serve'],
  ...['http/server', 'http/app', 'http/subscribe', 'http/body', 'http/responses', 'intake'],
  ...['store/schedule', 'store/numbers'],
  ...['schema', 'store', 'thread', 'worker', 'transaction', 'inbox', 'compaction'].map(
    (name) => `store/sqlite/${name}`,
  ),
]

test('the README says how long it takes to read the code, at 250 words a minute', () => {
  const countHours = (files: readonly string[]) =>
    files.reduce((sum, file) => sum + readText(`src/${file}`).split(/\s+/).length, 0) / 250 / 60
  const code = SOURCES.filter((file) => /\.tsx?$/.test(file))
  const way = code.filter((file) => WAY.some((name) => file === `${name}.ts` || file.startsWith(`${name}/`)))
  expect(way.length).toBeGreaterThanOrEqual(WAY.length)
  const sentence =
    'An evening is enough for the code on the way of an address from the request to the list, and a day for all of it.'
  expect(readText('README.md')).toContain(sentence)
  expect(countHours(way)).toBeLessThan(2)
  expect(countHours(code)).toBeLessThan(8)
})

/** The files of `src/` that a file imports, types included, as paths from there. */
function listImports(file: string): string[] {
  return preProcessFile(readFileSync(join(ROOT, 'src', file), 'utf8'))
    .importedFiles.map(({ fileName }) => fileName)
    .filter((name) => name.startsWith('.'))
    .map((name) => normalize(join(dirname(file), name)))
}

/** The names of the environment in the code of a file, apart from comments. */
function listReads(code: string): string[] {
  const withoutComments = code.replace(/\/\*.*?\*\/|(?<=^|\s)\/\/.*?$/gms, '')
  const reads =
    /\b(?:process|Bun|import\.meta)\s*\??\.\s*env\b|\[['"]env['"]\]|\{[^}]*\benv\b[^}]*\}\s*=\s*(?:process|Bun)\b/g
  const imports = /import\s[^;]*?\benv\b[^;]*?from\s*['"](?:node:)?process['"]/g
  return [...withoutComments.matchAll(reads), ...withoutComments.matchAll(imports)].map(([text]) => text)
}

test('only config/ reads the environment', () => {
  const code = SOURCES.filter((file) => /\.tsx?$/.test(file))
  const readers = code.filter((file) => listReads(readText(`src/${file}`)).length > 0)
  expect(readers.length).toBeGreaterThan(0)
  expect(readers.filter((file) => !file.startsWith('config/'))).toEqual([])
  // The rule finds each way of reading it, and no other word.
  const faults = [
    'const { PORT } = process.env',
    'process?.env.PORT',
    "Bun.env['PORT']",
    'import.meta.env.PORT',
    'const { env } = process',
    "process['env'].PORT",
    "import { env } from 'node:process'",
    "import { argv, env as all } from 'process'",
  ]
  expect(faults.filter((line) => listReads(line).length === 0)).toEqual([])
  expect(
    ['// process.env is read in config/', 'const env = readEnvironment()', 'spawn(a, { env })'].flatMap(listReads),
  ).toEqual([])
})
