/**
 * Files that commands write. An output is complete or not there: it is written under another name, and gets its
 * name at the end. It replaces no SQLite database; a backup may replace one that is not a list in use.
 */

import {
  closeSync,
  existsSync,
  fchmodSync,
  lstatSync,
  constants as modes,
  openSync,
  readlinkSync,
  readSync,
  realpathSync,
  type Stats,
  statSync,
  write,
} from 'node:fs'
import { access, open, readdir, rename, rm } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { type ListUrl, SIDECAR } from './config/list-url.ts'
import { Failure, IS_FOLDER, toErrorCode, toFileFailure, UsageError } from './failure.ts'

/** Only the owner may read and write a file with addresses. */
const PRIVATE_MODE = 0o600

/** Where a command writes text. */
export interface Output {
  /** Of a file: without links. */
  readonly path: string
  /** Resolves when all of the text is written; waits for a slow reader. */
  write(text: string): Promise<void>
}

/**
 * Writes an output, completely or not at all. It follows a symbolic link, replaces a regular file by a rename, and writes to
 * anything else, such as /dev/stdout or a FIFO. Only its owner can read a new file.
 *
 * @param list the list that the command works on
 * @param work writes the text. When it fails, the file stays as it was
 * @throws UsageError when the file is the list, a SQLite database, or has the name of a log or a lock; Failure when it
 * cannot be written; what `work` throws
 */
export async function writeOutput<T>(
  file: string,
  list: ListUrl | undefined,
  work: (output: Output) => Promise<T>,
): Promise<T> {
  const { path, isStream } = findTarget(file, list)
  const partial = isStream ? undefined : await createPartialFile(path, file)
  const handle = await open(partial ?? path, partial ? 'r+' : 'w').catch((error: unknown) => {
    throw toFileFailure(error, file)
  })
  try {
    const result = await work({ path, write: (text) => writeAll(handle.fd, text, file) })
    await handle.close()
    if (partial) await renameSynced(partial, path)
    return result
  } catch (error) {
    await handle.close()
    if (partial) await rm(partial, { force: true })
    throw error
  }
}

/**
 * Checks a file that is replaced as a whole, and follows a symbolic link.
 *
 * @param options.isBackup a SQLite database may be replaced too, unless a program may be using it
 * @returns the path for `createPartialFile` and `renameSynced`
 * @throws as `writeOutput`; UsageError for a device or a FIFO
 */
export async function findFile(file: string, list: ListUrl, { isBackup = false } = {}): Promise<string> {
  const { path, isStream } = findTarget(file, list, isBackup)
  if (isStream) throw new UsageError(`${file} is not a regular file: choose another file`)
  await access(dirname(path), modes.W_OK).catch((error: unknown) => {
    throw toFileFailure(error, file)
  })
  return path
}

/** Replaces the content of a file. @throws as `writeOutput` */
export async function replaceFile(path: string, text: string, list?: ListUrl): Promise<void> {
  await writeOutput(path, list, (output) => output.write(text))
}

/** Writes a whole text; waits for a reader. @param name of the file, for errors. @throws Failure */
export async function writeAll(descriptor: number, text: string, name: string): Promise<void> {
  let bytes: Uint8Array = Buffer.from(text)
  while (bytes.length > 0) {
    try {
      const { bytesWritten } = await writeSome(descriptor, bytes)
      bytes = bytes.subarray(bytesWritten)
    } catch (error) {
      if (toErrorCode(error) !== 'EAGAIN') throw toFileFailure(error, name)
      await sleep(RETRY_MS)
    }
  }
}

const writeSome = promisify(write)

/** Milliseconds until the next attempt to write to a full pipe that is in non-blocking mode. */
const RETRY_MS = 5

/** Where an output goes. */
interface Target {
  /** The path of a file is without links. */
  readonly path: string
  /** Whether it is not a regular file, so that the text is written to it directly. */
  readonly isStream: boolean
}

function findTarget(file: string, list: ListUrl | undefined, isBackup = false): Target {
  try {
    // Fails for a link to itself.
    const found = statSync(file, { throwIfNoEntry: false })
    if (found?.isDirectory()) throw new Failure(`${file}: ${IS_FOLDER}`)
    if (found && !found.isFile()) return { path: file, isStream: true }
    const path = followLinks(resolve(file))
    const problem = findProblem(path, found, list, isBackup)
    if (problem !== undefined) throw new UsageError(`${file} ${problem}: choose another file`)
    return { path, isStream: false }
  } catch (error) {
    throw toFileFailure(error, file)
  }
}

