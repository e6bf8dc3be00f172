/** New files of lists that are copies of other lists. Such a file is complete, or not there. */

import { Database } from 'bun:sqlite'
import { dirname } from 'node:path'
import { createPrivateFile, renameSynced, withPartialFile } from '../../files.ts'
import { type Count, type ListCopy, StoreError } from '../../subscriber.ts'
import { checkAndCopy, readSummary } from './backup.ts'
import { toStoreError, wrapErrors } from './error.ts'
import { openListFile, PAGE_BYTES } from './file.ts'
import { createFolder, hasContent, refuseForeignLog, toRealPath } from './paths.ts'
import { lockList } from './restore.ts'
import { checkVersion, migrate } from './schema.ts'
import { insertSubscribers, insertSuppressions } from './write.ts'

/**
 * Creates the file of a list, or replaces that of an empty one that no process uses. A crash at any moment leaves what was there
 * before, or the whole list. @throws StoreError; what `write` throws, which fills an empty file
 */
export async function createListFile<T>(file: string, write: (partial: string) => Promise<T>): Promise<T> {
  const path = toRealPath(file)
  refuseForeignLog(path)
  // Before the copy, which takes long. Under the lock that puts it in place, it is checked again.
  if (hasContent(path)) lockEmptyList(path).close()
  createFolder(dirname(path))
  return await withPartialFile(path, path, async (partial) => {
    const result = await write(partial)
    {
      // The mode of a list in use: otherwise it would pass for a backup, which the next backup may replace.
      using db = new Database(partial, { readwrite: true })
      db.run('PRAGMA journal_mode = WAL')
    }
    // A service may have begun to use this path, and its addresses must not be replaced.
    createPrivateFile(path, { mayExist: true })
    using _locked = lockEmptyList(path)
    await renameSynced(partial, path)
    return result
  })
}

/** Keeps other processes from opening a file that has no list, or an empty one, until the connection is closed. */
function lockEmptyList(path: string): Database {
  if (hasContent(path)) {
    // Before the lock, which takes any list out of WAL mode, also one that is not empty.
    using db = openListFile(path, 'change').db
    refuseContent(db, path)
  }
  const db = lockList(path, (locked) => refuseContent(locked, path))
  if (!db) throw toStoreError(path, 'it is damaged')
  return db
}

function refuseContent(db: Database, path: string): void {
  if (checkVersion(db, path) === 0) return
  const { subscribers, suppressed, inbox } = readSummary(db)
  if (subscribers + suppressed + inbox === 0) return
  throw new StoreError('the list to copy to is not empty: use "rollcall export" and "rollcall import" instead')
}

/** Identities that are added in one commit, which syncs a few megabytes. */
const PART = 50_000

/**
 * Fills an empty file with a list. Each statement commits, so that no sync has much to write: a service on the same disk would wait
 * for it. A crash leaves a file that nobody uses, so nothing is written that could undo a change. @throws as `fillList` of open.ts
 */
export async function fillFile(
  file: string,
  { head, subscribers, suppressions }: ListCopy,
  signal: AbortSignal,
): Promise<Count> {
  using db = new Database(file, { readwrite: true })
  return await wrapErrors(db, async () => {
    db.run(`PRAGMA page_size = ${PAGE_BYTES}`)
    db.run('PRAGMA journal_mode = OFF')
    db.run('PRAGMA synchronous = FULL')
    db.run('PRAGMA cache_size = -16384')
    migrate(db, file)
    let [size, suppressed] = [0, 0]
    for await (const page of subscribers) {
      insertSubscribers(db, page)
      size += page.length
    }
    for await (const page of suppressions) {
      insertSuppressions(db, page)
      suppressed += page.length
    }
    // In their order, each page of `identities` is written once.
    db.run('CREATE TEMP TABLE sorted AS SELECT lower(email) AS identity, seq FROM subscribers ORDER BY identity')
    const insert = db.query('INSERT INTO identities SELECT identity, seq FROM sorted WHERE rowid > ?1 AND rowid <= ?2')
    for (let start = 0; start < size; start += PART) insert.run(start, start + PART)
    // None of the suppressions is of a subscriber.
    db.query('UPDATE list SET id = ?1, suppression_key = ?2, last_seq = ?3, forgotten_seq = ?3').run(
      head.id,
      head.suppressionKey,
      head.lastSeq,
    )
    // Without a target, it only checks.
    const after = await checkAndCopy({ source: file }, signal)
    if (after.subscribers === size && after.suppressed === suppressed) return after
    throw new StoreError(`the copy is incomplete: ${after.subscribers} of ${size} addresses`)
  })
}
