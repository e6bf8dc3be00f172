/**
 * Copies of a SQLite list: for `backup`, `restore` and `copy`, before a migration, and of a list whose files were lost. Also where they are
 * kept.
 */

import { Database } from 'bun:sqlite'
import { readdirSync, statSync } from 'node:fs'
import { open, readdir } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'
import type { Result } from '../../email.ts'
import { toFileFailure } from '../../failure.ts'
import { BACKUP_ID, LIST_ID, renameSynced, SIDECAR, withPartialFile } from '../../files.ts'
import { type Count, StoreError } from '../../subscriber.ts'
import { createCompaction } from './compaction.ts'
import { toPath } from './error.ts'
import { countInbox } from './inbox.ts'
import { readSize } from './paths.ts'
import { checkIntegrity, checkPages, readCount, readDates } from './read.ts'
import { openReadOnly } from './read-only.ts'
import { migrate } from './schema.ts'

type CopyKind = 'list' | 'backup'

export interface CopyRequest {
  /** The list. It is opened for reading only. */
  readonly source: string
  /** An empty file. Default: the list is checked, and not copied. */
  readonly target?: string | undefined
  /** What the copy is: a list, or a backup, which commands that read it do not change. Default: a backup. */
  readonly kind?: CopyKind | undefined
  /** The copy gives out only numbers above this one. Default: 0. */
  readonly lastSeq?: number | undefined
}

/** What a list holds, for the owner to recognize it. */
export interface ListSummary extends Count {
  readonly lastAcceptedAt: Date | undefined
  /** Addresses in the inbox. Some of them may be on the list. */
  readonly inbox: number
}

/** Reads what a list holds. It takes a second for ten million subscribers, and with suppressions longer: see `readCount`. */
export function readSummary(db: Database): ListSummary {
  const { lastAcceptedAt } = readDates(db)
  return { ...readCount(db), lastAcceptedAt, inbox: countInbox(db) }
}

/**
 * Copies a list, also while it is in use, and checks every page of both, on a thread of its own, so that this one can receive
 * signals. The caller deletes what was written before an error.
 *
 * @param onProgress gets the sizes of the copy and of the list, in megabytes
 * @throws StoreError, also when one of the two is damaged; the reason of the signal
 */
export async function checkAndCopy(
  request: CopyRequest,
  signal: AbortSignal,
  onProgress?: (done: number, total: number) => void,
): Promise<ListSummary> {
  const { source, target } = request
  const total = toMegabytes(readSize(source))
  const worker = new Worker(join(import.meta.dir, 'backup-worker.ts'))
  const { promise, resolve, reject } = Promise.withResolvers<ListSummary>()
  worker.onmessage = ({ data }: MessageEvent<Result<ListSummary, string>>) => {
    if (data.ok) resolve(data.value)
    else reject(new StoreError(data.reason))
  }
  worker.onerror = ({ message }) => reject(new StoreError(`the list cannot be copied: ${message}`))
  signal.addEventListener('abort', () => reject(signal.reason))
  worker.postMessage(request)
  try {
    signal.throwIfAborted()
    if (target) await syncMeanwhile(target, promise, (size) => onProgress?.(toMegabytes(size), total))
    return await promise
  } finally {
    worker.terminate()
  }
}

/** Copies an open list of any version to an empty file, and marks the copy as a backup. Changes nothing else of it. */
export function copyUnchanged(db: Database, target: string): void {
  db.run('VACUUM INTO ?', [target])
  {
    using copy = new Database(target, { readwrite: true })
    copy.run('PRAGMA journal_mode = OFF')
    copy.run(`PRAGMA application_id = ${BACKUP_ID}`)
  }
  using copy = openReadOnly(target, 'keep')
  checkPages(copy)
}

/**
 * Copies an open list to an empty file, without free pages (https://sqlite.org/lang_vacuum.html), compacts the copy, because a
 * backup is not changed when it is read, marks it, and checks every page of it. It gives out only numbers above `lastSeq`.
 */
