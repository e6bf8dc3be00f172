/**
 * The log on stderr about start, stop and failures, without email addresses: text on a terminal, and JSON lines
 * otherwise.
 */

import pino from 'pino'
import type { Config } from './config/config.ts'
import { escapeControls, toLogged } from './failure.ts'
import { writeError } from './stderr.ts'

export type Log = pino.Logger

/** Opens the log. It never throws or waits: a line that cannot be written at once is lost. */
export function createLog(level: Config['logLevel']): Log {
  const toLine = process.stderr.isTTY ? toText : (line: string) => line
  return pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, serializers: { err: toLogged } },
    { write: (line) => writeError(toLine(line), 0) },
  )
}

/** A trouble that may last: while it does, its reasons come again and again. */
export interface Trouble {
  /** Whether it has begun, and has not ended. */
  isOn(): boolean
  /** Logs a reason, once until the trouble ends: a full disk must not fill up with log lines too. */
  add(reason: Error): void
  /** Logs that it is over, if it had begun. */
  end(): void
}

/** Creates a trouble. @param texts what the log says of each reason, and at the end */
export function createTrouble(log: Log, texts: { readonly begin: string; readonly end: string }): Trouble {
  const reasons = new Set<string>()
  return {
    isOn: () => reasons.size > 0,
    add(reason) {
      if (reasons.has(reason.message)) return
      reasons.add(reason.message)
      log.error({ err: reason }, texts.begin)
    },
    end() {
      if (reasons.size === 0) return
      reasons.clear()
      log.info(texts.end)
    },
  }
}

interface LoggedError {
  readonly message: string
  readonly stack?: string
  readonly cause?: LoggedError
}

/** Converts a line of the log to text: the local time, the level, the message, and an error with its causes. */
function toText(line: string): string {
  const { level, time, msg, err }: { level: number; time: string; msg: string; err?: LoggedError } = JSON.parse(line)
  const clock = new Date(time).toTimeString().slice(0, 'hh:mm:ss'.length)
  const lines = [`${clock} ${pino.levels.labels[level]} ${msg}`]
  for (let error = err; error; error = error.cause) {
    // What is no Failure has a stack, which begins with its message.
    const { message, stack = message } = error
    lines.push(...stack.split('\n').map((text) => `  ${text}`))
  }
  return `${lines.map(escapeControls).join('\n')}\n`
}
