/** What the programs of the benchmark and of the endurance suite share. Both write a part of docs/figures.md. */

import { readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, release, totalmem } from 'node:os'
import { join } from 'node:path'
import { $ } from 'bun'
import { ROOT } from '../test/support/paths.ts'

export const DOCS = join(ROOT, 'docs')

/** Replaces a part of docs/figures.md: what stands between `<!-- NAME -->` and the next comment. @throws Error without it */
export function writeFigures(name: 'bench' | 'endurance', text: string): void {
  const file = join(DOCS, 'figures.md')
  const page = readFileSync(file, 'utf8')
  const part = new RegExp(`(<!-- ${name} -->\n).*?(\n<!--)`, 's')
  if (!part.test(page)) throw new Error(`${file} has no part ${name}`)
  writeFileSync(
    file,
    page.replace(part, (_, start, next) => `${start}\n${text}\n${next}`),
  )
}

/** Describes the machine in one line. */
export function describeMachine(): string {
  const model = cpus()[0]?.model.trim() ?? 'unknown processor'
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB of memory`
  return `${model}, ${availableParallelism()} cores, ${memory}, Linux ${release()}, Bun ${Bun.version}`
}

/** The commit of a checkout, with `-dirty` if a file was changed. */
export async function readCommit(folder = ROOT): Promise<string> {
  return (await $`git describe --always --dirty --exclude ${'*'}`.cwd(folder).text()).trim()
}

export function end(text: string, code: number): never {
  console.error(text.trimEnd())
  process.exit(code)
}

/** A table in Markdown. */
export function toTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const toLine = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [head, head.map(() => '---'), ...rows].map(toLine).join('\n')
}
