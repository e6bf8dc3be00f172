/** The table of deliberate breaks, and where each of them is in the source. */

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../../support/paths.ts'

/** A row of the table: a deliberate break of the source, which a test must notice. */
export interface Break {
  /** Unique. */
  readonly name: string
  /** The file that is changed, from the root of the repository. */
  readonly file: string
  /** What is replaced. It must occur exactly once in the file, however it is formatted. */
  readonly text: string
  readonly replacement: string
  /** What no longer holds. */
  readonly promise: string
  /** The test file that must fail, from the root of the repository. */
  readonly test: string
  /** A regular expression for the names of the tests to run, where the whole file takes long. */
  readonly only?: string
}

export const BREAKS = Bun.YAML.parse(readFileSync(join(import.meta.dir, 'breaks.yaml'), 'utf8')) as readonly Break[]

/** Says why a row does not fit the repository; undefined when it fits. */
export function findMismatch({ name, file, text, replacement, test }: Break): string | undefined {
  if (BREAKS.filter((entry) => entry.name === name).length > 1) return 'this name occurs twice'
  const missing = [file, test].find((path) => !existsSync(join(ROOT, path)))
  if (missing) return `there is no file ${missing}`
  const source = readFileSync(join(ROOT, file), 'utf8')
  const count = compact(source).text.split(compact(text).text).length - 1
  if (count !== 1) return `the text is in ${file} ${count} times`
  try {
    if (file.endsWith('.ts'))
      new Bun.Transpiler({ loader: 'ts' }).transformSync(applyBreak(source, { text, replacement }))
    return undefined
  } catch {
    return `${file} is not TypeScript after the replacement`
  }
}

/** Replaces the text of a row, which must occur once. */
export function applyBreak(source: string, { text, replacement }: Pick<Break, 'text' | 'replacement'>): string {
  const [whole, part] = [compact(source), compact(text)]
  const first = whole.text.indexOf(part.text)
  const [start, last] = [whole.positions[first], whole.positions[first + part.text.length - 1]]
  if (start === undefined || last === undefined) throw new Error(`the text is not there: ${text}`)
  return source.slice(0, start) + replacement + source.slice(last + 1)
}

/** Leaves out what a formatter changes: white space, and a comma after the last value. */
function compact(source: string) {
  const positions = [...source.matchAll(/(?!,\s*[)\]}])\S/g)].map(({ index }) => index)
  return { text: positions.map((position) => source.charAt(position)).join(''), positions }
}
