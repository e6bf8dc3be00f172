/** The log: JSON lines on stderr about start, stop and failures, without email addresses. */

import pino from 'pino'
import type { LogLevel } from './config/config.ts'

export type Log = pino.Logger

/** Opens the log. It writes each line at once, so that no line is lost at an exit. */
export function createLog(level: LogLevel): Log {
  return pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, serializers: { err: toLogged } },
    pino.destination({ dest: 2, sync: true }),
  )
}

/**
 * Returns the fields of an error for the log: type, code, message, stack and causes. Redacts addresses, because
 * databases and parsers quote their input.
 */
export function toLogged(error: unknown): object {
  if (!(error instanceof Error)) return { message: redactAddresses(String(error)) }
  return {
    type: error.name,
    ...('code' in error && { code: redactAddresses(String(error.code)) }),
    message: redactAddresses(error.message),
    stack: redactAddresses(error.stack ?? ''),
    ...(error.cause !== undefined && { cause: toLogged(error.cause) }),
  }
}

/**
 * Replaces every run of characters around an `@`: addresses, and URLs with a user. A run ends at a character that an
 * address may only have in quotes (the specials of RFC 5322 section 3.2.3). Takes linear time.
 */
export function redactAddresses(text: string): string {
  return text.replace(/[^\s"()<>[\],;]+/g, (run) => (run.includes('@') ? '[hidden]' : run))
}
