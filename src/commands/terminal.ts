/** Questions on a terminal. */

import { createInterface } from 'node:readline/promises'
import { escapeControls, Failure, toErrorCode, toSignalExitCode } from '../failure.ts'
import { writeError } from '../files.ts'

/**
 * Asks a person. Returns the answer without the white space around it.
 *
 * @param stopped says what is not done when the person closes the terminal with Ctrl-C or Ctrl-D
 * @throws Failure when the person does
 */
export async function ask(question: string, stopped: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return (await terminal.question(`${escapeControls(question)} `)).trim()
  } catch (error) {
    if (toErrorCode(error) !== 'ABORT_ERR') throw error
    writeError('\n')
    throw new Failure(stopped, { exitCode: toSignalExitCode('SIGINT') })
  } finally {
    terminal.close()
  }
}
