/** Saves a list whose file was deleted or replaced: the system keeps the content of an open file. */

import type { Database } from 'bun:sqlite'
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { basename, dirname, extname, join, resolve } from 'node:path'
import { renameSynced, toPartialName } from '../../complete-file.ts'
import type { Log } from '../../log.ts'
import { createPrivateFile } from '../../private-file.ts'
import { checkIntegrity } from './integrity.ts'

/**
 * Writes all that an open list holds to a new file, which is a list too, and checks it. The file is in the folder of the
 * list or, when that is gone, in the folder above. Blocks the thread: a second for about a million addresses.
 *
 * @returns the path of the file, which is complete and on stable storage
 * @throws what SQLite or the file system reports. Then there is no file.
 */
export async function writeRescue(db: Database): Promise<string> {
  const file = toRescueName(db.filename)
  const partial = toPartialName(file)
  try {
    // VACUUM INTO accepts an empty file.
    createPrivateFile(partial)
    db.run('VACUUM INTO ?', [partial])
    checkIntegrity(partial)
    await renameSynced(partial, file)
    return file
  } catch (error) {
    rmSync(partial, { force: true })
    throw error
  }
}

/** Logs a warning for each rescue file of a list. It may have addresses that the list does not have. */
export function warnOfRescues(file: string, log: Log): void {
  for (const path of findRescues(file)) {
    log.warn(`${path} is a rescue file: it may have addresses that are not on the list`)
  }
}

/** Returns the paths of the rescue files of a list. */
export function findRescues(file: string): readonly string[] {
  const { folder, start, extension } = toParts(file)
  return [...new Set([folder, dirname(folder)])].flatMap((place) =>
    listNames(place)
      .filter((name) => name.startsWith(start) && name.endsWith(extension))
      .map((name) => join(place, name)),
  )
}

function listNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    // The service needs no permission to list these folders.
    return []
  }
}

function toRescueName(file: string): string {
  const { folder, start, extension } = toParts(file)
  // Two services that share a list may lose it at the same time.
  const id = `${new Date().toISOString().slice(0, 19).replaceAll(':', '-')}-${process.pid}`
  return join(existsSync(folder) ? folder : dirname(folder), `${start}${id}${extension}`)
}

function toParts(file: string): { readonly folder: string; readonly start: string; readonly extension: string } {
  const path = resolve(file)
  const extension = extname(path)
  return { folder: dirname(path), start: `${basename(path, extension)}.rescue-`, extension }
}
