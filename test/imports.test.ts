/** Imports point one way: the entries of every folder, files and subfolders alike, have no cycle. Type imports count. */

import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { dirname, join, normalize, relative } from 'node:path'
import { preProcessFile } from 'typescript'
import { ROOT } from './support/paths.ts'

/** An import, by the two entries of a folder that it connects. */
interface Edge {
  readonly from: string
  readonly to: string
  readonly file: string
  readonly imported: string
}

/** The import statements of a file that lead to files of ours, types included; paths from the root. */
function listImports(file: string): string[] {
  const { importedFiles } = preProcessFile(readFileSync(join(ROOT, file), 'utf8'))
  return importedFiles
    .map(({ fileName }) => fileName)
    .filter((name) => name.startsWith('.'))
    .map((name) => normalize(join(dirname(file), name)))
}

/** The folder that holds both files, and the entry of it on the way to each. */
function toEdge(file: string, imported: string): Edge & { readonly folder: string } {
  const [one, other] = [file.split('/'), imported.split('/')]
  const depth = one.findIndex((part, index) => part !== other[index])
  return {
    folder: one.slice(0, depth).join('/'),
    from: one[depth] ?? '',
    to: other[depth] ?? '',
    file,
    imported,
  }
}

/** Finds a cycle among the entries of a folder: the imports that close it. */
function findCycle(edges: readonly Edge[]): readonly Edge[] | undefined {
  const visited = new Set<string>()
  const walk = (entry: string, path: readonly Edge[]): readonly Edge[] | undefined => {
    const start = path.findIndex(({ from }) => from === entry)
    if (start >= 0) return path.slice(start)
    if (visited.has(entry)) return undefined
    visited.add(entry)
    for (const edge of edges.filter(({ from }) => from === entry)) {
      const cycle = walk(edge.to, [...path, edge])
      if (cycle) return cycle
    }
    return undefined
  }
  for (const { from } of edges) {
    const cycle = walk(from, [])
    if (cycle) return cycle
  }
  return undefined
}

/** Says which imports form a cycle; undefined when there is none. */
function describeCycles(imports: readonly (readonly [file: string, imported: string])[]): string | undefined {
  const byFolder = Map.groupBy(
    imports.map(([file, imported]) => toEdge(file, imported)),
    ({ folder }) => folder,
  )
  for (const [folder, edges] of byFolder) {
    const cycle = findCycle(edges)
    if (cycle) {
      const lines = cycle.map(({ from, to, file, imported }) => `  ${from} -> ${to}: ${file} imports ${imported}`)
      return `a cycle in ${folder}:\n${lines.join('\n')}`
    }
  }
  return undefined
}

const FOLDERS = ['src', 'bench', 'endurance', 'test/support']

test.each(FOLDERS)('%s has no cycle of files or folders', async (folder) => {
  const all = await Array.fromAsync(new Bun.Glob('**/*.{ts,tsx}').scan(join(ROOT, folder)))
  // The baselines of the benchmark have packages of their own.
  const files = all.filter((file) => !file.includes('node_modules/'))
  expect(files.length).toBeGreaterThan(3)
  const imports = files
    .map((file) => relative(ROOT, join(ROOT, folder, file)))
    .flatMap((file) => listImports(file).map((imported) => [file, imported] as const))
    .filter(([, imported]) => imported.startsWith(`${folder}/`))
  expect(describeCycles(imports)).toBeUndefined()
})

test('a cycle between folders is found although no two files import each other', () => {
  expect(
    describeCycles([
      ['src/a/one.ts', 'src/b/one.ts'],
      ['src/b/two.ts', 'src/a/two.ts'],
    ]),
  ).toBe('a cycle in src:\n  a -> b: src/a/one.ts imports src/b/one.ts\n  b -> a: src/b/two.ts imports src/a/two.ts')
})

/** What each of these may import of ours: DESIGN's rule for the innermost files. */
const INNER = ['email', 'errors', 'failure', 'idn', 'limits', 'routes', 'subscriber', 'typed-address']

test.each(INNER)('src/%s.ts imports only files of the same kind', (name) => {
  const allowed = INNER.map((other) => `src/${other}.ts`)
  expect(listImports(`src/${name}.ts`).filter((imported) => !allowed.includes(imported))).toEqual([])
})

/** The packages that a file loads before it runs: its import statements and those of the files that it imports. */
function listLoadedPackages(file: string, visited = new Set<string>()): ReadonlySet<string> {
  if (visited.has(file) || file.endsWith('.json')) return new Set()
  visited.add(file)
  const source = readFileSync(join(ROOT, file), 'utf8')
  const names = new Bun.Transpiler({ loader: 'ts' })
    .scanImports(source.replace(/^#!.*/, ''))
    .filter(({ kind }) => kind === 'import-statement')
    .map(({ path }) => path)
  const own = names.filter((name) => name.startsWith('.')).map((name) => normalize(join(dirname(file), name)))
  const packages = names.filter((name) => !/^(?:\.|node:|bun(?::|$))/.test(name))
  return new Set([...packages, ...own.flatMap((name) => [...listLoadedPackages(name, visited)])])
}

test('a command that works on a list does not load what only the service needs', () => {
  expect([...listLoadedPackages('src/cli.ts')]).toEqual(['commander'])
})
