/** The thread that syncs files while a command writes them. */

import { fdatasyncSync, openSync } from 'node:fs'
import { toErrorCode } from '../../failure.ts'

declare const self: Worker

/** Milliseconds between two rounds. */
const PAUSE_MS = 50

self.onmessage = ({ data: files }: MessageEvent<readonly string[]>) => {
  // Never closed: to close any descriptor of a file drops the locks that SQLite holds on it
  // (https://sqlite.org/howtocorrupt.html, section 2.2).
  const descriptors = new Map<string, number>()
  setInterval(() => {
    for (const file of files) {
      const descriptor = descriptors.get(file) ?? tryOpen(file)
      if (descriptor === undefined) continue
      descriptors.set(file, descriptor)
      fdatasyncSync(descriptor)
    }
  }, PAUSE_MS)
}

/** Returns a descriptor; undefined while there is no such file. */
function tryOpen(file: string): number | undefined {
  try {
    return openSync(file, 'r')
  } catch (error) {
    if (toErrorCode(error) === 'ENOENT') return undefined
    throw error
  }
}
