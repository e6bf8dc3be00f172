/** Fills a new file with a list, row by row: with a copy of one in PostgreSQL. */

import { Database } from 'bun:sqlite'
import { type Count, type ListCopy, StoreError } from '../../subscriber.ts'
import { checkAndCopy } from './backup.ts'
import { wrapErrors } from './error.ts'
import { PAGE_BYTES } from './file.ts'
import { migrate } from './schema.ts'
import { insertSubscribers, insertSuppressions } from './write.ts'

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
    // As in file.ts: a /tmp that is full must not stop it.
    db.run('PRAGMA temp_store = MEMORY')
    migrate(db, file)
    let size = 0
    let suppressed = 0
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
    throw new StoreError(
      `the copy is incomplete: ${after.subscribers} of ${size} addresses, ${after.suppressed} of ${suppressed} suppressions`,
    )
  })
}
