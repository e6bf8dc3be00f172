/** A deliberate break of the source, which a test must notice. */

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import type { Result } from '../../src/result.ts'
import { ROOT } from '../support/paths.ts'

export const BREAK = z.strictObject({
  /** Names the break; unique. */
  name: z.string(),
  /** The file that is changed, from the root of the repository. */
  file: z.string(),
  /** What is replaced. It must occur exactly once in the file. */
  text: z.string(),
  replacement: z.string(),
  /** What no longer holds. */
  promise: z.string(),
  /** The test file that must fail, from the root of the repository. */
  test: z.string(),
  /** A regular expression for the names of the tests to run, where the whole file takes long. */
  only: z.string().optional(),
})

export type Break = z.infer<typeof BREAK>

/**
 * Changes the source of a file.
 *
 * @returns the changed source, or why it cannot be changed: then the table of breaks is out of date
 */
export function applyBreak(source: string, { name, file, text, replacement }: Break): Result<string, string> {
  const count = source.split(text).length - 1
  if (count !== 1) {
    return { ok: false, reason: `${name}: text found ${count} times in ${file}, expected once:\n${text}` }
  }
  const changed = source.replace(text, () => replacement)
  try {
    if (file.endsWith('.ts')) new Bun.Transpiler({ loader: 'ts' }).transformSync(changed)
    return { ok: true, value: changed }
  } catch {
    return { ok: false, reason: `${name}: ${file} is not TypeScript after the replacement:\n${replacement}` }
  }
}

/** Says why a row of the table does not fit the repository; undefined when it fits. */
export function findMismatch(entry: Break): string | undefined {
  const missing = [entry.file, entry.test].find((file) => !existsSync(join(ROOT, file)))
  if (missing) return `${entry.name}: there is no file ${missing}`
  const result = applyBreak(readFileSync(join(ROOT, entry.file), 'utf8'), entry)
  return result.ok ? undefined : result.reason
}
