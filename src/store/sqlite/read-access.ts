/** Three ways to open a list for reading, which write nothing next to it. */

import { constants, type Database } from 'bun:sqlite'
import { pathToFileURL } from 'node:url'

/** The parameters of the URI: https://sqlite.org/uri.html */
const PARAMETERS = {
  // With the locks and the index of the log (WAL) of a process that uses the list, or that was killed.
  shared: 'readonly_shm=1',
  // Without locks, with an index of the log in memory.
  log: 'vfs=unix-none',
  // Without locks and without a log: the file is complete.
  closed: 'immutable=1',
} as const

export type ReadAccess = keyof typeof PARAMETERS

/** The URI and SQLite's flags that open the list at a path. Call `prepareReading` with the connection. */
export function toReadOnly(path: string, access: ReadAccess): { readonly uri: string; readonly flags: number } {
  const flags = constants.SQLITE_OPEN_READONLY | constants.SQLITE_OPEN_URI
  return { uri: `${pathToFileURL(path).href}?${PARAMETERS[access]}`, flags }
}

/** Call it before the first read. */
export function prepareReading(db: Database, access: ReadAccess): void {
  // Without the index of the log, SQLite reads the log only if it has the list for itself.
  if (access === 'log') db.run('PRAGMA locking_mode = EXCLUSIVE')
}
