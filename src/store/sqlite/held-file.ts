/**
 * Descriptors of the files of lists.
 *
 * When a process closes any descriptor of a file, it loses all its locks on that file, also those that SQLite holds
 * through another descriptor (https://sqlite.org/howtocorrupt.html, section 2.2). So the descriptors of a file stay open
 * until this thread has no connection to it any more.
 */

import { closeSync, fstatSync, lstatSync, openSync, type Stats, statSync } from 'node:fs'

/** Identifies a file on this machine, under every name that it has. */
export type FileId = Pick<Stats, 'dev' | 'ino'>

export interface HeldFile {
  readonly descriptor: number
  readonly id: FileId
  /** Call it when the connection that the file was held for is closed. A second call does nothing. */
  release(): void
}

interface Holders {
  /** The descriptors that are not released. */
  readonly using: Set<number>
  /** All that are open. */
  readonly descriptors: number[]
}

const holders = new Map<string, Holders>()

/** Opens a file for reading. */
export function holdFile(path: string): HeldFile {
  const descriptor = openSync(path, 'r')
  const { dev, ino } = fstatSync(descriptor)
  const key = `${dev}:${ino}`
  const held = holders.get(key) ?? { using: new Set(), descriptors: [] }
  holders.set(key, held)
  held.using.add(descriptor)
  held.descriptors.push(descriptor)

  function release(): void {
    if (!held.using.delete(descriptor) || held.using.size > 0) return
    holders.delete(key)
    for (const each of held.descriptors) closeSync(each)
  }

  return { descriptor, id: { dev, ino }, release }
}

const MAY_BE_MISSING = { throwIfNoEntry: false } as const

/** Looks which file has a name; undefined when none has. Does not follow a symbolic link. */
export function readStatus(name: string): Stats | undefined {
  return lstatSync(name, MAY_BE_MISSING)
}

/** The same, for the file that a symbolic link leads to. */
export function readTargetId(name: string): FileId | undefined {
  const status = statSync(name, MAY_BE_MISSING)
  return status && { dev: status.dev, ino: status.ino }
}

export function isSameFile(one: FileId | undefined, other: FileId | undefined): boolean {
  return one?.ino === other?.ino && one?.dev === other?.dev
}
