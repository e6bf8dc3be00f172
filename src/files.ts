/**
 * Files that commands write. An output is complete or not there: it is written under another name, and gets its name at the end. No
 * output replaces a SQLite database, but for a backup, which may replace an earlier backup.
 */

import {
  closeSync,
  existsSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  write,
} from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { toErrorCode, toFileFailure, UsageError } from './failure.ts'
import { listLeftovers, toPartialName } from './leftovers.ts'
import { takeOwner } from './owner.ts'
import { PIPE_RETRY_MS } from './stderr.ts'

/** Only the owner may read and write a file with addresses. */
const PRIVATE_MODE = 0o600

/** What counts of a mode: all but the right of the owner to execute. */
const MODE_MASK = 0o677

/** Writes the next part of an output. Resolves when all of it is written; waits for a slow reader. */
export type Write = (text: string) => Promise<void>

/**
 * Writes an output. A regular file is replaced by a rename when the output is complete, also behind a symbolic link; only its
 * owner can read it afterwards. A device, a FIFO, `-` and what leads to an open descriptor, such as /dev/stdout, are written into.
 *
 * @param work writes the text. When it fails, a regular file stays as it was
 * @throws as `findFile`; Failure when the file cannot be written; what `work` throws
 */
export async function writeOutput<T>(file: string, work: (write: Write) => Promise<T>): Promise<T> {
  const descriptor = findDescriptor(file)
  const name = file === '-' ? 'standard output' : file
  if (descriptor !== undefined) return await work((text) => writeAll(descriptor, text, name))
  if (isStream(file)) return await writeInto(file, file, work)
  const path = await findFile(file)
  return await withPartialFile(path, file, async (partial) => {
    await using handle = await open(partial, 'w')
    const result = await work((text) => writeAll(handle.fd, text, file))
    await renameSynced(partial, path, handle.fd)
    return result
  })
}

/**
 * Returns the descriptor of this process that a path leads to, such as 1 for /dev/stdout and /proc/self/fd/1. Its file may be
 * regular, and others write to it too, so it is not replaced. `-` is standard output. Undefined for any other path.
 */
function findDescriptor(path: string): number | undefined {
  if (path === '-') return 1
  const number = DESCRIPTOR.exec(followLinks(path))?.[1]
  return number === undefined ? undefined : Number(number)
}

const DESCRIPTOR = new RegExp(`^/(?:dev|proc/${process.pid}(?:/task/\\d+)?)/fd/(\\d+)$`)

/** Follows symbolic links to the real path of a file, which may be missing, or of a descriptor of this process. @throws ELOOP */
export function followLinks(path: string, links = 0): string {
  const name = resolve(path)
  const folder = dirname(name)
  // realpath() refuses a file that is missing, so it gets the folder alone.
  const place = join(existsSync(folder) ? realpathSync(folder) : folder, basename(name))
  // So many links may lead in a circle. The system knows: it throws ELOOP then.
  if (links > 8) return realpathSync(place)
  const isLink = lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink()
  // The link of a descriptor has a text such as "pipe:[1234]", which is no path.
  if (!isLink || DESCRIPTOR.test(place)) return place
  return followLinks(resolve(dirname(place), readlinkSync(place)), links + 1)
}

/** Whether a path is that of a device, a FIFO or a socket. */
function isStream(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false })
  return found !== undefined && !found.isFile() && !found.isDirectory()
}

async function writeInto<T>(path: string, name: string, work: (write: Write) => Promise<T>): Promise<T> {
  await using handle = await open(path, 'w')
  return await work((text) => writeAll(handle.fd, text, name))
}

/** Replaces the content of a file. @throws as `writeOutput` */
export async function replaceFile(path: string, text: string): Promise<void> {
  await writeOutput(path, (write) => write(text))
}

/** How a database of SQLite begins, and where the header has its write version and its mark (https://sqlite.org/fileformat2.html). */
const DATABASE = 'SQLite format 3\0'
export const WRITE_VERSION_OFFSET = 18
export const MARK_OFFSET = 68

/** The marks of a list and of a backup: "Roll" and "RolB" in ASCII (https://sqlite.org/pragma.html#pragma_application_id). */
export const LIST_ID = 0x526f6c6c
export const BACKUP_ID = 0x526f6c42

/**
 * Checks a file that is replaced as a whole, and follows a symbolic link.
 *
 * @param options.isBackup a file that is marked as a backup may be replaced too
 * @throws UsageError for what may not be replaced: see `findProblem`; Failure for a folder
 */
export async function findFile(file: string, { isBackup = false } = {}): Promise<string> {
  try {
    const path = followLinks(file)
    const isRegular = findDescriptor(file) === undefined && !isStream(file)
    const problem = isRegular ? await findProblem(path, isBackup) : 'is not a regular file'
    if (problem === undefined) return path
    throw new UsageError(`${file} ${problem}: choose another file`)
  } catch (error) {
    throw toFileFailure(error, file)
  }
}

/** How the files end that SQLite keeps next to a list. It deletes them, so no list and no output has such a name. */
export const SIDECAR = /-(?:wal|shm|journal)$/

