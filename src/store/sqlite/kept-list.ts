/** Keeps a list that gets replaced, under another name in the same folder. */

import { linkSync, readdirSync, rmSync } from 'node:fs'
import { basename, dirname, extname, join } from 'node:path'
import { syncPath } from '../../complete-file.ts'
import { Failure, toErrorCode, toFileFailure } from '../../failure.ts'
import { hasContent } from './header.ts'
import { isSameFile, readStatus } from './held-file.ts'

/** The files of a list: its journal and its log (WAL) belong to the file with the same name. */
const SUFFIXES = ['', '-wal', '-shm', '-journal'] as const

/**
 * Gives the files of a list a second name: `rollcall.before-restore-TIME.db`, with the same endings. The list stays
 * where it is, so a crash leaves it complete.
 *
 * @returns the new names; none when there is no file with content
 * @throws Failure when the file system has no hard links, or the folder cannot be written
 */
export async function keepList(list: string): Promise<readonly string[]> {
  const suffixes = SUFFIXES.filter((suffix) => hasContent(list + suffix))
  if (suffixes.length === 0) return []
  removeSecondNames(list)
  const kept: string[] = []
  const name = findFreeName(list)
  try {
    for (const suffix of suffixes) {
      linkSync(list + suffix, name + suffix)
      kept.push(name + suffix)
    }
    await syncPath(dirname(list))
    return kept
  } catch (error) {
    dropFiles(kept)
    throw toLinkFailure(error, list)
  }
}

/** Removes the log and the other files that belonged to the list which had the name. They are kept: see keepList. */
export function removeSideFiles(list: string): void {
  // The state file says which state of a list is the latest one: it proves nothing for the restored one.
  dropFiles([...SUFFIXES, '-state'].filter(Boolean).map((suffix) => list + suffix))
}

export function dropFiles(files: readonly string[]): void {
  for (const file of files) rmSync(file, { force: true })
}

/** A process that was killed between the second name and the replacement left both. SQLite needs one name for a file. */
function removeSecondNames(list: string): void {
  const status = readStatus(list)
  const start = toStart(list)
  for (const name of readdirSync(dirname(list)).filter((name) => name.startsWith(start))) {
    const path = join(dirname(list), name)
    if (status && isSameFile(readStatus(path), status)) rmSync(path)
  }
}

function findFreeName(list: string): string {
  const time = new Date().toISOString().slice(0, 19).replaceAll(':', '-')
  for (let count = 1; ; count++) {
    const name = join(dirname(list), `${toStart(list)}${time}${count > 1 ? `-${count}` : ''}${extname(list)}`)
    if (SUFFIXES.every((suffix) => !readStatus(name + suffix))) return name
  }
}

const toStart = (list: string) => `${basename(list, extname(list))}.before-restore-`

function toLinkFailure(error: unknown, list: string): unknown {
  if (!/^(?:EPERM|ENOTSUP|EOPNOTSUPP|ENOSYS)$/.test(toErrorCode(error) ?? '')) return toFileFailure(error, list)
  return new Failure(`${list} cannot be kept under a second name here: move it to another folder, and restore again`)
}
