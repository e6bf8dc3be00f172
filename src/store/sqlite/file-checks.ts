/** Checks of the files of a list, which need no open list. */

import { existsSync, readdirSync, statfsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isLeftover } from '../../complete-file.ts'
import { Failure } from '../../failure.ts'
import { MIN_FREE_BYTES } from '../../limits.ts'
import { MissingListError, StoreError } from '../../subscriber.ts'
import { type CheckResult, runCheck } from '../check.ts'
import { describeModes, quote } from './file-modes.ts'
import { findForeignLog, hasContent, readFileHeader, toForeignReason } from './header.ts'
import { findRescues } from './rescue.ts'

/** @param path the real path of a list, which may be missing */
export async function* checkFiles(path: string): AsyncGenerator<CheckResult> {
  yield runCheck('file modes', () => checkModes(path))
  yield runCheck('disk', () => checkSpace(path))
  yield runCheck('leftovers', () => checkLeftovers(path))
  yield runCheck('rescue files', () => checkRescues(path))
}

/** @throws StoreError when there is no list at the path, or it has two names or a foreign log */
export function checkList(path: string): string {
  const log = findForeignLog(path)
  if (log !== undefined) throw new StoreError(toForeignReason(log))
  const status = statSync(path, { throwIfNoEntry: false })
  if (!status) throw new MissingListError(`there is no list at ${path}: check DATABASE_URL; the service creates one`)
  if (!status.isFile()) throw new StoreError(`${path} is not a file: check DATABASE_URL`)
  if (!hasContent(path)) throw new MissingListError(`${path} is empty: check DATABASE_URL, or restore a backup`)
  if (!readFileHeader(path)) throw new StoreError(`${path} is not a database, or it is damaged: restore a backup`)
  if (status.nlink === 1) return path
  // SQLite keeps a log for each name, so processes that use different names damage the list.
  throw new StoreError(`${path} has ${status.nlink} names (hard links): stop the service, and remove all but one`)
}

function checkModes(path: string): string {
  const problem = describeModes(path)
  if (problem) throw new StoreError(problem.text)
  const folder = dirname(path)
  const { mode } = statSync(folder, { throwIfNoEntry: false }) ?? { mode: 0 }
  // In a folder with the sticky bit, only the owner of a file may delete it.
  if ((mode & 0o022) === 0 || (mode & 0o1000) !== 0) return 'only the owner can read the list'
  throw new StoreError(`other users may replace the list: run: chmod go-w ${quote(folder)}`)
}

function checkSpace(path: string): string {
  let folder = dirname(path)
  while (!existsSync(folder)) folder = dirname(folder)
  const { bavail, bsize } = statfsSync(folder)
  const free = `${Math.floor((bavail * bsize) / 2 ** 20).toLocaleString('en')} MiB are free`
  if (bavail * bsize >= MIN_FREE_BYTES) return free
  throw new Failure(`${free} for ${folder}: make room, or no address can be accepted when the disk is full`)
}

function checkLeftovers(path: string): string {
  const folder = dirname(path)
  const files = listNames(folder)
    .filter((name) => isLeftover(name))
    .map((name) => quote(join(folder, name)))
  if (files.length === 0) return 'none'
  throw new Failure(`temporary files of commands that were killed, with addresses in them: run: rm ${files.join(' ')}`)
}

function checkRescues(path: string): string {
  const [first, ...more] = findRescues(path)
  if (first === undefined) return 'none'
  const count = more.length > 0 ? ` and ${more.length} more` : ''
  const advice = `add its addresses with "rollcall copy", and move it away`
  throw new Failure(`${first}${count} may have addresses that are not on the list: ${advice}`)
}

function listNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    // The folder is missing, or may not be listed.
    return []
  }
}