/** Says why a command may not replace what is at a path, or use its name. */
async function findProblem(path: string, isBackup: boolean): Promise<string | undefined> {
  if (SIDECAR.test(path)) return 'has the name of a log of SQLite'
  if (LOCK.test(basename(path))) return 'has the name of the lock of a cursor file'
  const mark = await readMark(path)
  if (!isBackup) return mark === undefined ? undefined : 'is a SQLite database'
  // Only the mark tells a backup from a list: a command that was killed may leave a list that is not in WAL mode.
  if (mark === LIST_ID) return 'is a list, and not a backup'
  if (mark !== undefined && mark !== BACKUP_ID) return 'is a SQLite database, and not a backup'
  // Also when there is no file yet: a log may be left of one that was deleted.
  const log = ['-wal', '-journal'].find((suffix) => existsSync(path + suffix))
  return log && `has ${basename(path)}${log} beside it, which SQLite would play back into it`
}

/** Reads the mark of a SQLite database: 0 when it has none, or is cut off. Undefined when the file is missing, or is no database. */
async function readMark(path: string): Promise<number | undefined> {
  if (!existsSync(path)) return undefined
  const header = Buffer.from(
    await Bun.file(path)
      .slice(0, MARK_OFFSET + 4)
      .bytes(),
  )
  if (!header.toString('latin1').startsWith(DATABASE)) return undefined
  return header.length < MARK_OFFSET + 4 ? 0 : header.readUInt32BE(MARK_OFFSET)
}

/** The name of the lock of a cursor file. No output has such a name. */
export const toLockName = (file: string): string => join(dirname(file), `.${basename(file)}.lock`)
const LOCK = /^\..+\.lock$/

/** Writes a whole text; waits for a reader. @param name of the file, for errors. @throws Failure */
export async function writeAll(descriptor: number, text: string, name: string): Promise<void> {
  let bytes: Uint8Array = Buffer.from(text)
  while (bytes.length > 0) {
    try {
      const { bytesWritten } = await writeSome(descriptor, bytes)
      bytes = bytes.subarray(bytesWritten)
    } catch (error) {
      if (toErrorCode(error) !== 'EAGAIN') throw toFileFailure(error, name)
      await sleep(PIPE_RETRY_MS)
    }
  }
}

const writeSome = promisify(write)

/**
 * Creates the partial file of a file, which `work` writes, and renames when it is complete. Deletes what is left of it at the end,
 * and those that killed processes left. @param name of the file, for errors
 */
export async function withPartialFile<T>(
  file: string,
  name: string,
  work: (partial: string) => Promise<T>,
): Promise<T> {
  // In the same folder, because a rename cannot cross file systems.
  const partial = toPartialName(file)
  try {
    try {
      const leftovers = await listLeftovers(dirname(file), basename(file))
      for (const leftover of leftovers) await rm(leftover, { force: true })
      // It may fail after it has created the file, such as when root cannot give it to its owner.
      createPrivateFile(partial, { ownerOf: existsSync(file) ? file : dirname(file) })
    } catch (error) {
      throw toFileFailure(error, name)
    }
    return await work(partial)
  } finally {
    deletePartial(partial)
  }
}

/**
 * Deletes what is left of a partial file. An error of that, such as on a disk that has become read-only, must not hide what became of the
 * work: `doctor` names what stays, and the next command deletes it.
 */
function deletePartial(partial: string): void {
  for (const ending of ['', '-journal', '-wal', '-shm']) {
    try {
      rmSync(partial + ending, { force: true })
    } catch {}
  }
}

/**
 * Creates an empty file that only its owner can read, under any umask.
 *
 * @param options.ownerOf see `takeOwner`
 * @throws EEXIST, unless `mayExist`: another process may just have created it
 */
export function createPrivateFile(path: string, { mayExist = false, ownerOf = dirname(path) } = {}): void {
  try {
    const descriptor = openSync(path, 'wx', PRIVATE_MODE)
    try {
      // The umask may have taken permissions from the owner. A file system without modes refuses any change.
      if ((fstatSync(descriptor).mode & MODE_MASK) !== PRIVATE_MODE) fchmodSync(descriptor, PRIVATE_MODE)
      takeOwner(ownerOf, (uid, gid) => fchownSync(descriptor, uid, gid))
    } finally {
      closeSync(descriptor)
    }
  } catch (error) {
    if (mayExist && toErrorCode(error) === 'EEXIST') return
    // The error of a call on a descriptor has no path.
    throw Object.assign(error as Error, { path })
  }
}

/**
 * Renames a file when its content is on stable storage, and syncs the folder, which holds the name.
 *
 * @param writer the descriptor that wrote the file. The system tells it of every write that failed since it was opened, and another
 * one perhaps not (fsync(2)). A file that SQLite wrote needs none: SQLite synced it with its own
 * @throws Failure
 */
export async function renameSynced(partial: string, file: string, writer?: number): Promise<void> {
  try {
    if (writer === undefined) syncPath(partial)
    else fsyncSync(writer)
    await rename(partial, file)
    syncPath(dirname(file))
  } catch (error) {
    throw toFileFailure(error, file)
  }
}

/** Waits until a file, or the entries of a folder, are on stable storage. */
export function syncPath(path: string): void {
  const descriptor = openSync(path, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** Reads a file of Linux about this process (proc_pid(5)); empty elsewhere. */
export function readProcess(name: string): Buffer {
  try {
    return readFileSync(`/proc/self/${name}`)
  } catch {
    return Buffer.alloc(0)
  }
}
