/** The writer thread of the service. It runs one command after the other, replies in the same order, and compacts in between. */

import type { Result } from '../../email.ts'
import { StoreError } from '../../subscriber.ts'
import { createSchedule, type Schedule, type Slice } from '../schedule.ts'
import { rescueList } from './backup.ts'
import { createCompaction } from './compaction.ts'
import { isBusy, toReason, toStoreError } from './error.ts'
import { type ListFile, LostListError, openListFile } from './file.ts'
import { append, type Batch, probe, readInboxSince } from './inbox.ts'
import { checkWritable } from './store.ts'
import { waitForLock } from './transaction.ts'

/** The commands, each with its reply. `open` comes first, `close` last. */
export interface Commands {
  open(command: { readonly file: string }): void
  append(command: Batch): void
  probe(): void
  check(): void
  measure(): { readonly inboxSince: Date | undefined; readonly compactionFails: boolean }
  /** SQLite must not close a lost list: see ListFile. Its thread must not end before the process. */
  close(): Promise<'closed' | 'lost'>
}

export type Name = keyof Commands

/** A command as a message: its name, and what it needs. Only texts and numbers, which is what Bun sends fastest. */
export type Command = { [N in Name]: { readonly name: N } & Needs<N> }[Name]

/** What a command needs beside its name. */
export type Needs<N extends Name> = Parameters<Commands[N]> extends [infer Fields] ? Fields : object

type Value = Awaited<ReturnType<Commands[Name]>>

/** The reply to the first command that has none yet. The reason of a failure is for the owner. */
export type Reply = Result<Value, string>

/** A line for the log. */
export interface Report {
  readonly level: 'info' | 'warn'
  readonly report: string
}

declare const self: Worker

let list: ListFile
let schedule: Schedule
let checkedAt = Number.NEGATIVE_INFINITY
let isRescued = false

/** Ends when the last command has its reply. */
let last = Promise.resolve()

// One after the other: the reply to a command that overtakes another one would confirm the addresses of that one.
self.onmessage = ({ data }: MessageEvent<Command>) => {
  last = last.then(async () => self.postMessage(await run(data)))
}

const commands: Commands = {
  open({ file }) {
    list = openListFile(file)
    // This thread waits for the lock by itself: see waitForLock.
    list.db.run('PRAGMA busy_timeout = 0')
    const compaction = createCompaction(list.db)
    schedule = createSchedule(() => tryCompact(compaction.slice), report)
  },
  append(batch) {
    commit(() => append(list.db, batch))
    schedule.committed()
  },
  probe: () => commit(() => probe(list.db)),
  check: () => waitForLock(() => checkWritable(list)),
  measure: () => ({ inboxSince: readInboxSince(list.db), compactionFails: schedule.isFailing() }),
  async close() {
    await schedule.stop()
    try {
      list.checkPlace()
    } catch (error) {
      await rescue(error as LostListError)
      return 'lost'
    }
    list.close()
    return 'closed'
  },
}

async function run(command: Command): Promise<Reply> {
  try {
    const execute = commands[command.name] as (command: Command) => Value | Promise<Value>
    return { ok: true, value: await execute(command) }
  } catch (error) {
    if (error instanceof LostListError) await rescue(error)
    if (error instanceof StoreError) return { ok: false, reason: error.message }
    return { ok: false, reason: `the list cannot be written: ${toReason(error)}` }
  }
}

/**
 * Milliseconds for which the check after a commit also counts as the one before the next. A busy service then looks at its
 * files once for each commit. No check is closer to a commit than a commit takes.
 */
const PLACE_MS = 5

/** Commits to a list whose files are at their paths, before and after it. */
function commit(work: () => void): void {
  waitForLock(() => {
    if (performance.now() - checkedAt > PLACE_MS) list.checkPlace()
    work()
  })
  // After the sync and before the confirmation, so that only addresses in the files at the paths are confirmed.
  list.checkPlace()
  checkedAt = performance.now()
}

/** Runs a slice of compaction, if the lock is free: a request that comes meanwhile must not wait for a slice that waits. */
function tryCompact(slice: () => Slice): Slice {
  try {
    list.checkPlace()
    return slice()
  } catch (error) {
    if (isBusy(error)) return { moved: 0, left: true }
    throw error instanceof StoreError ? error : toStoreError(list.db, error)
  }
}

function report(level: Report['level'], text: string): void {
  self.postMessage({ level, report: text } satisfies Report)
}

/** Copies what the open files of a lost list hold. Tries once, because the owner must repair the list anyway. */
async function rescue({ message }: LostListError): Promise<void> {
  if (isRescued) return
  isRescued = true
  report('warn', `${message}; ${await rescueList(list.db)}`)
}
