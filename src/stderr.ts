/** Standard error: the log of a service, and the notes of a command. */

import { writeSync } from 'node:fs'
import { toErrorCode } from './failure.ts'

/** Milliseconds until the next attempt to write to a full pipe. The runtime puts it into non-blocking mode. */
export const PIPE_RETRY_MS = 5

/** Whether a part of a line was written, and the rest is lost. */
let isCut = false

/**
 * Writes a text to standard error at once, so that no line is lost at an exit. Never throws: nothing may depend on it.
 *
 * @param patience milliseconds for which it waits for the reader of a full pipe
 */
export function writeError(text: string, patience = 1_000): void {
  const end = performance.now() + patience
  // After a line that was cut off, this one begins a new line.
  const all = Buffer.from(isCut ? `\n${text}` : text)
  let bytes: Uint8Array = all
  while (bytes.length > 0) {
    try {
      bytes = bytes.subarray(writeSync(2, bytes))
    } catch (error) {
      if (toErrorCode(error) !== 'EAGAIN' || performance.now() >= end) {
        isCut ||= bytes.length < all.length
        return
      }
      Bun.sleepSync(PIPE_RETRY_MS)
    }
  }
  isCut = false
}
