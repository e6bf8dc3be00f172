/** Reads the Markdown files of the repository: their blocks of code, links and headings. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './paths.ts'

/** A fenced block of code. Its info string is the language and, after a blank, a name. */
export interface Block {
  readonly file: string
  /** Line of the opening fence, counted from 1. */
  readonly line: number
  readonly language: string
  readonly name: string
  readonly text: string
}

export interface Link {
  readonly line: number
  /** A URL, or a path from the folder of the file, with or without a fragment. */
  readonly target: string
}

/** The Markdown files of the repository, as paths from its root. */
export const MARKDOWN_FILES: readonly string[] = ['*.md', '{bench,deploy,docs,src,test}/**/*.md']
  .flatMap((pattern) => [...new Bun.Glob(pattern).scanSync({ cwd: ROOT })])
  // A benchmark leaves its report in bench/results.
  .filter((file) => !/node_modules\/|^bench\/results\//.test(file))
  .sort()

/** Reads a file of the repository. */
export const readText = (file: string) => readFileSync(join(ROOT, file), 'utf8')

/** Reads the fenced blocks of a file, in order. @throws when a block does not end */
export function readBlocks(file: string): Block[] {
  const blocks: Block[] = []
  let open: { fence: string; line: number; info: string; lines: string[] } | undefined
  for (const [index, line] of readText(file).split('\n').entries()) {
    if (open === undefined) {
      const [, fence, info = ''] = /^ *(`{3,}|~{3,})(.*)$/.exec(line) ?? []
      if (fence !== undefined) open = { fence, line: index + 1, info: info.trim(), lines: [] }
    } else if (line.trim() === open.fence) {
      const [language = '', ...name] = open.info.split(' ')
      const text = open.lines.map((part) => `${part}\n`).join('')
      blocks.push({ file, line: open.line, language, name: name.join(' '), text })
      open = undefined
    } else open.lines.push(line)
  }
  if (open !== undefined) throw new Error(`${file}:${open.line}: the block does not end`)
  return blocks
}

/** Finds a block by its language and name. @throws when the file has none */
export function findBlock(file: string, language: string, name: string): Block {
  const block = readBlocks(file).find((found) => found.language === language && found.name === name)
  if (block === undefined) throw new Error(`${file} has no block "${language} ${name}"`)
  return block
}

/** Reads the links and pictures of a file. */
export function readLinks(file: string): Link[] {
  return readProse(file).flatMap(({ line, text }) =>
    [...text.replace(/`[^`]*`/g, '').matchAll(/\]\(([^()\s]+)\)/g)].map(([, target = '']) => ({
      line,
      target,
    })),
  )
}

/** Reads the file names in code spans, such as `errors.ts`. */
export function readFileNames(file: string): Link[] {
  return readProse(file).flatMap(({ line, text }) =>
    [...text.matchAll(/`([\w./-]+\.ts)`/g)].map(([, target = '']) => ({ line, target })),
  )
}

/** Reads the anchors of a file as GitHub makes them from its headings. */
export function readAnchors(file: string): string[] {
  return readProse(file)
    .filter(({ text }) => /^#+ /.test(text))
    .map(({ text }) =>
      text
        .replace(/^#+ /, '')
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    )
}

/** The lines outside of blocks. */
function readProse(file: string): { line: number; text: string }[] {
  const inBlocks = new Set(
    readBlocks(file).flatMap(({ line, text }) =>
      Array.from({ length: text.split('\n').length + 1 }, (_, index) => line + index),
    ),
  )
  return readText(file)
    .split('\n')
    .map((text, index) => ({ line: index + 1, text }))
    .filter(({ line }) => !inBlocks.has(line))
}
