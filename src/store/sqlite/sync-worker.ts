/** The thread that syncs files while a command writes them. */

import { existsSync, fdatasyncSync, openSync } from 'node:fs'

declare const self: Worker

/** Milliseconds between two rounds. */
const PAUSE_MS = 50

self.onmessage = ({ data: files }: MessageEvent<readonly string[]>) => {
  // Never closed: to close any descriptor of a file drops the locks that SQLite holds on it
  // (https://sqlite.org/howtocorrupt.html, section 2.2).
  const descriptors = new Map<string, number>()
  setInterval(() => {
    for (const file of files) {
      if (!descriptors.has(file) && existsSync(file)) descriptors.set(file, openSync(file, 'r'))
    }
    for (const descriptor of descriptors.values()) fdatasyncSync(descriptor)
  }, PAUSE_MS)
}
