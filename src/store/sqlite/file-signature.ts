/** Tells whether the files of a list were changed by another process while this one reads them without locks. */

import { statSync } from 'node:fs'

/** Clocks of file systems have ticks: a write after so many milliseconds gives a file another time. */
export const TICK_MS = 20

/**
 * Returns a text that changes when one of the files is created, written, replaced or deleted. It ignores the ctime,
 * because SQLite may change the owner of a log that it opens.
 *
 * @param suffixes of the files, such as `-wal`
 */
export function readSignature(list: string, suffixes: readonly string[]): string {
  const files = suffixes.map((suffix) => statSync(list + suffix, { bigint: true, throwIfNoEntry: false }))
  return files.map((file) => (file ? [file.dev, file.ino, file.size, file.mtimeNs].join(':') : 'missing')).join()
}
