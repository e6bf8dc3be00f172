/** Questions on a terminal. */

import { createInterface } from 'node:readline/promises'
import { escapeControls, Failure, toSignalExitCode } from '../failure.ts'
import { writeError } from '../files.ts'

/**
 * Asks a person. Returns the answer without the white space around it.
 *
 * @param stopped says what is not done when the person closes the terminal with Ctrl-C or Ctrl-D
 * @throws Failure when the person does
 */
export async function ask(question: string, stopped: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const closed = Promise.withResolvers<never>()
  const stop = () => {
    writeError('\n')
    closed.reject(new Failure(stopped, { exitCode: toSignalExitCode('SIGINT') }))
  }
  terminal.once('close', stop)
  try {
    const answer = await Promise.race([terminal.question(`${escapeControls(question)} `), closed.promise])
    return answer.trim()
  } finally {
    terminal.off('close', stop).close()
  }
}
