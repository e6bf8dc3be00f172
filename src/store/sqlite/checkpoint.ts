/**
 * The log (WAL) of a SQLite list, and when it is moved into the list. This is the whole strategy of checkpoints.
 *
 * SQLite would do it in the commit that makes the log longer than 1,000 pages. That is switched off (`wal_autocheckpoint = 0`), for
 * two reasons. That commit would be slow, and which commit it is depends on the pages that compaction wrote, so on who is on the
 * list: a stranger who counts his own requests would see it. And SQLite ignores an error of such a checkpoint (sqlite3WalDefaultHook
 * in main.c), which hides a failed disk. So only these do it. None of them is in the commit of a request, except after a failed write,
 * which is the last part of this text:
 *
 *   service, last slice of compaction      after RUN_COMMITS of its commits: see below.
 *   service, between requests              from LOG_PAGES on, after a reply and before a slice of compaction: for a load that leaves
 *                                          no run of compaction to its end.
 *   command, after each transaction        from COMMAND_PAGES on: more would hold up the syncs of a service for seconds on a slow disk.
 *                                          Not after `add` and `probe`, which only tests call on a store for commands.
 *   a process that opens it to write       a log that no other process uses (`moveLeftLog`).
 *   `restore` and `copy`                   all of the log, of the list that they lock and replace.
 *   whoever closes the list as the last    SQLite does it, and deletes the log. It ignores an error of that: see closeList.
 *
 * The last slice of a run goes by commits, because everybody may know how many there were. Nobody sees the checkpoint in the time of its
 * slice: each slice takes SLICE_MS at least, even if it finds nothing. RUN_COMMITS of a quiet list make a log of about 700 pages, which is below
 * LOG_PAGES, so on such a list only this checkpoint moves the log.
 *
 * LOG_PAGES is a net. With more pages, one checkpoint holds up requests for longer; with fewer, pages that change again and again are moved
 * more often. The number is drawn between it and its double, after each such checkpoint that made the log short: nobody can count to it.
 *
 * A long reader, such as a backup, keeps its pages in the log. Compaction changes pages all over a large list, and one checkpoint after
 * the reader would move all of them. So a service does not compact while the log stays as long as the number that was drawn, from
 * LOG_PAGES to its double. After a burst, the file of the log is truncated to LOG_BYTES (`journal_size_limit`).
 *
 * A failed write. Linux drops the pages that it could not write, says so once, and the next sync succeeds (Rebello et al., "Can
 * Applications Recover from fsync Failures?", USENIX ATC 2020). What is written to the log behind such a hole is lost in a power cut, and
 * ext4 even leaves a hole where the same place is written again, unless the system has forgotten its copies of that place.
 *
 * 1. A process whose write fails makes the system forget its copies of the log and the list at once (`forgetCopies`). So everybody,
 *    also a command that writes in the next moment, reads what the disk has, and may write to the same place again.
 * 2. Before its own next write, that process moves the log into the list and truncates it, so that nothing is written where a hole may be.
 *    While that fails, or a long reader keeps the log from being truncated, it confirms nothing. It need not check the sums of the
 *    log: every commit is synced, so a page that the log has for SQLite was synced, and only those of the commit that failed may be gone.
 * 3. A log that no process uses may end at a write that failed: its process was killed then, or SQLite could not move the log when it
 *    was closed. SQLite reads such a log anew, and takes what it finds in copies for written. So whoever opens the list to write,
 *    service or command, first makes the system forget its copies, lets SQLite check the sums of what the disk has, and moves and deletes
 *    the log (`moveLeftLog`).
 *
 * Other processes that have the log open at a failure are told by the system: each open file gets the error once, at its next sync
 * (fsync(2)), and then follows 1 and 2 itself.
 */

import { dlopen, FFIType } from 'bun:ffi'
import { Database } from 'bun:sqlite'
import { closeSync, openSync } from 'node:fs'
import { Failure, toErrorCode } from '../../failure.ts'
import { isBusy, toPath } from './error.ts'
import { hasContent, keepDescriptor } from './paths.ts'
import { getRow } from './transaction.ts'

/** Commits of addresses after which a run of compaction moves the log. */
const RUN_COMMITS = 128

/** The least number of pages that makes a service move the log: about 16 MiB. The number is drawn between this one and its double. */
const LOG_PAGES = 1_000

