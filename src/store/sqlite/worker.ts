/**
 * The writer thread of a SQLite list. It runs commands one after the other, and replies in the same order. It
 * compacts while no command comes in, or after each command when the backlog is large.
 */

import type { Result } from '../../result.ts'
import { StoreError } from '../../subscriber.ts'
import { toReason } from './error.ts'
import { openSqliteStore, type SqliteStore } from './store.ts'

/** A JSON array of addresses, or a call. `open` comes first. */
export type Command = string | { readonly call: 'open'; readonly file: string } | { readonly call: 'check' | 'close' }

export type Reply = Result<void, string>

declare const self: Worker

/** Compaction starts after this many milliseconds without a command. */
const IDLE_DELAY_MS = 250

/** Milliseconds for which compaction may keep the next commit waiting. */
const SLICE_MS = 2

/** Milliseconds until compaction is tried again after a failure. */
const RETRY_MS = 2_000

const DONE: Reply = { ok: true, value: undefined }

let store: SqliteStore
let timer: Timer | undefined

self.onmessage = async ({ data }: MessageEvent<Command>) => {
  clearTimeout(timer)
  self.postMessage(await run(data))
  if (typeof data === 'string') scheduleCompaction(toDelay())
  else if (data.call !== 'close') scheduleCompaction(IDLE_DELAY_MS)
}

/** Returns the milliseconds from a commit until compaction. */
function toDelay(): number {
  try {
    return store.isBacklogLarge() ? 0 : IDLE_DELAY_MS
  } catch {
    // The list may be unreadable although its log can be written. An error here would end the thread.
    return RETRY_MS
  }
}

async function run(command: Command): Promise<Reply> {
  try {
    if (typeof command === 'string') store.append(command)
    else if (command.call === 'open') store = openSqliteStore(command.file)
    else await store[command.call]()
    return DONE
  } catch (error) {
    if (error instanceof StoreError) return { ok: false, reason: error.message }
    return { ok: false, reason: `the list cannot be written: ${toReason(error)}` }
  }
}

function scheduleCompaction(milliseconds: number): void {
  timer = setTimeout(compact, milliseconds)
}

function compact(): void {
  try {
    if (store.compactFor(SLICE_MS)) scheduleCompaction(0)
  } catch {
    // Nothing is lost: the addresses stay in the inbox, on stable storage.
    scheduleCompaction(RETRY_MS)
  }
}
