/** Complete files: a file is written under another name, and gets its name when it is complete. */

import { open, readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { Failure, toErrorCode, toFileFailure } from './failure.ts'
import { createPrivateFile } from './private-file.ts'

/** The name of the temporary file for a file: in the same folder, because a rename cannot cross file systems. */
export function toPartialName(file: string): string {
  return join(dirname(file), `.${basename(file)}.${process.pid}.partial`)
}

/**
 * Creates the temporary file for a file, and removes those that killed processes left.
 *
 * @returns its path
 * @throws Failure when the folder cannot be written, or when `file` is a folder
 */
export async function createPartialFile(file: string): Promise<string> {
  const partial = toPartialName(file)
  const found = await stat(file).catch(() => undefined)
  if (found?.isDirectory()) throw new Failure(`${file}: it is a folder`)
  try {
    await removePartialFiles(file)
    createPrivateFile(partial)
  } catch (error) {
    throw toFileFailure(error, file)
  }
  return partial
}

/** Checks that a file can be written, before work that would be in vain otherwise. @throws Failure */
export async function checkTarget(file: string): Promise<void> {
  await rm(await createPartialFile(file))
}

/** Removes the temporary files for a file, except those of other processes that run. */
async function removePartialFiles(file: string): Promise<void> {
  // A folder that can be written may not be readable.
  for (const name of await readdir(dirname(file)).catch(() => [])) {
    if (isLeftover(name, basename(file))) await rm(join(dirname(file), name), { force: true })
  }
}

// SQLite adds these endings to the temporary file of a backup.
const PARTIAL = /^\.(.+)\.(\d+)\.partial(?:-journal|-wal|-shm)?$/

/** Whether a name is that of a temporary file, for this file or for any, whose process has ended. */
export function isLeftover(name: string, file?: string): boolean {
  const [, target, pid] = PARTIAL.exec(name) ?? []
  if (pid === undefined || (file !== undefined && target !== file)) return false
  return !isOtherProcess(Number(pid))
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

/**
 * Renames a file when its content is on stable storage, and syncs the folder, which holds the name.
 *
 * @throws Failure when `file` cannot be replaced
 */
export async function renameSynced(partial: string, file: string): Promise<void> {
  try {
    await syncPath(partial)
    await rename(partial, file)
    await syncPath(dirname(file))
  } catch (error) {
    throw toFileFailure(error, file)
  }
}

/** Waits until a file, or the entries of a folder, are on stable storage. */
export async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