export function copyInto(
  db: Database,
  target: string,
  { kind = 'backup', lastSeq = 0 }: Pick<CopyRequest, 'kind' | 'lastSeq'> = {},
): ListSummary {
  db.run('VACUUM INTO ?', [target])
  {
    using copy = new Database(target, { readwrite: true })
    // A copy that fails is deleted, so nothing is written that could undo a change.
    copy.run('PRAGMA journal_mode = OFF')
    migrate(copy, target)
    const compaction = createCompaction(copy)
    copy.transaction(() => {
      compaction.all()
      copy.query('UPDATE list SET last_seq = max(last_seq, ?1)').run(lastSeq)
      copy.run(`PRAGMA application_id = ${kind === 'backup' ? BACKUP_ID : LIST_ID}`)
    })()
  }
  using copy = openReadOnly(target)
  checkIntegrity(copy)
  return readSummary(copy)
}

const toMegabytes = (bytes: number): number => Math.ceil(bytes / 1e6)

/** Milliseconds between two syncs. */
const SYNC_MS = 50

/**
 * Syncs a file again and again while another thread writes it. Otherwise the system writes gigabytes at once, and each sync of a
 * service on the same disk waits for them.
 */
async function syncMeanwhile(file: string, work: Promise<unknown>, onSync: (size: number) => void): Promise<void> {
  const isDone = () => true
  // The caller gets its error.
  const end = work.then(isDone, isDone)
  await using handle = await open(file)
  try {
    do {
      await handle.datasync()
      onSync((await handle.stat()).size)
    } while (!(await Promise.race([end, Bun.sleep(SYNC_MS)])))
  } catch (error) {
    throw toFileFailure(error, file)
  }
}

/**
 * Copies a list whose files were deleted or replaced to a new file next to it: the system keeps the content of an open file. Blocks
 * the thread, for a second with a million addresses. @returns the path of the new file
 */
export async function rescueList(db: Database): Promise<string> {
  const path = toPath(db)
  const isThere = statSync(dirname(path), { throwIfNoEntry: false })?.isDirectory()
  const folder = isThere ? dirname(path) : dirname(dirname(path))
  const file = join(folder, toKeptName(path, 'rescue'))
  await withPartialFile(file, file, async (partial) => {
    copyInto(db, partial)
    await renameSynced(partial, file)
  })
  return file
}

/** The name of a file that is kept next to a list, such as `rollcall.rescue-TIME.db`. */
export function toKeptName(path: string, kind: 'rescue' | 'before-restore' | 'before-upgrade'): string {
  const extension = extname(path)
  const time = new Date().toISOString().replaceAll(':', '-')
  return `${basename(path, extension)}.${kind}-${time}${extension}`
}

/** Lists the rescue files of a list, next to it and in the folder above. @param path the real path */
export async function listRescues(path: string): Promise<readonly string[]> {
  const start = `${basename(path, extname(path))}.rescue-`
  const folders = [dirname(path), dirname(dirname(path))].map(async (folder) => {
    // A folder that is missing has none. In one that may not be listed, nobody can see one.
    const names = await readdir(folder).catch(() => [])
    // A program that has opened a rescue file may have left its log.
    return names.filter((name) => name.startsWith(start) && !SIDECAR.test(name)).map((name) => join(folder, name))
  })
  return (await Promise.all(folders)).flat()
}

/** The folder for the copies of a list, where the units of systemd put them. */
export const toBackupFolder = (path: string): string => join(dirname(path), 'backups')

/**
 * When the newest copy in the folder `backups` of a list was written; when that folder was made, if there is none in it. Undefined
 * without the folder: nobody makes copies there, or somebody does in another place. @param path the real path
 */
export function readBackupTime(path: string): Date | undefined {
  const folder = toBackupFolder(path)
  const found = statSync(folder, { throwIfNoEntry: false })
  if (!found?.isDirectory()) return undefined
  const copies = readdirSync(folder).filter((name) => COPY.test(name))
  // The rotation may delete one meanwhile.
  const times = copies.map((name) => statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0)
  const newest = Math.max(0, ...times)
  // Some file systems do not know when a file was made.
  return new Date(newest || found.birthtimeMs || found.ctimeMs)
}

/** The name of a copy that is complete: one that failed leaves no such name, but that of a partial file, which begins with a dot. */
const COPY = /^[^.].*\.db$/
