/** The thread that copies a SQLite list and checks the copy. */

import { createPrivateFile } from '../../private-file.ts'
import type { Result } from '../../result.ts'
import { StoreError } from '../../subscriber.ts'
import { toReason } from './error.ts'
import { openSqliteFile } from './file.ts'
import { checkClosed, checkComplete, checkIntegrity } from './integrity.ts'
import { openSqliteStore } from './store.ts'

export interface BackupRequest {
  readonly file: string
  readonly target: string
}

/** The number of addresses in the copy, or one line that says what went wrong. */
export type BackupReply = Result<number, string>

declare const self: Worker

self.onmessage = async ({ data }: MessageEvent<BackupRequest>) => {
  self.postMessage(await copy(data))
}

async function copy({ file, target }: BackupRequest): Promise<BackupReply> {
  try {
    // Compacts, so that the copy has little to compact.
    await count(file)
    using db = openSqliteFile(file, { create: false, orReadOnly: true })
    // VACUUM INTO accepts an empty file.
    createPrivateFile(target)
    // A consistent copy without free pages (https://sqlite.org/lang_vacuum.html).
    db.run('VACUUM INTO ?', [target])
    db.checkUnchanged()
    checkIntegrity(target)
    checkComplete(target)
    const copied = await count(target)
    checkClosed(target)
    return { ok: true, value: copied }
  } catch (error) {
    const reason = error instanceof StoreError ? error.message : `the list ${file} cannot be copied: ${toReason(error)}`
    return { ok: false, reason }
  }
}

async function count(file: string): Promise<number> {
  const store = openSqliteStore(file, { create: false, orReadOnly: true })
  try {
    return (await store.count()).subscribers
  } finally {
    await store.close()
  }
}
