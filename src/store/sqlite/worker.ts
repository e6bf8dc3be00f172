/** The writer thread of the service. It runs one task after the other, replies in the same order, and compacts in between. */

import { dirname } from 'node:path'
import type { Result } from '../../email.ts'
import { OutdatedError, StoreError, type StoreMeasure } from '../../subscriber.ts'
import { toNewList } from '../check.ts'
import { createSchedule, type Schedule } from '../schedule.ts'
import { readBackupTime, rescueList } from './backup.ts'
import { endRun, keepServiceLogShort } from './checkpoint.ts'
import { createCompaction, SLICE_MS } from './compaction.ts'
import { isBusy, toPath, toReason, toStoreError } from './error.ts'
import {
  checkPlace,
  checkWritable,
  closeList,
  commit,
  type ListFile,
  LostListError,
  openListFile,
  write,
} from './file.ts'
import { append, probe, readInboxSince } from './inbox.ts'
import { readFreeBytes } from './paths.ts'
import { block, waitForLock } from './transaction.ts'
import { findOlder, upgrade } from './upgrade.ts'

/**
 * A message to the thread. It has only texts, which is what Bun sends fastest. `open` comes first, then `migrate` for an older list,
 * and `close` last.
 */
export interface Task {
  readonly name: keyof typeof TASKS
  /** For `open` a path, for `append` a JSON array of addresses. */
  readonly text: string
}

/**
 * The reply to the first task that has none yet: to `open` the version of an older list, to `migrate` the path of the backup, to
 * `measure` a StoreMeasure, to `close` whether the list is lost. The reason of a failure is for the owner.
 */
export type Reply = Result<unknown, string>

/** A line for the log. */
export interface Report {
  readonly level: 'info' | 'warn'
  readonly report: string
}

/** Why the service must end. */
export interface Outdated {
  readonly outdated: string
}

declare const self: Worker

// Tasks run in their order: `open` is the first, and `migrate` the next for an older list. So no other task finds these unset.
/** Set by `open`: the list of this thread, also an older one. */
let list: ListFile
/** Set by `start`, after `open` or `migrate`: it compacts as soon as it is there, so the list must have the present schema. */
let schedule: Schedule
/** Whether a lost list was copied. A second copy would only take space, but one that failed is tried again at the close. */
let rescued: 'not yet' | 'failed' | 'done' = 'not yet'

/** Ends when the last task has its reply. */
let last = Promise.resolve()

// One after the other: the reply to a task that overtakes another one would confirm the addresses of that one.
self.onmessage = ({ data }: MessageEvent<Task>) => {
  last = last.then(async () => {
    const reply = await run(data)
    self.postMessage(reply)
    // Only now: the request has its confirmation.
    if (data.name === 'append' && reply.ok) shortenLog()
  })
}

async function run({ name, text }: Task): Promise<Reply> {
  try {
    return { ok: true, value: await TASKS[name](text) }
  } catch (error) {
    announceOutdated(error)
    // At `open`, nothing was confirmed yet.
    if (error instanceof LostListError && name !== 'open') await rescue(error)
    if (error instanceof StoreError) return { ok: false, reason: error.message }
    return { ok: false, reason: `the list cannot be used: ${toReason(error)}` }
  }
}

const TASKS = {
  open,
  migrate,
  append(addresses: string) {
    waitForLock(() => commit(list, () => append(list.db, addresses)))
    list.state.commits++
    schedule.committed()
  },
  probe: () => waitForLock(() => commit(list, () => probe(list.db))),
  ready: () => waitForLock(() => checkWritable(list)),
  measure,
  close,
}

/** @returns the version of an older list: then `migrate` is the next task. Otherwise the list is in use */
function open(file: string): number | undefined {
  list = openListFile(file)
  const older = findOlder(list)
  if (older === undefined) start()
  return older
}

/** @returns the path of the backup of the earlier list, unless another process has made it */
async function migrate(): Promise<string | undefined> {
  const kept = await upgrade(list)
  start()
  return kept
}

function start(): void {
  if (list.isNew) report('warn', toNewList(toPath(list.db)))
  const { slice } = createCompaction(list.db)
  schedule = createSchedule(() => compact(slice), report)
}

/** Tells the service that it must end, because a newer program has migrated the list. */
function announceOutdated(error: unknown): void {
  if (error instanceof OutdatedError) self.postMessage({ outdated: error.message } satisfies Outdated)
}

function measure(): StoreMeasure {
  const { db } = list
  const path = toPath(db)
  const freeBytes = readFreeBytes(dirname(path))
  return {
    inboxSince: readInboxSince(db),
    compactionFails: schedule.isFailing(),
    backupAt: readBackupTimeOrNothing(path),
    freeBytes,
  }
}

/** Another user may have made the folder of the backups. `doctor` says so; a scrape still has the other figures. */
function readBackupTimeOrNothing(path: string): Date | undefined {
  try {
    return readBackupTime(path)
  } catch {
    return undefined
  }
}

/** @returns whether the list is lost */
async function close(): Promise<boolean> {
  await schedule.stop()
  const loss = closeList(list)
  if (loss) await rescue(loss, { isLast: true })
  return loss !== undefined
}

/** Milliseconds until a slice is tried again that others keep from working. */
const BUSY_MS = 20

/**
 * Runs a slice of compaction if the lock is free and no long reader holds the log: a request that comes meanwhile must not wait for
 * them. A slice takes SLICE_MS with any addresses, so that the time of a request does not tell which came before it.
 */
async function compact(slice: () => boolean): Promise<boolean> {
  const end = performance.now() + SLICE_MS
  try {
    // `write` does it too, but the log comes first, and is moved into the list only if that is at its path.
    checkPlace(list)
    if (!keepServiceLogShort(list)) {
      const hasMore = write(list, slice)
      if (!hasMore) endRun(list)
      block(end - performance.now())
      return hasMore
    }
  } catch (error) {
    announceOutdated(error)
    if (!isBusy(error)) throw toStoreError(toPath(list.db), error)
  }
  // The lock is taken, or a long reader holds the log. This is no failure, so the schedule must not wait for as long as after one.
  await Bun.sleep(BUSY_MS)
  return true
}

/** Keeps the log short after a reply: the next request waits for it, and not the one that was confirmed. */
function shortenLog(): void {
  try {
    keepServiceLogShort(list)
  } catch (error) {
    report('warn', `the write-ahead log of the list cannot be moved into it: ${toReason(error, toPath(list.db))}`)
  }
}

function report(level: Report['level'], text: string): void {
  self.postMessage({ level, report: text } satisfies Report)
}

/** Copies what the open files of a lost list hold. When that fails, as on a full disk, the close tries once more. */
async function rescue({ message }: LostListError, { isLast = false } = {}): Promise<void> {
  if (rescued === 'done' || (rescued === 'failed' && !isLast)) return
  try {
    const file = await rescueList(list.db)
    rescued = 'done'
    report('warn', `${message}; the addresses of the open file are in ${file}`)
  } catch (error) {
    rescued = 'failed'
    const rest = isLast
      ? 'its addresses are lost'
      : 'correct that, and stop the service: it tries once more, and then its addresses are lost'
    report('warn', `${message}; the open file cannot be copied: ${toReason(error)}; ${rest}`)
  }
}
