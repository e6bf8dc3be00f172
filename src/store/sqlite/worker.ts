/**
 * The writer thread of a SQLite list. It takes commands one after the other, and answers each in the same
 * order; between them it settles: at leisure while nothing comes in, by force when too much has piled up.
 */

import { toReason } from './file.ts'
import { openSqliteStore, type SqliteStore } from './store.ts'

/** What the thread is told: the path of the list first, then JSON arrays of addresses and calls by name. */
export type Command = { readonly open: string } | { readonly call: 'check' | 'close' } | string

/** What it answers: nothing, or one line about what went wrong. */
export type Reply = { readonly failure?: string }

declare const self: Worker

/** A pause of this many milliseconds is taken for leisure. */
const IDLE_DELAY_MS = 250

/** How long a turn of settling may keep the next commit waiting, in milliseconds. */
const TURN_MS = 2

/** When settling has failed, it is tried again after this many milliseconds. */
const RETRY_MS = 2_000

// The common answer, made once.
const DONE: Reply = {}

let store: SqliteStore
let timer: Timer | undefined

self.onmessage = async ({ data }: MessageEvent<Command>) => {
  clearTimeout(timer)
  if (typeof data === 'string') {
    self.postMessage(append(data))
    compactAfter(store.isOverdue() ? 0 : IDLE_DELAY_MS)
    return
  }
  self.postMessage(await answer(data))
  if (!('call' in data && data.call === 'close')) compactAfter(IDLE_DELAY_MS)
}

function append(addresses: string): Reply {
  try {
    store.append(addresses)
    return DONE
  } catch (error) {
    return { failure: `the list cannot be written: ${toReason(error)}` }
  }
}

async function answer(command: Exclude<Command, string>): Promise<Reply> {
  try {
    if ('open' in command) store = openSqliteStore(command.open)
    else await store[command.call]()
    return DONE
  } catch (error) {
    return { failure: error instanceof Error ? error.message : String(error) }
  }
}

function compactAfter(milliseconds: number): void {
  timer = setTimeout(settle, milliseconds)
}

function settle(): void {
  try {
    if (store.compactFor(TURN_MS)) compactAfter(0)
  } catch {
    // Nothing is lost by it: what has not been compacted stays where it is, on stable storage.
    compactAfter(RETRY_MS)
  }
}
