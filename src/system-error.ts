/** What errors of the operating system mean, in words for the owner. */

import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { Failure, toSignalExitCode } from './failure.ts'

/**
 * Describes an error of the operating system, and says what to do.
 *
 * @returns undefined for an error that is not in the table
 */
export function toSystemReason(error: unknown): string | undefined {
  const code = toErrorCode(error) ?? ''
  // A folder cannot be created below a file: EEXIST or ENOTDIR.
  if (/^(?:ENOTDIR|EEXIST)$/.test(code)) return `${findExisting(toErrorPath(error))} is not a folder: correct the path`
  return SYSTEM_REASONS[code]
}

/** The path in an error of the file system. */
function toErrorPath(error: unknown): string | undefined {
  return error instanceof Error && 'path' in error ? String(error.path) : undefined
}

function findExisting(path: string | undefined): string {
  if (path === undefined) return 'a part of its path'
  const name = resolve(path)
  return existsSync(name) ? name : findExisting(dirname(name))
}

/** The code of an error of the system, of the runtime or of a library, such as `ENOENT`. */
export function toErrorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined
}

/**
 * Turns an error of the file system into a Failure that names the file. Other errors are returned unchanged.
 * When the reader of a pipe is gone, as with `head`, nothing is printed and the exit code is that of SIGPIPE.
 *
 * @param file as the owner knows it. Default: the path in the error
 */
export function toFileFailure(error: unknown, file = toErrorPath(error) ?? 'the system'): unknown {
  if (toErrorCode(error) === 'EPIPE') return new Failure('', { exitCode: toSignalExitCode('SIGPIPE') })
  const reason = toSystemReason(error)
  return reason === undefined ? error : new Failure(`${file}: ${reason}`)
}

export const IS_FOLDER = 'it is a folder: name a file'
export const DENIED = 'permission denied: run it as the user of the service, who must own the file and its folder'

// errno(3)
const SYSTEM_REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or folder',
  EISDIR: IS_FOLDER,
  ELOOP: 'it is a link to itself: delete it',
  ENAMETOOLONG: 'its name is too long: use a shorter one',
  EACCES: DENIED,
  EPERM: DENIED,
  EROFS: 'the file system is read-only',
  EFBIG: 'it exceeds the limit on the size of a file',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EIO: 'the disk reports an error',
  EADDRINUSE: 'another process uses the port',
  EADDRNOTAVAIL: 'the address does not belong to this machine',
}
