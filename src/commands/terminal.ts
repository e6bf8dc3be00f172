/** Questions on a terminal. */

import { createInterface } from 'node:readline/promises'
import { escapeControls, Failure, toSignalExitCode } from '../failure.ts'
import { writeError } from '../stderr.ts'

/**
 * Runs what asks a person.
 *
 * @param work gets a function that asks, and returns the answer without the white space around it
 * @param stopped says what was not done when the person closes the terminal with Ctrl-C or Ctrl-D
 * @throws Failure when the person does
 */
export async function askPerson<T>(
  stopped: string,
  work: (ask: (question: string) => Promise<string>) => Promise<T>,
): Promise<T> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const closed = Promise.withResolvers<never>()
  const stop = () => {
    writeError('\n')
    closed.reject(new Failure(stopped, { exitCode: toSignalExitCode('SIGINT') }))
  }
  terminal.once('close', stop)
  const ask = (question: string) => terminal.question(`${escapeControls(question)} `).then((answer) => answer.trim())
  try {
    return await Promise.race([work(ask), closed.promise])
  } finally {
    terminal.off('close', stop).close()
  }
}
