/** What stops a command, said in one line to the owner. */

/** Something the owner asked for could not be done; exit code 1. */
export class Failure extends Error {
  override readonly name = 'Failure'
}

/** What was asked for makes no sense; exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** The reader at the other end of a pipe has gone, as `head` does: nothing is wrong. */
export class BrokenPipe extends Error {
  override readonly name = 'BrokenPipe'
}

/** Turns an error of the file system into a failure that names the file; others pass. */
export function toFileFailure(error: unknown, file: string): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const reason = REASONS[code]
  return reason ? new Failure(`${file}: ${reason}`) : error
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or folder',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of its path is not a folder',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the quota is used up',
}
