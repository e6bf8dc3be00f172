/** The modes of the files of a SQLite list: only its owner may read them. */

import { closeSync, existsSync, openSync, statSync } from 'node:fs'
import { toErrorCode } from '../../failure.ts'
import type { Log } from '../../log.ts'
import { createPrivateFile, PRIVATE_MODE } from '../../private-file.ts'
import { toRealPath } from './header.ts'

/**
 * Creates the file of a list, unless it exists. SQLite gives its mode to the log and to the other files that it creates
 * next to it (https://sqlite.org/src/file/src/os_unix.c, findCreateFileMode).
 */
export function createMissingFile(path: string): void {
  if (existsSync(path)) return
  try {
    createPrivateFile(path)
  } catch (error) {
    if (toErrorCode(error) !== 'EEXIST') throw error
    // Another process has just created it, or it is a symbolic link to a missing file, which this creates.
    if (!existsSync(path)) closeSync(openSync(path, 'a', PRIVATE_MODE))
  }
}

/** Logs a warning when other users may read or write an open list. Changes no mode: the owner may want it. */
export function warnOfModes(file: string, log: Log): void {
  const problem = describeModes(file)
  if (problem) log.warn({ file: problem.file, mode: problem.mode }, problem.text)
}

/** Says in one line which files of a list other users may read or write, and what to run; undefined when there is none. */
export function describeModes(
  file: string,
): { readonly file: string; readonly mode: string; readonly text: string } | undefined {
  // SQLite follows symbolic links, and keeps the log next to the real file.
  const path = toRealPath(file)
  const open = ['', '-wal', '-shm'].map((suffix) => path + suffix).filter((name) => (toMode(name) & 0o077) !== 0)
  const [first] = open
  if (first === undefined) return
  const mode = toMode(first).toString(8).padStart(4, '0')
  const fix = `chmod 600 ${open.map(quote).join(' ')}`
  return { file: first, mode, text: `other users may read the list: ${first} has mode ${mode}; run: ${fix}` }
}

function toMode(path: string): number {
  return (statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o777
}

/** Quotes a path for a shell, if it needs quotes. */
export function quote(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`
}
