/** Reads the Markdown files of the repository, and their blocks of code. */

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

/** The Markdown files of the repository, as paths from its root. */
export const MARKDOWN_FILES: readonly string[] = ['*.md', '{bench,deploy,docs,src,test}/**/*.md']
  .flatMap((pattern) => [...new Bun.Glob(pattern).scanSync({ cwd: ROOT })])
  // A benchmark leaves its report in bench/results.
  .filter((file) => !/node_modules\/|^bench\/results\//.test(file))
  .sort()

/** Reads a file of the repository. */
export const readText = (file: string) => readFileSync(join(ROOT, file), 'utf8')

/** A block: its indentation, its fence, its info string and its text. */
const BLOCK = /^( *)(`{3,}|~{3,})(.*)\n((?:.*\n)*?)\1\2$/gm

/** Reads the fenced blocks of a file, in order. */
export function readBlocks(file: string): Block[] {
  const markdown = readText(file)
  return [...markdown.matchAll(BLOCK)].map(({ 3: info = '', 4: text = '', index }) => {
    const [language = '', ...name] = info.trim().split(' ')
    const line = markdown.slice(0, index).split('\n').length
    return { file, line, language, name: name.join(' '), text }
  })
}

/** Finds a block by its language and name. @throws when the file has none */
export function findBlock(file: string, language: string, name: string): Block {
  const block = readBlocks(file).find((found) => found.language === language && found.name === name)
  if (block === undefined) throw new Error(`${file} has no block "${language} ${name}"`)
  return block
}

/** Returns the text of a file outside of its blocks. */
export const readProse = (file: string) => readText(file).replace(BLOCK, '')
