/** The thread that copies a SQLite list and checks the copy. */

import type { Database } from 'bun:sqlite'
import { openSqliteFile, toReason } from './file.ts'
import { openSqliteStore } from './store.ts'

export interface BackupRequest {
  readonly file: string
  readonly target: string
}

export type BackupReply = { readonly subscribers: number } | { readonly failure: string }

declare const self: Worker

self.onmessage = async ({ data }: MessageEvent<BackupRequest>) => {
  self.postMessage(await answer(data))
}

async function answer({ file, target }: BackupRequest): Promise<BackupReply> {
  try {
    const before = await count(file, false)
    vacuumInto(file, target)
    const after = await count(file, false)
    const subscribers = await count(target, true)
    // Meanwhile the list may have grown, and may have shrunk by suppressions.
    if (subscribers >= Math.min(before, after)) return { subscribers }
    return { failure: `the copy is not whole: it holds ${subscribers} addresses, and the list ${after}` }
  } catch (error) {
    return {
      failure: error instanceof Error && error.name === 'StoreError' ? error.message : toFailure(error, file),
    }
  }
}

function toFailure(error: unknown, file: string): string {
  return `the list ${file} cannot be copied: ${toReason(error)}`
}

/** A copy as of one moment, without the free pages (https://sqlite.org/lang_vacuum.html). */
function vacuumInto(file: string, target: string): void {
  use(openSqliteFile(file, { create: false }), (db) => db.run('VACUUM INTO ?', [target]))
}

async function count(file: string, isCopy: boolean): Promise<number> {
  if (isCopy) use(openSqliteFile(file, { create: false }), check)
  const store = openSqliteStore(file, { create: false })
  try {
    return (await store.count()).subscribers
  } finally {
    await store.close()
  }
}

function check(db: Database): void {
  const { integrity_check: result } = db.query('PRAGMA integrity_check').get() as { integrity_check: string }
  if (result !== 'ok') throw new Error(`the copy is damaged: ${result}`)
}

function use<T>(db: Database, work: (db: Database) => T): T {
  try {
    return work(db)
  } finally {
    db.close()
  }
}