/** Pages that a command leaves in the log. */
export const COMMAND_PAGES = 100

/** After a burst, the log is truncated to this size. */
export const LOG_BYTES = 64 * 1024 * 1024

/** The log of an open list. */
export interface ListLog {
  readonly db: Database
  /** Changes while the list is open. */
  readonly state: {
    /**
     * Set when a write failed and the log was not truncated since: the system may still have copies of pages that the disk does not
     * have, or has forgotten them.
     */
    unsound: 'copied' | 'forgotten' | undefined
    /** Commits of addresses since a service last moved the log at the end of a run of compaction. */
    commits: number
    /** The number of pages at which a service moves the log: see `keepServiceLogShort`. */
    servicePages: number
  }
}

export const createLogState = (): ListLog['state'] => ({ unsound: undefined, commits: 0, servicePages: drawPages() })

/** Draws the number of pages at which a service moves the log next. */
function drawPages(): number {
  return LOG_PAGES * (1 + Math.random())
}

/** Sets how a list is synced, and that SQLite moves the log only when it is told to. */
export function configureLog(db: Database): void {
  // The promise of durability: a commit returns when it is on stable storage.
  db.run('PRAGMA synchronous = FULL')
  // On macOS, a sync reaches only the cache of the drive without these.
  db.run('PRAGMA fullfsync = ON')
  db.run('PRAGMA checkpoint_fullfsync = ON')
  db.run('PRAGMA wal_autocheckpoint = 0')
  db.run(`PRAGMA journal_size_limit = ${LOG_BYTES}`)
}

/**
 * Runs work that writes, but not behind a write that failed. @throws SQLITE_BUSY when others have the lock, or read the log that must
 * be truncated; what `work` throws
 */
export function writeSoundly<T>(log: ListLog, work: () => T): T {
  try {
    if (log.state.unsound) recover(log)
    return work()
  } catch (error) {
    // A Failure is a refusal of our own, for a wrong clock or another version for example: the disk did not fail.
    const isRefusal = error instanceof Failure
    if (!isRefusal && !isBusy(error)) markUnsound(log)
    throw error
  }
}

/** A write may have failed. Its own error is for the caller, and hides any that comes now: `recover` tries again what this does not do. */
function markUnsound({ db, state }: ListLog): void {
  state.unsound = 'copied'
  try {
    forgetCopies(toPath(db))
    state.unsound = 'forgotten'
  } catch {}
}

/** An error leaves the log unsound, so the next write tries again. While it waits for a reader, it does not forget again and again. */
function recover({ db, state }: ListLog): void {
  if (state.unsound === 'copied') {
    forgetCopies(toPath(db))
    state.unsound = 'forgotten'
  }
  truncateLog(db)
  state.unsound = undefined
}

/**
 * Moves the log of a list into it when no process uses the list, and deletes it. Call it before the list is opened: whoever opens it first
 * reads its log anew.
 *
 * @returns the state of the log: it is unsound when it cannot be moved. Then the first write tries again, and says why
 */
export function moveLeftLog(path: string): ListLog['state'] {
  const state = createLogState()
  if (!hasContent(`${path}-wal`)) return state
  try {
    // When it is closed, SQLite deletes the log; if it could not be moved, SQLite tries once more.
    using db = openAlone(path)
    writeSoundly({ db, state }, () => truncateLog(db))
  } catch (error) {
    // Otherwise others use the list, and have its log in order.
    if (!isBusy(error)) state.unsound = 'copied'
  }
  return state
}

/**
 * Opens a list for this process alone, also when another process left its log at a write that failed. Nobody else can open it
 * until the connection is closed. @throws SQLITE_BUSY when another process uses it
 */
