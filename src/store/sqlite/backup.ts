/** Copies of a SQLite list: for `backup` and `restore`, and of a list whose files were lost. */

import type { Database } from 'bun:sqlite'
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { basename, dirname, extname, join } from 'node:path'
import { SIDECAR } from '../../config/list-url.ts'
import type { Result } from '../../email.ts'
import { createPrivateFile, renameSynced, toPartialName } from '../../files.ts'
import { StoreError, type StoreStatus } from '../../subscriber.ts'
import { toPath, toReason } from './error.ts'
import { openReadOnly } from './file.ts'
import { countInbox } from './inbox.ts'
import { checkIntegrity, readStatus } from './read.ts'

export interface CopyRequest {
  /** The list. It is opened for reading only. */
  readonly source: string
  /** An empty file. Default: the list is checked, and not copied. */
  readonly target?: string | undefined
  /** The copy gives out only numbers above this one, and its inbox is compacted. Default: the copy is not changed. */
  readonly lastSeq?: number | undefined
}

/** What a list holds, for the owner to recognize it. */
export interface CheckedCopy extends Pick<StoreStatus, 'subscribers' | 'reserved' | 'suppressed' | 'lastAcceptedAt'> {
  /** Addresses in the inbox. Some of them may be on the list. */
  readonly inbox: number
}

export function readCheckedCopy(db: Database): CheckedCopy {
  const { subscribers, reserved, suppressed, lastAcceptedAt } = readStatus(db)
  return { subscribers, reserved, suppressed, lastAcceptedAt, inbox: countInbox(db) }
}

/**
 * Copies a list, also while it is in use, and checks every page of both. Runs on a thread of its own, so that this one can
 * receive signals. After an error the caller deletes what was written.
 *
 * @throws StoreError when the list cannot be read, the file cannot be written, or one of the two is damaged; the reason of
 * the signal when it aborts
 */
export async function checkAndCopy(request: CopyRequest, signal: AbortSignal): Promise<CheckedCopy> {
  const worker = new Worker(new URL('./backup-worker.ts', import.meta.url).href)
  const { promise, resolve, reject } = Promise.withResolvers<CheckedCopy>()
  worker.onmessage = ({ data }: MessageEvent<Result<CheckedCopy, string>>) => {
    if (data.ok) resolve(data.value)
    else reject(new StoreError(data.reason))
  }
  worker.onerror = ({ message }) => reject(new StoreError(`the list cannot be copied: ${message}`))
  signal.addEventListener('abort', () => reject(signal.reason))
  worker.postMessage(request)
  try {
    signal.throwIfAborted()
    return await promise
  } finally {
    worker.terminate()
  }
}

/**
 * Copies an open list to an empty file, without free pages (https://sqlite.org/lang_vacuum.html), and checks every page of
 * the copy.
 */
export function copyInto(db: Database, target: string): void {
  db.run('VACUUM INTO ?', [target])
  using copy = openReadOnly(target)
  checkIntegrity(copy, 'the copy')
}

/**
 * Copies a list whose files were deleted or replaced to a new file next to it: the system keeps the content of an open
 * file. Blocks the thread: a second for about a million addresses.
 *
 * @returns what was done, for the log
 */
export async function rescueList(db: Database): Promise<string> {
  const path = toPath(db)
  const folder = existsSync(dirname(path)) ? dirname(path) : dirname(dirname(path))
  const time = new Date().toISOString().replaceAll(':', '-')
  const file = join(folder, `${toRescueStart(path)}${time}${extname(path)}`)
  const partial = toPartialName(file)
  try {
    createPrivateFile(partial)
    copyInto(db, partial)
    await renameSynced(partial, file)
    return `the addresses of the open file are in ${file}`
  } catch (error) {
    rmSync(partial, { force: true })
    const reason = error instanceof StoreError ? error.message : toReason(error)
    return `and it cannot be copied: ${reason}; when the service stops, the addresses of the open file are lost`
  }
}

const toRescueStart = (path: string): string => `${basename(path, extname(path))}.rescue-`

/** Lists the rescue files of a list, next to it and in the folder above. @param path the real path */
export function listRescues(path: string): readonly string[] {
  const start = toRescueStart(path)
  return [dirname(path), dirname(dirname(path))].flatMap((folder) =>
    listNames(folder)
      // A program that has opened a rescue file may have left its log.
      .filter((name) => name.startsWith(start) && !SIDECAR.test(name))
      .map((name) => join(folder, name)),
  )
}

function listNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    // The folder is missing, or may not be listed: then a rescue file would not be there.
    return []
  }
}
