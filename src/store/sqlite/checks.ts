/** The checks of a SQLite list. They write nothing to it. */

import type { Database } from 'bun:sqlite'
import { accessSync, existsSync, constants as modes, statfsSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { Failure, NO_MODES, toUser } from '../../failure.ts'
import { SIDECAR } from '../../files.ts'
import { MIN_FREE_BYTES } from '../../limits.ts'
import { StoreError } from '../../subscriber.ts'
import { quotePath, toNumber } from '../../words.ts'
import { type CheckResult, type CursorCheck, checkDates, checkInbox, NotChecked, runCheck } from '../check.ts'
import { DAY_MS } from '../numbers.ts'
import { readBackupTime, readSummary, toBackupFolder } from './backup.ts'
import { wrapErrors } from './error.ts'
import { countInbox, readInboxSince } from './inbox.ts'
import { readFreeBytes, refuseLoneMount, toRealPath } from './paths.ts'
import { checkIntegrity, readCount, readDates, readHead, readWaiting } from './read.ts'
import { openReadOnly } from './read-only.ts'
import { checkVersion } from './schema.ts'
import { getRow } from './transaction.ts'

/** Runs all checks of a list. When the first one fails, such as for a missing list, runs only those that need none. */
export async function* checkSqliteList(
  file: string,
  cursors: readonly CursorCheck[] = [],
): AsyncGenerator<CheckResult> {
  let path = resolve(file)
  const list = await runCheck('list', () => {
    path = toRealPath(path)
    return checkList(path)
  })
  yield list
  if (existsSync(path)) yield runCheck('file modes', () => checkModes(path))
  yield runCheck('disk', () => checkSpace(path))
  if (!list.ok) return
  yield runCheck('content', () => checkEmpty(path))
  yield runCheck('integrity', () => read(path, checkContent))
  yield runCheck('dates', async () => checkDates(await read(path, readFirstAndLast)))
  yield runCheck('backup', () => checkCopies(path))
  yield runCheck('inbox', () => read(path, (db) => checkInbox(countInbox(db), readInboxSince(db))))
  const waiting = (after: number) => read(path, (db) => readWaiting(db, after))
  for (const check of cursors) yield runCheck('cursor', async () => check(await read(path, readHead), waiting))
}

/** Reads one state of a list. @throws StoreError */
async function read<T>(path: string, work: (db: Database) => T): Promise<T> {
  using db = openReadOnly(path)
  return await wrapErrors(db, () => db.transaction(work)(db))
}

async function checkList(path: string): Promise<string> {
  refuseLoneMount(path)
  const version = await read(path, (db) => checkVersion(db, path))
  // SQLite keeps a log for each name, so processes that use different names damage the list.
  const { nlink } = statSync(path)
  if (nlink > 1)
    throw new StoreError(`${path} has ${nlink} names (hard links): stop the service, and remove all but one`)
  return `${path}, version ${version}`
}

function readFirstAndLast(db: Database) {
  const { first } = getRow<{ first: number | null }>(db, 'SELECT min(subscribed_at) AS first FROM subscribers')
  return { first: first === null ? undefined : new Date(first), last: readDates(db).lastAcceptedAt }
}

/** Finds an empty list next to others: the list was deleted or moved, and the service created a new one. */
async function checkEmpty(path: string): Promise<string> {
  const { subscribers, suppressed, inbox } = await read(path, readSummary)
  const size = subscribers + suppressed + inbox
  const others = size > 0 ? [] : listOthers(path)
  if (others.length === 0) return `addresses and suppressions: ${toNumber(size)}`
  throw new StoreError(
    `the list is empty, and ${others.map(quotePath).join(' ')} may have its addresses: stop the service, and run: rollcall restore FILE`,
  )
}

/**
 * Lists the other lists and backups in the folder of a list and in its folder "backups". Rescue files too, which `doctor` also names in
 * `leftovers`.
 */
function listOthers(path: string): readonly string[] {
  const options = { cwd: dirname(path), absolute: true, dot: true }
  const files = ['*', 'backups/*'].flatMap((pattern) => [...new Bun.Glob(pattern).scanSync(options)])
  return files.filter((file) => file !== path && !SIDECAR.test(file) && isList(file)).sort()
}

/** Whether a file is a list or a backup, of this version or an older one. False if it cannot be read. */
function isList(path: string): boolean {
  try {
    openReadOnly(path, 'keep').close()
    return true
  } catch {
    return false
  }
}

/** Milliseconds after which the copy of every night is late: a night may be missed, and two are a fault. */
const BACKUP_AGE_MS = 2 * DAY_MS

/** Finds out that backups have stopped, which nothing else says before one is needed. */
function checkCopies(path: string): string {
  const folder = toBackupFolder(path)
  const newest = readBackupTime(path)
  if (newest === undefined) throw new NotChecked(`there is no folder ${folder}`)
  const found = `${folder}, or the newest copy in it, is of ${newest.toISOString()}`
  if (Date.now() - newest.getTime() <= BACKUP_AGE_MS) return found
  throw new StoreError(
    `${found}: see why in the log of the backup, such as with: journalctl --unit 'rollcall-backup*'; then make one`,
  )
}

function checkContent(db: Database): string {
  checkIntegrity(db)
  const { subscribers, suppressed } = readCount(db)
  return `every page was read; subscribers: ${subscribers}, suppressed: ${suppressed}`
}

function checkModes(path: string): string {
  const problem = describeModes(path)
  if (problem) throw new StoreError(problem)
  const folder = dirname(path)
  // SQLite writes its log next to the list.
  for (const written of [path, folder]) accessSync(written, modes.W_OK)
  refuseOwners(path)
  const { mode } = statSync(folder)
  // In a folder with the sticky bit, only the owner of a file may delete it.
  if ((mode & 0o022) === 0 || (mode & 0o1000) !== 0) return 'only the owner can read the list'
  throw new StoreError(`other users may replace the list: run: chmod go-w ${quotePath(folder)}`)
}

/**
 * Refuses a list, a log and a folder with different owners, or with one who may not write. Root may write them all, and sees no
 * other sign.
 *
 * @throws StoreError with the command that gives all to the user of the service: the owner of the folder or, if that is root,
 * of a file
 */
function refuseOwners(path: string): void {
  const folder = { name: dirname(path), ...statSync(dirname(path)) }
  // Others may write to a folder such as /tmp.
  const found = (folder.mode & 0o022) === 0 ? [folder, ...statFiles(path)] : statFiles(path)
  const toNames = (files: typeof found) => files.map(({ name }) => quotePath(name)).join(' ')
  const owner = found.find(({ uid }) => uid !== 0) ?? { name: path, uid: 0 }
  const user = toUser(owner.uid)
  const others = found.filter(({ uid }) => uid !== owner.uid)
  if (others.length > 0) {
    const theirs = others.map(({ name, uid }) => `${name} to ${toUser(uid)}`).join(' and ')
    throw new StoreError(
      `${owner.name} belongs to ${user}, but ${theirs}: run as root: chown ${user} ${toNames(others)}`,
    )
  }
  const closed = found.filter(({ mode }) => (mode & 0o600) !== 0o600)
  if (closed.length > 0) throw new StoreError(`${user} cannot write: run: chmod u+rwX ${toNames(closed)}`)
}

function checkSpace(path: string): string {
  let folder = dirname(path)
  while (!existsSync(folder)) folder = dirname(folder)
  const bytes = readFreeBytes(folder)
  const free = `${toNumber(Math.floor(bytes / 2 ** 20))} MiB are free`
  const inMemory = describeMemory(folder)
  if (inMemory) throw new Failure(inMemory)
  if (bytes >= MIN_FREE_BYTES) return free
  throw new Failure(`${free} for ${folder}: make space: when the disk is full, requests get 500`)
}

/** File systems in memory, by their type (statfs(2)). */
const MEMORY_TYPES: readonly number[] = [0x01021994, 0x858458f6]

/** Says that a folder is in memory, and what to do. Undefined if it is on a disk, or on a layer over one. */
export function describeMemory(folder: string): string | undefined {
  if (!MEMORY_TYPES.includes(statfsSync(folder).type)) return
  return `${folder} is in memory (tmpfs or ramfs), and the list is gone when the machine restarts: use a folder on a disk`
}

/** Says in one line which files of a list other users may read or write, and what to run. Undefined if there are none. */
export function describeModes(file: string): string | undefined {
  // SQLite keeps the log next to the real file.
  const open = statFiles(toRealPath(file)).filter(({ mode }) => (mode & 0o077) !== 0)
  const [first] = open
  if (first === undefined) return
  const mode = (first.mode & 0o777).toString(8).padStart(4, '0')
  const names = open.map(({ name }) => quotePath(name)).join(' ')
  // No list is a program: a file system without modes gives all files the same one.
  const hint = (first.mode & 0o111) === 0 ? '' : ` (if chmod changes nothing, ${NO_MODES})`
  return `other users may read the list: ${first.name} has mode ${mode}${hint}; run: chmod 600 ${names}`
}

/** The files of a list that are there. */
function statFiles(path: string) {
  return ['', '-wal', '-shm'].flatMap((suffix) => {
    const found = statSync(path + suffix, { throwIfNoEntry: false })
    return found ? [{ name: path + suffix, uid: found.uid, mode: found.mode }] : []
  })
}
