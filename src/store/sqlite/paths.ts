/** The paths of a SQLite list: which files are there, whether they belong together, and new ones with private modes. */

import { chmodSync, existsSync, fstatSync, openSync, readSync, type Stats, statfsSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { IS_FOLDER, toErrorCode, UsageError } from '../../failure.ts'
import {
  BACKUP_ID,
  followLinks,
  MARK_OFFSET,
  readProcess,
  SIDECAR,
  syncPath,
  WRITE_VERSION_OFFSET,
} from '../../files.ts'
import { createFolders } from '../../owner.ts'
import { MissingListError } from '../../subscriber.ts'
import { toStoreError } from './error.ts'

/** @throws MissingListError */
export function checkExists(path: string): void {
  if (!existsSync(path)) throw toMissing(path)
  if (!hasContent(path)) throw toMissing(`${path} (the file is empty)`)
}

/** The error of a list that is not there. @param place its path or URL */
export function toMissing(place: string): MissingListError {
  return new MissingListError(
    `there is no list at ${place}: use the folder and the settings of the service, or --list; if it was deleted, restore a backup`,
  )
}

/**
 * Refuses a log (WAL) that does not belong to the file next to it: SQLite would play it back into the file, or delete it.
 * A list is in WAL mode before it has a log. A backup is not, so a log next to one was there before. @throws StoreError
 */
export function refuseForeignLog(path: string): void {
  const log = `${path}-wal`
  if (!hasContent(log) || isInWalMode(path)) return
  throw toStoreError(
    path,
    `${log} is the write-ahead log of another list, which was here before; stop every process that uses the list, move this log to another folder, and keep it, because it may hold addresses`,
  )
}

/**
 * Open descriptors, by the id of the file. They stay open: when a process closes any descriptor of a file, it loses the
 * locks that SQLite holds on it (https://sqlite.org/howtocorrupt.html, section 2.2).
 */
const descriptors = new Map<string, number>()

/** Opens a list for reading, or returns the descriptor that is open already. @param id of the file. @throws ENOENT */
export function keepDescriptor(path: string, id = readFileId(path)): number {
  const known = id === undefined ? undefined : descriptors.get(id)
  if (known !== undefined) return known
  const descriptor = openSync(path, 'r')
  // Of what was opened: another file may be at the path since `id` was read.
  descriptors.set(toFileId(fstatSync(descriptor)), descriptor)
  return descriptor
}

/** Whether a file is in WAL mode, as every list in use is. A backup is not, and a list that was restored is not yet. */
export function isInWalMode(path: string): boolean {
  return readHeader(path)?.[WRITE_VERSION_OFFSET] === 2
}

/** Whether a file is marked as a backup. One that is used as a list loses the mark before anything is written to it. */
export function isBackup(path: string): boolean {
  return readHeader(path)?.readUInt32BE(MARK_OFFSET) === BACKUP_ID
}

/** Bytes of the header of a SQLite database. */
const HEADER_BYTES = 100

/** Reads the header of a database. Undefined when the file is missing, or shorter. */
function readHeader(path: string): Buffer | undefined {
  const id = readFileId(path)
  if (id === undefined) return undefined
  const header = Buffer.alloc(HEADER_BYTES)
  return readSync(keepDescriptor(path, id), header, 0, HEADER_BYTES, 0) === HEADER_BYTES ? header : undefined
}

/**
 * Refuses a file that is mounted without its folder, as with `docker run --volume ./rollcall.db:/data/rollcall.db`. Its log would
 * be in the folder, on another file system, and the addresses in it would be gone with the container. @throws StoreError
 */
export function refuseLoneMount(path: string): void {
  if (!isMountPoint(path)) return
  const folder = dirname(path)
  throw toStoreError(
    path,
    `only this file is mounted, and its write-ahead log, which has the latest addresses, would be lost with ${folder}: mount a folder at ${folder}, with the list in it`,
  )
}

/** Whether something is mounted at a path (proc_pid_mountinfo(5)). False if the system does not say. */
function isMountPoint(path: string): boolean {
  const place = path.replace(/[ \t\n\\]/g, (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`)
  const mounts = readProcess('mountinfo').toString().split('\n')
  return mounts.some((line) => line.split(' ')[4] === place)
}

/** The device and the inode of a file: equal for all links to it. Undefined when there is no file. */
export function readFileId(path: string): string | undefined {
  try {
    return toFileId(statSync(path))
  } catch (error) {
    // A file may be in the place of its folder.
    if (/^(?:ENOENT|ENOTDIR)$/.test(toErrorCode(error))) return undefined
    throw error
  }
}

const toFileId = ({ dev, ino }: Stats): string => `${dev}:${ino}`

/** Bytes of a file; 0 when it is missing. */
export function readSize(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

export const hasContent = (path: string): boolean => readSize(path) > 0

/** Free bytes on the disk of a file or folder. */
export function readFreeBytes(path: string): number {
  const { bavail, bsize } = statfsSync(path)
  return bavail * bsize
}

/** Makes a path absolute, and follows links, as SQLite does. @throws UsageError for a file that SQLite may delete; StoreError */
export function toRealPath(file: string): string {
  const path = resolve(file)
  try {
    const real = followLinks(path)
    const found = statSync(real, { throwIfNoEntry: false })
    if (found?.isDirectory()) throw toStoreError(real, IS_FOLDER)
    // To open a FIFO would wait for somebody who writes into it.
    if (found && !found.isFile()) throw toStoreError(real, 'it is not a regular file: correct the path')
    if (!SIDECAR.test(real)) return real
    throw new UsageError(`the list is "${real}": use a name that does not end in -wal, -shm or -journal`)
  } catch (error) {
    throw toStoreError(path, error)
  }
}

/** Creates a missing folder, and those above it. */
export function createFolder(folder: string): void {
  for (const path of createFolders(folder, 0o700)) {
    // The umask may have taken permissions from the owner. A file system without modes refuses any change.
    if ((statSync(path).mode & 0o777) !== 0o700) chmodSync(path, 0o700)
    // A new folder is durable when the folder that holds it is synced.
    syncPath(dirname(path))
  }
}
