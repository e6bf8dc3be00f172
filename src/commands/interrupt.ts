/** Stops a command at SIGINT or SIGTERM without leaving temporary files or half of a batch. */

import { Failure, toSignalExitCode } from '../failure.ts'

/**
 * Runs work that checks an AbortSignal wherever it can stop. The first SIGINT or SIGTERM aborts it with a Failure;
 * a second one ends the process at once.
 */
export async function withInterrupt<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController()
  const abort = (name: NodeJS.Signals) => {
    const exitCode = toSignalExitCode(name)
    if (controller.signal.aborted) process.exit(exitCode)
    controller.abort(new Failure('stopped', { exitCode }))
  }
  process.on('SIGINT', abort).on('SIGTERM', abort)
  try {
    return await work(controller.signal)
  } finally {
    process.off('SIGINT', abort).off('SIGTERM', abort)
  }
}
