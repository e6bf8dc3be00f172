/** Partial files: what an output is called until it is complete, and those that killed processes left. */

import { readdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { toErrorCode } from './failure.ts'

/** The path of the partial file of a file that this process writes. Its name tells which process: so others know what is left over. */
export function toPartialName(file: string): string {
  return join(dirname(file), `.${basename(file)}.${process.pid}.partial`)
}

/** A name as above, such as `.list.csv.1234.partial`. SQLite adds these endings to the partial file of a backup. */
const PARTIAL = /^\.(.+)\.(\d+)\.partial(?:-journal|-wal|-shm)?$/

/**
 * Lists the paths of the partial files in a folder that no other process of this machine or container writes. One in another
 * container has a number that means nothing here, so two containers must not write into a folder at the same time.
 *
 * @param file lists only those of this name
 */
export async function listLeftovers(folder: string, file?: string): Promise<readonly string[]> {
  // A folder that can be written may not be readable.
  const names = await readdir(folder).catch(() => [])
  const leftovers = names.filter((name) => {
    const [, target, pid] = PARTIAL.exec(name) ?? []
    return pid !== undefined && (file ?? target) === target && !isOtherProcess(Number(pid))
  })
  return leftovers.map((name) => join(folder, name))
}

function isOtherProcess(pid: number): boolean {
  if (pid === process.pid) return false
  try {
    return process.kill(pid, 0)
  } catch (error) {
    // EPERM, for example, means that it runs as another user.
    return toErrorCode(error) !== 'ESRCH'
  }
}
