/** Puts a backup in the place of a list. */

import { chownSync, createReadStream, createWriteStream, existsSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { createPartialFile, renameSynced } from '../../complete-file.ts'
import { Failure, toFileFailure, toSystemReason, UsageError } from '../../failure.ts'
import { createPrivateFile } from '../../private-file.ts'
import { StoreError } from '../../subscriber.ts'
import type { Content, ContentRequest } from './content-worker.ts'
import { createFolder } from './file.ts'
import { readSignature, TICK_MS } from './file-signature.ts'
import { findForeignLog, hasContent, readFileHeader, toRealPath } from './header.ts'
import { dropFiles, keepList, removeSideFiles } from './kept-list.ts'
import { checkMarks, SCHEMA_VERSION } from './migrations.ts'
import { lockList } from './replacement.ts'
import { runOnThread } from './task-thread.ts'

export interface RestoreOptions {
  readonly signal: AbortSignal
  /** Check everything, and change nothing. */
  readonly dryRun?: boolean | undefined
}

export interface Restored {
  /** What the list held. A text says why that is not known; undefined when there was no list. */
  readonly before: Content | string | undefined
  readonly after: Content
  /** Where the files of the earlier list are now. */
  readonly kept: readonly string[]
  /** A log (WAL) next to the backup that belongs to another file, and was not used. */
  readonly foreignLog: string | undefined
}

/** The files that hold what a list has. */
const PARTS = ['', '-wal', '-journal'] as const

/**
 * Copies a backup to the path of a list, and keeps the earlier list under another name. What is put in place is a copy
 * that was checked and closed. A crash at any moment leaves the old list or the new one.
 *
 * @param backup is not changed, and needs not be closed: its log belongs to it
 * @throws UsageError when the backup is the list itself; StoreError when it is not a sound list, or a process uses the
 * list; Failure when the disk is full; the reason of the signal. Then the list is unchanged.
 */
export async function restoreList(backup: string, list: string, options: RestoreOptions): Promise<Restored> {
  const target = toRealPath(resolve(list))
  const source = findBackup(backup, target)
  const before = await readBefore(target, options.signal)
  // Held to the end: nobody may add to a list that is about to be replaced.
  using _locked = findForeignLog(target) === undefined ? lockList(target) : undefined
  if (!options.dryRun) createFolder(dirname(target))
  const copy = await createPartialFile(join(findFolder(target), basename(target)))
  try {
    const foreignLog = await copyBackup(source, copy, options.signal)
    const after = await runOnThread<ContentRequest, Content>(WORKER, { file: copy, original: backup }, options.signal)
    const kept = options.dryRun ? [] : await replace(copy, target)
    return { before, after, kept, foreignLog }
  } finally {
    dropFiles(['', '-wal', '-shm', '-journal'].map((suffix) => copy + suffix))
  }
}

const WORKER = new URL('./content-worker.ts', import.meta.url)

/** Checks a backup by its header. @returns its real path */
function findBackup(backup: string, target: string): string {
  try {
    const source = realpathSync(backup)
    const { dev, ino } = statSync(source)
    if (!statSync(source).isFile()) throw new StoreError(`${backup}: it is not a file`)
    const found = statSync(target, { throwIfNoEntry: false })
    if (found?.dev === dev && found.ino === ino) throw new UsageError(`${backup} is the list itself`)
    const header = readFileHeader(source)
    if (header === 'empty') throw new StoreError(`there is no list in ${backup}: the file is empty`)
    if (!header) throw new StoreError(`${backup} is not a database, or it is damaged`)
    checkMarks(backup, header)
    return source
  } catch (error) {
    throw toFileFailure(error, backup)
  }
}

/** Reads what the list holds. One of another schema is left as it is. */
async function readBefore(target: string, signal: AbortSignal): Promise<Restored['before']> {
  if (!hasContent(target)) return undefined
  try {
    const header = readFileHeader(target)
    if (!header || header === 'empty') return 'it is not a database, or it is damaged'
    const version = checkMarks(target, header)
    if (version !== SCHEMA_VERSION) return `its schema is version ${version}`
    return await runOnThread<ContentRequest, Content>(WORKER, { file: target }, signal)
  } catch (error) {
    if (error instanceof StoreError) return error.message
    throw toFileFailure(error, target)
  }
}

/** The folder of a list; for a dry run, the one above that exists. */
function findFolder(target: string): string {
  let folder = dirname(target)
  while (!existsSync(folder)) folder = dirname(folder)
  return folder
}

/**
 * Copies the files of a backup. Does not open it with SQLite, which would write next to it.
 *
 * @returns a foreign log, which is left out
 */
async function copyBackup(source: string, copy: string, signal: AbortSignal): Promise<string | undefined> {
  const foreignLog = findForeignLog(source)
  const parts = PARTS.filter((suffix) => hasContent(source + suffix) && source + suffix !== foreignLog)
  const before = readSignature(source, PARTS)
  await sleep(TICK_MS)
  for (const suffix of parts) {
    if (suffix !== '') createPrivateFile(copy + suffix)
    await copyFile(source + suffix, copy + suffix, signal)
  }
  if (readSignature(source, PARTS) === before) return foreignLog
  throw new StoreError(`${source} is in use: it changed while it was copied; use "rollcall backup" to copy it`)
}

async function copyFile(from: string, to: string, signal: AbortSignal): Promise<void> {
  const chunks = { highWaterMark: 1024 * 1024 }
  try {
    await pipeline(createReadStream(from, chunks), createWriteStream(to, { flags: 'r+', ...chunks }), { signal })
  } catch (error) {
    signal.throwIfAborted()
    const reason = toSystemReason(error)
    throw reason === undefined ? error : new Failure(`${from} cannot be copied to ${dirname(to)}: ${reason}`)
  }
}

async function replace(copy: string, target: string): Promise<readonly string[]> {
  giveToOwner(copy, target)
  const kept = await keepList(target)
  try {
    await renameSynced(copy, target)
  } catch (error) {
    dropFiles(kept)
    throw error
  }
  // After the rename: a crash in between leaves a log next to a closed list, which is recognized as foreign.
  removeSideFiles(target)
  return kept
}

/** When the superuser restores a list, the user of the service must be able to open it. */
function giveToOwner(copy: string, target: string): void {
  if (process.getuid?.() !== 0) return
  const { uid, gid } = statSync(existsSync(target) ? target : dirname(target))
  chownSync(copy, uid, gid)
}
