/** Reads a list after its inbox was moved to it, or with its inbox when it cannot be written. */

import { StoreError } from '../../subscriber.ts'
import { isWriteError, toReason, wrapErrors } from './error.ts'
import type { ListFile } from './list-file.ts'
import type { SqliteReader } from './read.ts'

/** Pages between two forced garbage collections. Without them a long command uses three times as much memory. */
const PAGES_PER_COLLECTION = 100

interface Parts {
  /** Moves the inbox to the list. */
  readonly compact: () => Promise<void>
  readonly reader: SqliteReader
  /** Reads the inbox, and returns a reader of the list with it. */
  readonly readInbox: () => SqliteReader
}

export interface CompactedReads {
  /** Compacts, then reads. What is accepted in between is left for the next read. */
  read<T>(work: (from: SqliteReader) => T): Promise<T>
  /** The same for work that yields pages. Other processes may write between two of them. */
  readPages<T>(work: (from: SqliteReader) => Generator<T>): AsyncGenerator<T>
  /** @throws StoreError when the list cannot be written, as far as that is known */
  checkWritable(): void
}

export function createCompactedReads(db: ListFile, { compact, reader, readInbox }: Parts): CompactedReads {
  let writeError = db.writeError

  /** Returns whether compaction was possible. */
  async function tryCompact(): Promise<boolean> {
    if (db.writeError) return false
    try {
      await compact()
      writeError = undefined
      return true
    } catch (error) {
      if (!isWriteError(error)) throw error
      writeError = new StoreError(`the list ${db.filename} cannot be written: ${toReason(error)}`)
      return false
    }
  }

  const readNow = <T>(work: () => T) =>
    wrapErrors(db, async () => {
      const result = work()
      db.checkUnchanged()
      return result
    })

  async function read<T>(work: (from: SqliteReader) => T): Promise<T> {
    if (await wrapErrors(db, tryCompact)) return await readNow(() => work(reader))
    return await readNow(db.transaction(() => work(readInbox())))
  }

  return {
    read,
    async *readPages<T>(work: (from: SqliteReader) => Generator<T>) {
      const pages = await read(work)
      for (let taken = 1; ; taken++) {
        if (taken % PAGES_PER_COLLECTION === 0) Bun.gc(true)
        const { value, done } = await readNow(() => pages.next())
        if (done) return
        yield value
      }
    },
    checkWritable() {
      if (writeError) throw writeError
    },
  }
}
