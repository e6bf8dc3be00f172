/** A progress bar on standard error, if that is a terminal. */

import { writeSync } from 'node:fs'
import { isDumbTerminal } from '../config/environment.ts'
import { type ProgressState, toProgressLine } from './progress-line.ts'

export interface Progress {
  /** @param done the part of the total that is done; @param amount what is shown with its rate; default: `done` */
  update(done: number, amount?: number): void
  /** Clears the line. */
  stop(): void
}

export interface ProgressOptions extends Partial<Pick<ProgressState, 'unit'>> {
  /** Called only when there is a bar, because it may take long. */
  readonly findTotal: () => Promise<number | undefined>
  /** The command writes to standard output meanwhile: no bar if that is a terminal too. */
  readonly hasOutput?: boolean
}

/** A command that takes less than this many milliseconds shows no bar. */
const DELAY_MS = 300

/** Milliseconds between two drawings. */
const INTERVAL_MS = 100

/** Starts the line again, and clears it to its end (ECMA-48, EL). */
const CLEAR = '\r\u001b[K'

const NONE: Progress = { update() {}, stop() {} }

/** Removes the bar that is on the screen. */
let clear = () => {}

/** Clears the line of a bar before other text is written there. The bar comes back with its next update. */
export function clearProgress(): void {
  clear()
}

/**
 * Shows a bar with the rate and the time left; only the amount and the rate if the total is not known. It uses no colour
 * and leaves the cursor as it is, so it needs no cleaning up but to clear its line.
 */
export async function createProgress(
  verb: string,
  { findTotal, unit = 'rows', hasOutput = false }: ProgressOptions,
): Promise<Progress> {
  const { stderr, stdout } = process
  if (!stderr.isTTY || (hasOutput && stdout.isTTY) || isDumbTerminal()) return NONE
  const total = await findTotal()
  const start = performance.now()
  let drawnAt = start + DELAY_MS - INTERVAL_MS
  let isDrawn = false

  clear = () => {
    if (isDrawn) write(CLEAR)
    isDrawn = false
  }

  function stop(): void {
    clear()
    clear = () => {}
    process.off('exit', stop).off('SIGINT', end).off('SIGTERM', end)
  }

  /** Ends the process as the signal does, unless the command has its own way to stop. */
  function end(signal: NodeJS.Signals): void {
    clear()
    process.off(signal, end)
    if (process.listenerCount(signal) === 0) process.kill(process.pid, signal)
  }

  process.on('exit', stop).on('SIGINT', end).on('SIGTERM', end)
  return {
    update(done, amount = done) {
      const now = performance.now()
      if (now < drawnAt + INTERVAL_MS) return
      drawnAt = now
      const state = { verb, unit, done, total, amount, seconds: (now - start) / 1000 }
      // In the last column, some terminals start a new line.
      write(CLEAR + toProgressLine(state, (stderr.columns || 80) - 1))
      isDrawn = true
    },
    stop,
  }
}

/** Writes at once, so that a signal finds the line as it is on the screen. */
function write(text: string): void {
  try {
    writeSync(process.stderr.fd, text)
  } catch {
    // The terminal is gone, or stopped with ^S.
  }
}
