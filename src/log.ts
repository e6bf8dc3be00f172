/** The log: JSON lines on stderr. It holds the life cycle and failures, and never an address. */

import pino from 'pino'
import type { LogLevel } from './config/config.ts'

export type Log = pino.Logger

/** Opens the log; lines are written at once, so that the last one before an exit is not lost. */
export function createLog(level: LogLevel): Log {
  return pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, serializers: { err: toLogged } },
    pino.destination({ dest: 2, sync: true }),
  )
}

/**
 * What the log keeps of an error: name, code, message, stack and causes.
 * Whatever looks like an address is blotted out, because databases and parsers quote what they were given.
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
 * Blots out every run of characters around an `@`: addresses, and the user part of URLs with them.
 * A run ends at what cannot stand in an address without quotes (the specials of RFC 5322 section 3.2.3).
 */
export function redactAddresses(text: string): string {
  return text.replace(/[^\s"()<>[\],;]*@[^\s"()<>[\],;]*/g, '[hidden]')
}