export function openAlone(path: string): Database {
  // Before SQLite reads the log, and checks its sums: only what the disk has counts. Nobody who uses the list is disturbed.
  forgetLog(path)
  const db = new Database(path, { readwrite: true })
  try {
    // In this mode, the lock outlives the transaction.
    db.run('PRAGMA locking_mode = EXCLUSIVE')
    db.run('BEGIN EXCLUSIVE')
    db.run('COMMIT')
    // Before the log is moved: an earlier process may have failed to move it. Not before the lock: a service that uses a large list
    // would have to read it from the disk again.
    forgetList(path)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/** Moves the whole log into the list, and truncates it. @throws SQLITE_BUSY when others read or write it */
export function truncateLog(db: Database): void {
  const { busy } = runCheckpoint(db, 'TRUNCATE')
  if (busy) throw Object.assign(new Error('others read or write the log'), { code: 'SQLITE_BUSY' })
}

/** What `keepLogShort` found: a log below the limit; a longer one, which it has moved; or one that a long reader keeps as long. */
type LogLength = 'short' | 'moved' | 'held'

/** Moves the log into the list, as far as no reader needs it, from so many pages on. */
export function keepLogShort(log: ListLog, pages: number): LogLength {
  if (countPages(runCheckpoint(log.db, 'NOOP')) < pages) return 'short'
  const left = countPages(writeSoundly(log, () => runCheckpoint(log.db, 'PASSIVE')))
  return left < pages ? 'moved' : 'held'
}

/**
 * The same for a service, from a number of pages on that is drawn after each such checkpoint that made the log short. If the number
 * were drawn at each call, soon some draw would be low, and the log would always be moved shortly after LOG_PAGES.
 *
 * @returns whether a long reader holds the log
 */
export function keepServiceLogShort(log: ListLog): boolean {
  const length = keepLogShort(log, log.state.servicePages)
  if (length === 'moved') log.state.servicePages = drawPages()
  return length === 'held'
}

/** Moves the log at the end of a run of compaction, if enough commits came since it last did so. */
export function endRun(log: ListLog): void {
  if (log.state.commits < RUN_COMMITS) return
  writeSoundly(log, () => runCheckpoint(log.db, 'PASSIVE'))
  log.state.commits = 0
}

interface Checkpoint {
  /** 1 when another process kept it from being complete. */
  readonly busy: number
  /** The pages of the log, and how many of them are in the list. */
  readonly log: number
  readonly checkpointed: number
}

/** Runs a checkpoint (https://sqlite.org/pragma.html#pragma_wal_checkpoint); NOOP only counts. @throws SQLiteError of the disk */
function runCheckpoint(db: Database, mode: 'NOOP' | 'PASSIVE' | 'TRUNCATE'): Checkpoint {
  return getRow<Checkpoint & Record<string, number>>(db, `PRAGMA wal_checkpoint(${mode})`)
}

/** The pages that are only in the log. */
const countPages = ({ log, checkpointed }: Checkpoint): number => log - checkpointed

/**
 * Makes the system forget the pages of a list and of its log that it has in memory and that were written, or that it gave up to
 * write: the next read is from the disk. It also forgets which parts of a file it takes for written: ext4 writes to a new part of a
 * file, does not note that when the write fails, and would not note it for a second write either, so that zeros would be read
 * after a power cut. Does nothing on macOS, whose file system writes a page to a new place each time.
 */
function forgetCopies(path: string): void {
  // The log first: it takes a moment, and a large list takes longer.
  forgetLog(path)
  forgetList(path)
}

function forgetList(path: string): void {
  // A descriptor of the list must stay open: see keepDescriptor.
  forget(keepDescriptor(path))
}

function forgetLog(path: string): void {
  const log = openLog(path)
  if (log === undefined) return
  try {
    forget(log)
  } finally {
    // SQLite has no lock on the log.
    closeSync(log)
  }
}

/** Opens the log of a list for reading. Undefined without a log: then there is nothing to forget. */
function openLog(path: string): number | undefined {
  try {
    return openSync(`${path}-wal`, 'r')
  } catch (error) {
    // Any other error would leave pages in memory that the disk does not have, and is not passed over.
    if (toErrorCode(error) === 'ENOENT') return undefined
    throw error
  }
}

const DONTNEED = 4

/** See posix_fadvise(2). It cannot fail for a regular file. */
function forget(descriptor: number): void {
  if (process.platform !== 'linux') return
  loadLibrary().symbols.posix_fadvise(descriptor, 0, 0, DONTNEED)
}

let library: ReturnType<typeof openLibrary> | undefined

function loadLibrary() {
  library ??= openLibrary()
  return library
}

function openLibrary() {
  const functions = {
    posix_fadvise: { args: [FFIType.i32, FFIType.i64, FFIType.i64, FFIType.i32], returns: FFIType.i32 },
  } as const
  try {
    return dlopen('libc.so.6', functions)
  } catch {
    // On Alpine.
    return dlopen(`libc.musl-${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}.so.1`, functions)
  }
}
