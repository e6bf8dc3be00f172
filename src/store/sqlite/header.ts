/** The header of a SQLite file (https://sqlite.org/fileformat2.html#the_database_header), and the log (WAL) next to it. */

import { readlinkSync, readSync, realpathSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { toErrorCode } from '../../failure.ts'
import { holdFile } from './held-file.ts'

export interface Header {
  /** `PRAGMA application_id` and `user_version`, as of the last checkpoint. */
  readonly application: number
  readonly version: number
  /** It has no tables. */
  readonly isEmpty: boolean
  /** It is in WAL mode, so a log next to it may belong to it. */
  readonly isWal: boolean
}

const SIZE = 100

/** Offset of the file format write version: 1 is a rollback journal, 2 is WAL. */
const WRITE_VERSION = 18

/** @returns `empty` for a file without content, undefined for one that is not a database */
export function readHeader(descriptor: number): Header | 'empty' | undefined {
  const bytes = Buffer.alloc(SIZE)
  const length = readSync(descriptor, bytes, 0, SIZE, 0)
  if (length === 0) return 'empty'
  if (length < SIZE || bytes.toString('latin1', 0, 16) !== 'SQLite format 3\0') return undefined
  return {
    application: bytes.readUInt32BE(68),
    version: bytes.readUInt32BE(60),
    isEmpty: bytes.readUInt32BE(28) <= 1,
    isWal: bytes[WRITE_VERSION] === 2,
  }
}

/** The same for a file that exists, by its path. */
export function readFileHeader(path: string): ReturnType<typeof readHeader> {
  const held = holdFile(path)
  try {
    return readHeader(held.descriptor)
  } finally {
    held.release()
  }
}

const mode = Buffer.alloc(1)

/** Whether the header says that the file is in WAL mode. Takes less than a microsecond. */
export function isInWalMode(descriptor: number): boolean {
  return readSync(descriptor, mode, 0, 1, WRITE_VERSION) === 1 && mode[0] === 2
}

/** How often, and after how many milliseconds, a log is looked at again before it counts as foreign. */
const LOOKS = 3
const LOOK_MS = 20

/**
 * Finds a log (WAL) that does not belong to the file next to it. SQLite would play it back into the file, because a log
 * does not name its file.
 *
 * A list that no process has open has no log, and its header says so: closing it ends WAL mode. SQLite sets the mode in
 * the header before it creates a log, and deletes the log before it ends the mode, with a sync in between. So no crash
 * leaves a log next to a header without the mode, to an empty file, or to none.
 *
 * @param path the file, which may be missing
 * @returns the path of the log
 */
export function findForeignLog(path: string): string | undefined {
  const log = `${toRealPath(path)}-wal`
  for (let look = 0; look < LOOKS; look++) {
    if (!hasContent(log) || mayHaveLog(path)) return undefined
    // Another process may have begun to use the list, or closed it, between the two.
    Bun.sleepSync(LOOK_MS)
  }
  return log
}

/** Says what to do about a foreign log. */
export function toForeignReason(log: string): string {
  return `${log} is the log of another list, which was here before; stop every process that uses the list, move this log to another folder, and keep it, because it may hold addresses`
}

export function hasContent(path: string): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0
}

function mayHaveLog(path: string): boolean {
  if (!hasContent(path)) return false
  const header = readFileHeader(path)
  // What is not a database is refused for that reason.
  return header === undefined || (header !== 'empty' && header.isWal)
}

/** Follows symbolic links as SQLite does, also one to a missing file. */
export function toRealPath(path: string): string {
  try {
    return realpathSync(path)
  } catch (error) {
    const target = toErrorCode(error) === 'ENOENT' ? readLink(path) : undefined
    return target === undefined ? path : toRealPath(resolve(dirname(path), target))
  }
}

function readLink(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}
