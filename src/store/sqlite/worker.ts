/**
 * The writer thread of the service. It runs one command after the other, and replies in the same order. It compacts while
 * no command comes in, or after each commit when the backlog is large.
 */

import type { Result } from '../../failure.ts'
import { StoreError } from '../../subscriber.ts'
import { createSchedule, type Schedule } from '../schedule.ts'
import { rescueList } from './backup.ts'
import { append, createCompaction, readInboxSince } from './compaction.ts'
import { toReason } from './error.ts'
import { type ListFile, LostListError, openListFile } from './file.ts'
import { checkWritable } from './store.ts'
import { waitForLock } from './transaction.ts'

/** A JSON array of addresses, or a call. `open` comes first. */
export type Command =
  | string
  | { readonly call: 'open'; readonly file: string }
  | { readonly call: 'check' | 'measure' | 'close' }

/** The reply to the first command that has none yet. `measure` returns the time of the oldest address in the inbox. */
export type Reply = Result<Date | undefined, string>

/** A line for the log. */
export interface Report {
  readonly report: string
}

declare const self: Worker

const DONE: Reply = { ok: true, value: undefined }

let list: ListFile
let schedule: Schedule
let isRescued = false

/** Ends when the last command has its reply. */
let last = Promise.resolve()

// One after the other: the reply to a command that overtakes another one would confirm the addresses of that one.
self.onmessage = ({ data }: MessageEvent<Command>) => {
  last = last.then(async () => self.postMessage(await run(data)))
}

async function run(command: Command): Promise<Reply> {
  try {
    if (typeof command === 'string') accept(command)
    else if (command.call === 'open') open(command.file)
    else if (command.call === 'close') await close()
    else if (command.call === 'measure') return { ok: true, value: readInboxSince(list.db) }
    else waitForLock(() => checkWritable(list))
    return DONE
  } catch (error) {
    if (error instanceof LostListError) await rescue(error)
    if (error instanceof StoreError) return { ok: false, reason: error.message }
    return { ok: false, reason: `the list cannot be written: ${toReason(error)}` }
  }
}

function accept(addresses: string): void {
  list.checkPlace()
  schedule.committed(waitForLock(() => append(list.db, addresses)))
  // After the sync and before the confirmation, so that only addresses in the files at the paths are confirmed.
  list.checkPlace()
}

function open(file: string): void {
  list = openListFile(file)
  // This thread waits for the lock by itself: see waitForLock.
  list.db.run('PRAGMA busy_timeout = 0')
  const compact = createCompaction(list.db)
  schedule = createSchedule(() => {
    list.checkPlace()
    return waitForLock(() => compact())
  })
}

async function close(): Promise<void> {
  await schedule?.stop()
  list.checkPlace()
  list.close()
}

/** Copies what the open files of a lost list hold. Tries once, because the owner must repair the list anyway. */
async function rescue({ message }: LostListError): Promise<void> {
  if (isRescued) return
  isRescued = true
  self.postMessage({ report: `${message}; ${await rescueList(list.db)}` } satisfies Report)
}
