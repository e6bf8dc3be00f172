/** The journal mode of a list: WAL while a process has it open. */

import { Database } from 'bun:sqlite'
import { STORE_DEADLINE_MS } from '../../limits.ts'
import { isBusy, toOpenError } from './error.ts'
import type { ListFile } from './list-file.ts'
import { getRow } from './row.ts'

/**
 * Puts a list into WAL mode. One that was closed is not in it: see findForeignLog.
 *
 * @throws StoreError when its file system cannot share it, SQLiteError when it is damaged, busy or cannot be written
 */
export function startWalMode(db: ListFile): void {
  if (usesWal(db)) return
  readTables(db)
  const end = performance.now() + STORE_DEADLINE_MS
  for (;;) {
    try {
      db.run('PRAGMA journal_mode = WAL')
      break
    } catch (error) {
      // SQLite does not wait here when two processes open the list at once.
      if (!isBusy(error) || performance.now() > end) throw error
      Bun.sleepSync(1 + Math.random() * 4)
    }
  }
  if (!usesWal(db)) throw toOpenError(db.filename, 'its file system cannot share it')
}

/** Marks a list as closed again, when the disk had space for its header and not for a log. Needs no space. */
export function endFailedWalMode(path: string): void {
  using db = new Database(path, { readwrite: true })
  try {
    // The lock excludes other processes, and the index of the log is in memory.
    db.run('PRAGMA locking_mode = EXCLUSIVE')
    db.run('PRAGMA journal_mode = MEMORY')
  } catch {
    // Another process uses the list now, or the disk has errors.
  }
}

const usesWal = (db: ListFile) =>
  getRow(db.query<{ journal_mode: string }, []>('PRAGMA journal_mode')).journal_mode === 'wal'

/** Reads a page of each table, so that a damaged list is refused before anything is written to it. */
function readTables(db: ListFile): void {
  const tables = db.query<{ name: string }, []>(`SELECT name FROM sqlite_schema WHERE type = 'table'`).all()
  for (const { name } of tables) db.query(`SELECT 1 FROM "${name}" LIMIT 1`).get()
}
