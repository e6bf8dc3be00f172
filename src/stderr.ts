/** Standard error: the log, notes and progress. What cannot be written there is lost, because nothing may depend on it. */

import { writeSync } from 'node:fs'
import { toErrorCode } from './failure.ts'

/** Milliseconds for which a command waits. */
const PATIENCE_MS = 1_000

/**
 * Writes a text at once, so that no line is lost at an exit. Never throws, also when standard error is on a full disk or a
 * closed pipe.
 *
 * @param patience milliseconds for which it waits for the reader of a full pipe. The runtime puts the pipe into non-blocking mode
 */
export function writeError(text: string, patience = PATIENCE_MS): void {
  const end = performance.now() + patience
  let bytes: Uint8Array = Buffer.from(text)
  while (bytes.length > 0) {
    try {
      bytes = bytes.subarray(writeSync(2, bytes))
    } catch (error) {
      if (toErrorCode(error) !== 'EAGAIN' || performance.now() >= end) return
      Bun.sleepSync(5)
    }
  }
}
