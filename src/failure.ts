/** Errors that the command line prints as one line, each with its exit code, and the words for errors of the system. */

/** Exit codes of the command line. A command that a signal stopped exits with 128 plus the number of the signal. */
export const EXIT = { done: 0, failed: 1, usage: 2 } as const

/**
 * Something expected went wrong. The command line prints the message in one line and exits with `exitCode`.
 * Any other error is a defect and ends the process with its stack.
 */
export class Failure extends Error {
  override readonly name: string = 'Failure'
  readonly exitCode: number

  /** @param message for the owner; control characters in it are escaped, because it may quote a file or a setting */
  constructor(
    message: string,
    { exitCode = EXIT.failed, ...options }: ErrorOptions & { exitCode?: number } = {},
  ) {
    super(message.replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, toEscape), options)
    this.exitCode = exitCode
  }
}

/** The command or a setting is wrong. */
export class UsageError extends Failure {
  override readonly name = 'UsageError'

  constructor(message: string) {
    super(message, { exitCode: EXIT.usage })
  }
}

/** The reader of standard output went away, as `head` does. Nothing is printed. */
export class BrokenPipe extends Failure {
  override readonly name = 'BrokenPipe'

  constructor() {
    // As a shell reports a process that SIGPIPE ended.
    super('', { exitCode: 128 + 13 })
  }
}

/**
 * Says in words what an error of the system means.
 *
 * @returns undefined for an error without a known code
 */
export function toSystemReason(error: unknown): string | undefined {
  return SYSTEM_REASONS[toErrorCode(error) ?? '']
}

/** The code of an error of the system, of the runtime or of a library, such as `ENOENT`. */
export function toErrorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined
}

/** Turns an error of the file system into a Failure that names the file. Other errors come back as they are. */
export function toFileFailure(error: unknown, file: string): unknown {
  const reason = toSystemReason(error)
  return reason === undefined ? error : new Failure(`${file}: ${reason}`)
}

// errno(3)
const SYSTEM_REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or folder',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of its path is not a folder',
  EEXIST: 'a part of its path is not a folder',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EIO: 'the disk reports an error',
  EADDRINUSE: 'another process uses the port',
  EADDRNOTAVAIL: 'the address does not belong to this machine',
}

function toEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
