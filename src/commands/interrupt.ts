/** SIGINT and SIGTERM while a command is at work that must not be left half done. */

import { constants } from 'node:os'
import { Failure } from '../failure.ts'

/** A signal stopped the command. It has removed what was half done. */
export class Interrupted extends Failure {
  override readonly name = 'Interrupted'

  constructor(signal: NodeJS.Signals) {
    super('stopped', { exitCode: 128 + constants.signals[signal] })
  }
}

/**
 * Does work that looks at a signal where it may stop. The first SIGINT or SIGTERM aborts it, and the work
 * throws the reason as soon as it can; a second one ends the process at once.
 */
export async function interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController()
  const stop = (name: NodeJS.Signals) => {
    const reason = new Interrupted(name)
    if (controller.signal.aborted) process.exit(reason.exitCode)
    controller.abort(reason)
  }
  process.on('SIGINT', stop).on('SIGTERM', stop)
  try {
    return await work(controller.signal)
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop)
  }
}