/** Says why an output may not replace what is at a path. @param found what is there */
function findProblem(path: string, found: Stats | undefined, list: ListUrl | undefined, isBackup: boolean) {
  if (list?.kind === 'sqlite' && isList(path, found, list.file)) return 'is the list'
  if (SIDECAR.test(path)) return 'has the name of a log of SQLite'
  if (LOCK.test(basename(path))) return 'has the name of the lock of a cursor file'
  const start = found ? readStart(path, 20) : Buffer.alloc(0)
  const isDatabase = start.toString('hex').startsWith(DATABASE)
  const isLog = LOGS.some((log) => start.toString('hex').startsWith(log))
  if (isLog || (isDatabase && !isBackup)) return 'is a SQLite database'
  if (isDatabase && start[WRITE_VERSION] === 2) return 'is a list, and not a backup'
  // SQLite would play it back into the backup.
  const log = isBackup && ['-wal', '-journal'].find((suffix) => existsSync(path + suffix))
  return log ? `is used by a program, which may have left ${path}${log}` : undefined
}

/** Follows symbolic links, also one to a missing file. @throws ELOOP for a link to itself */
export function followLinks(path: string, links = 0): string {
  if (existsSync(path) || links > 8) return realpathSync(path)
  if (!lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) return path
  return followLinks(resolve(realpathSync(dirname(path)), readlinkSync(path)), links + 1)
}

/** Whether a path is that of a list, or another name of it. */
function isList(path: string, found: Stats | undefined, list: string): boolean {
  const stats = statSync(list, { throwIfNoEntry: false })
  if (found && stats) return found.ino === stats.ino && found.dev === stats.dev
  return path === resolve(list)
}

/** How the files of SQLite begin, in hexadecimal: a database, a log (WAL) and a journal (sqlite.org/fileformat2.html). */
const DATABASE = Buffer.from('SQLite format 3\0').toString('hex')
const LOGS = ['377f0682', '377f0683', 'd9d505f920a163d7']
/** Offset of the write version: 2 is a database with a log, as every list in use is. A backup has 1. */
export const WRITE_VERSION = 18

function readStart(path: string, length: number): Buffer {
  const descriptor = openSync(path, 'r')
  try {
    const buffer = Buffer.alloc(length)
    return buffer.subarray(0, readSync(descriptor, buffer, 0, length, 0))
  } finally {
    closeSync(descriptor)
  }
}

/** The name of the lock of a cursor file. No output has such a name. */
export const toLockName = (file: string): string => join(dirname(file), `.${basename(file)}.lock`)
const LOCK = /^\..+\.lock$/

/** The name of the partial file of a file: in the same folder, because a rename cannot cross file systems. */
export function toPartialName(file: string): string {
  return join(dirname(file), `.${basename(file)}.${process.pid}.partial`)
}

/**
 * Creates the partial file of a file, which has its content until it is complete, and removes those that killed processes left.
 *
 * @param name of the file, for errors
 * @returns its path
 * @throws Failure when the folder cannot be written
 */
export async function createPartialFile(file: string, name = file): Promise<string> {
  const partial = toPartialName(file)
  try {
    for (const leftover of await listLeftovers(dirname(file), basename(file))) {
      await rm(join(dirname(file), leftover), { force: true })
    }
    createPrivateFile(partial)
  } catch (error) {
    throw toFileFailure(error, name)
  }
  return partial
}

/**
 * Creates an empty file that only its owner can read, under any umask.
 *
 * @param options.mayExist nothing happens when there is such a file or link: another process may just have created it.
 * Otherwise that is an EEXIST
 */
export function createPrivateFile(path: string, { mayExist = false } = {}): void {
  try {
    const descriptor = openSync(path, 'wx', PRIVATE_MODE)
    // The umask may have taken permissions from the owner.
    fchmodSync(descriptor, PRIVATE_MODE)
    closeSync(descriptor)
  } catch (error) {
    if (!mayExist || toErrorCode(error) !== 'EEXIST') throw error
  }
}

/** Lists the leftovers in a folder, of this file or of any: partial files whose processes have ended. None if it is missing. */
export async function listLeftovers(folder: string, file?: string): Promise<readonly string[]> {
  // A folder that can be written may not be readable.
  const names = await readdir(folder).catch(() => [])
  return names.filter((name) => isLeftover(name, file))
}

// SQLite adds these endings to the partial file of a backup.
const PARTIAL = /^\.(.+)\.(\d+)\.partial(?:-journal|-wal|-shm)?$/

/** Whether a name is that of a leftover, of this file or of any. */
function isLeftover(name: string, file?: string): boolean {
  const [, target, pid] = PARTIAL.exec(name) ?? []
  if (pid === undefined || (file !== undefined && target !== file)) return false
  return !isOtherProcess(Number(pid))
}

function isOtherProcess(pid: number): boolean {
  if (pid === process.pid) return false
  try {
    return process.kill(pid, 0)
  } catch (error) {
    // EPERM, for example, means that it runs as another user.
    return toErrorCode(error) !== 'ESRCH'
  }
}

/**
 * Renames a file when its content is on stable storage, and syncs the folder, which holds the name.
 *
 * @throws Failure when `file` cannot be replaced
 */
export async function renameSynced(partial: string, file: string): Promise<void> {
  try {
    await syncPath(partial)
    await rename(partial, file)
    await syncPath(dirname(file))
  } catch (error) {
    throw toFileFailure(error, file)
  }
}

/** Waits until a file, or the entries of a folder, are on stable storage. */
export async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
