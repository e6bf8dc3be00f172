/** What the programs of the benchmark and of the endurance suite share. */

import { availableParallelism, cpus, release, totalmem } from 'node:os'
import { join } from 'node:path'
import { $ } from 'bun'
import { ROOT } from '../test/support/paths.ts'

export const DOCS = join(ROOT, 'docs')

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
