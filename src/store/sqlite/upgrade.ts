/** How the service migrates an older list: once, under the lock of the list, and with a way back. */

import { basename, dirname, extname, join } from 'node:path'
import { renameSynced, withPartialFile } from '../../files.ts'
import { toNumber } from '../../words.ts'
import { copyUnchanged, toKeptName } from './backup.ts'
import { writeSoundly } from './checkpoint.ts'
import { toPath, toStoreError } from './error.ts'
import type { ListFile } from './file.ts'
import { readFreeBytes, readSize } from './paths.ts'
import { openReadOnly } from './read-only.ts'
import { checkVersion, runMigrations, SCHEMA_VERSION } from './schema.ts'
import { waitForLock } from './transaction.ts'

/** Returns the version of an open list if it is older. @throws StoreError when there is no space to migrate it */
export function findOlder({ db }: ListFile): number | undefined {
  const path = toPath(db)
  const version = checkVersion(db, path)
  if (version === SCHEMA_VERSION) return undefined
  checkSpace(path)
  return version
}

/**
 * Migrates an open list that is older. Before that, keeps a backup of it beside it: `rollcall.before-upgrade-TIME.db`. An error or a
 * kill leaves the list as it was, except an error of the commit itself, after which it may be migrated.
 *
 * @returns the path of the backup; undefined when another process has migrated the list meanwhile
 * @throws StoreError when the migration fails
 */
export async function upgrade(list: ListFile): Promise<string | undefined> {
  const { db } = list
  const path = toPath(db)
  // Only the partial file is named after this. There is no time in it, so that the next attempt finds and deletes what a killed one left.
  const partialBase = join(dirname(path), `${basename(path, extname(path))}.before-upgrade${extname(path)}`)
  const kept = join(dirname(path), toKeptName(path, 'before-upgrade'))
  return await withPartialFile(partialBase, path, async (partial) => {
    // Held to the end: the backup has everything that was accepted before the migration.
    waitForLock(() => writeSoundly(list, () => db.run('BEGIN IMMEDIATE')))
    try {
      // Another process may have done it meanwhile.
      const version = checkVersion(db, path)
      const isOlder = version < SCHEMA_VERSION
      if (isOlder) {
        copyTo(partial, path)
        runMigrations(db, version)
        // As late as possible, so that attempts that fail leave no backups. The one of a commit that fails stays: the disk may have
        // the new list even so.
        await renameSynced(partial, kept)
      }
      db.run('COMMIT')
      return isOlder ? kept : undefined
    } catch (error) {
      if (db.inTransaction) db.run('ROLLBACK')
      throw toStoreError(path, error)
    }
  })
}

/** On a connection of its own: SQLite does not copy a list in a transaction. It reads what was committed before the lock. */
function copyTo(partial: string, path: string): void {
  using unchanged = openReadOnly(path, 'keep')
  copyUnchanged(unchanged, partial)
}

/** @throws StoreError unless there is space for the backup, and as much for the log of the migration */
function checkSpace(path: string): void {
  const needed = 2 * (readSize(path) + readSize(`${path}-wal`))
  const free = readFreeBytes(path)
  if (free >= needed) return
  const toMebibytes = (bytes: number) => `${toNumber(Math.ceil(bytes / 2 ** 20))} MiB`
  throw toStoreError(
    path,
    `to migrate it, and to keep the earlier list beside it, needs ${toMebibytes(needed)}, and ${toMebibytes(free)} are free in ${dirname(path)}: make space, and start again`,
  )
}
