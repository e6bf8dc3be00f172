/** Where the files of an open list are. */

import { readlinkSync, realpathSync, type Stats } from 'node:fs'
import { dirname } from 'node:path'
import { isInWalMode } from './header.ts'
import { type HeldFile, isSameFile, readStatus, readTargetId } from './held-file.ts'

export interface Place {
  /** Compares the open files with their paths. Usually costs one call of the system, because every commit waits for it. */
  isKept(): boolean
  /**
   * Does the same, and also finds a symbolic link that leads to another list, and a file that was copied over the list.
   *
   * @returns undefined when the next process that opens the list gets these files; otherwise what happened to which one
   */
  findLoss(): string | undefined
  /** The path at which all files of a lost list are now; undefined when there is none, or it cannot be found. */
  findElsewhere(): string | undefined
}

/**
 * The files of a list: the list, the log with the last commits, and the index of the log. Processes that do not share
 * the index cannot see each other's locks.
 */
const SUFFIXES = ['', '-wal', '-shm'] as const

/** A folder that changed less than so many milliseconds ago may change again without another ctime: clocks have ticks. */
const SETTLED_MS = 3_000

/**
 * Remembers the files of a list.
 *
 * @param path the list, in WAL mode and open
 * @param held the file that SQLite has opened
 */
export function createPlace(path: string, held: HeldFile): Place {
  // SQLite keeps the log next to the real file.
  const file = realpathSync(path)
  const folder = dirname(file)
  const ids = SUFFIXES.map((suffix) => (suffix === '' ? held.id : readStatus(file + suffix)))
  const isAt = (name: string) => SUFFIXES.every((suffix, index) => isSameFile(readStatus(name + suffix), ids[index]))
  let settled: Stats | undefined

  return {
    isKept() {
      // Removing and renaming an entry changes the ctime of its folder (POSIX, unlink and rename).
      const status = readStatus(folder)
      if (settled && isSameFile(status, settled) && status?.ctimeMs === settled.ctimeMs) return true
      // In this order: a change after the first look shows in the folder the next time.
      const isThere = isAt(file)
      settled = isThere && status && Date.now() - status.ctimeMs > SETTLED_MS ? status : undefined
      return isThere
    },

    findLoss() {
      for (const [index, suffix] of SUFFIXES.entries()) {
        const found = readStatus(file + suffix)
        if (!found) return `${file}${suffix} was deleted or moved`
        if (!isSameFile(found, ids[index])) return `another file is at ${file}${suffix}`
      }
      if (path !== file && !isSameFile(readTargetId(path), held.id)) return `${path} leads to another file`
      return isInWalMode(held.descriptor) ? undefined : `another file was copied over ${file}`
    },

    findElsewhere() {
      const name = readName(held.descriptor)
      return name !== undefined && isAt(name) && isInWalMode(held.descriptor) ? name : undefined
    },
  }
}

/** The present path of an open file. Linux only. */
function readName(descriptor: number): string | undefined {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`)
  } catch {
    return undefined
  }
}
