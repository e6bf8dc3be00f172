/**
 * The writer thread of a SQLite list. It runs commands one after the other, and replies in the same order. It
 * compacts while no command comes in, or after each command when the backlog is large.
 */

import type { Result } from '../../result.ts'
import { StoreError } from '../../subscriber.ts'
import { toReason } from './error.ts'
import type { FileId } from './held-file.ts'
import { createLook, type Report } from './lost-list.ts'
import { openSqliteStore, type SqliteStore } from './store.ts'

/** A JSON array of addresses, or a call. `open` comes first. With `id`, it opens only that file. */
export type Command =
  | string
  | { readonly call: 'open'; readonly file: string; readonly id?: FileId | undefined }
  | { readonly call: 'check' | 'measure' | 'close' }

export type Reply = Result<void, string>

/** When the oldest address in the inbox was accepted, in milliseconds since 1970. Comes before the reply to `measure`. */
export interface Measure {
  readonly inboxSince: number | undefined
}

/** A reply to the first command that has none yet, or a report, which comes at any time. */
export type Message = Reply | Report | Measure

declare const self: Worker

/** Compaction starts after this many milliseconds without a command. */
const IDLE_DELAY_MS = 250

/** Milliseconds for which compaction may keep the next commit waiting. */
const SLICE_MS = 2

/** Milliseconds until compaction is tried again after a failure. */
const RETRY_MS = 2_000

/** Milliseconds until a loss is noticed while no command comes in. */
const LOOK_MS = 1_000

const DONE: Reply = { ok: true, value: undefined }

let store: SqliteStore
let timer: Timer | undefined
let look = async () => {}

self.onmessage = async ({ data }: MessageEvent<Command>) => {
  clearTimeout(timer)
  const reply = await run(data)
  send(reply)
  if (!reply.ok) await lookAgain()
  if (typeof data === 'string') scheduleCompaction(toDelay())
  else if (data.call !== 'close') scheduleCompaction(IDLE_DELAY_MS)
}

const send = (message: Message): void => self.postMessage(message)

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
    else if (command.call === 'open') open(command.file, command.id)
    else if (command.call === 'close') await close()
    else if (command.call === 'measure') send({ inboxSince: store.inboxSince() })
    else await store.check()
    return DONE
  } catch (error) {
    if (error instanceof StoreError) return { ok: false, reason: error.message }
    return { ok: false, reason: `the list cannot be written: ${toReason(error)}` }
  }
}

function open(file: string, id: FileId | undefined): void {
  // The thread starts again after a crash, and then the list exists.
  store = openSqliteStore(file, { create: id === undefined, id, notify: (text) => send({ report: 'info', text }) })
  try {
    store.settleNumbers()
  } catch {
    // Another process has the lock, for example. The first commit does it.
  }
  look = createLook(store, send)
  setInterval(() => void lookAgain(), LOOK_MS)
}

/** Closes the list. One that is lost stays open: SQLite could delete a log that has its path. */
async function close(): Promise<void> {
  await look()
  const loss = store.findLoss()
  if (loss !== undefined) throw new StoreError(`the list is lost: ${loss}`)
  await store.close()
}

async function lookAgain(): Promise<void> {
  try {
    await look()
  } catch {
    // The folder cannot be read at the moment. The next commit fails for that reason.
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
