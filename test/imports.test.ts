/** Imports point one way, type imports too. Biome finds cycles of files; ARCHITECTURE.md has the order in `src/`. */

import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { preProcessFile } from 'typescript'
import { ROOT } from './support/paths.ts'

/** The files of ours that a file imports, types included; paths from the root. */
function listImports(file: string): string[] {
  const { importedFiles } = preProcessFile(readFileSync(join(ROOT, file), 'utf8'))
  const names = importedFiles.map(({ fileName }) => fileName).filter((name) => name.startsWith('.'))
  return names.map((name) => normalize(join(dirname(file), name)))
}

interface Edge {
  readonly from: string
  readonly to: string
  readonly text: string
}

/** An import as an edge between two entries of a folder: of the one that holds both files. */
function toEdge(file: string, imported: string): Edge {
  const [one, other] = [file.split('/'), imported.split('/')]
  const depth = one.findIndex((part, index) => part !== other[index])
  const toEntry = (parts: readonly string[]) => parts.slice(0, depth + 1).join('/')
  return { from: toEntry(one), to: toEntry(other), text: `${file} imports ${imported}` }
}

/** Removes what imports nothing or is imported by nothing, again and again. What stays is in a cycle, or between two. */
function findCycles(edges: readonly Edge[]): readonly Edge[] {
  const [sources, targets] = [new Set(edges.map(({ from }) => from)), new Set(edges.map(({ to }) => to))]
  const rest = edges.filter(({ from, to }) => targets.has(from) && sources.has(to))
  return rest.length < edges.length ? findCycles(rest) : rest
}

test.each(['src', 'bench', 'endurance', 'test/support'])('%s has no cycle of folders', (folder) => {
  const all = [...new Bun.Glob(`${folder}/**/*.{ts,tsx}`).scanSync(ROOT)]
  // The baselines of the benchmark have packages of their own.
  const files = all.filter((file) => !file.includes('node_modules/'))
  expect(files.length).toBeGreaterThan(3)
  const edges = files.flatMap((file) =>
    listImports(file)
      .filter((imported) => imported.startsWith(`${folder}/`))
      .map((imported) => toEdge(file, imported)),
  )
  expect(findCycles(edges).map(({ text }) => text)).toEqual([])
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
