/** Errors that the command line prints as one line, and its exit codes. */

import { constants } from 'node:os'

/** Exit codes of the command line. */
export const EXIT = { done: 0, failed: 1, usage: 2 } as const

/** The exit code of a command that a signal stopped, as shells report it: 128 plus the number of the signal. */
export function toSignalExitCode(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal]
}

/**
 * An expected error. The command line prints its message as one line and exits with `exitCode`.
 * Any other error is a defect and ends the process with its stack.
 */
export class Failure extends Error {
  override readonly name: string = 'Failure'
  readonly exitCode: number

  /** @param message for the owner; its control characters are escaped, because it may quote a file or a setting */
  constructor(message: string, { exitCode = EXIT.failed, ...options }: ErrorOptions & { exitCode?: number } = {}) {
    super(escapeControls(message), options)
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

/**
 * Escapes characters that change what a terminal does or shows: control characters (U+0080 to U+009F too), line
 * separators, and marks that change the direction of text.
 */
export function escapeControls(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, toEscape)
}

function toEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
