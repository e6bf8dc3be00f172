/** Output of the commands: data to standard output, everything else to standard error. */

import type { Failure } from '../failure.ts'
import { createStdout } from '../transfer/writing/sink.ts'
import type { Outputs } from './output-schemas.ts'
import { clearProgress } from './progress.ts'

const stdout = createStdout()

/** Prints data. @throws Failure when the reader is gone */
export async function print(text: string): Promise<void> {
  await stdout.write(`${text}\n`)
}

/** Prints what a verb prints with `--json`, on one line. */
export async function printJson<Verb extends keyof Outputs>(_verb: Verb, value: Outputs[Verb]): Promise<void> {
  await print(JSON.stringify(value))
}

/** Prints a message on standard error. */
export function note(text: string): void {
  clearProgress()
  process.stderr.write(`${text}\n`)
}

/** Prints why a command fails. A Failure without a message is silent. */
export function noteFailure({ message }: Failure): void {
  if (message) note(`rollcall: ${message}`)
}

/** A number with its noun, such as "1 row" and "1,200 rows". */
export function toCount(count: number, noun: string, plural = `${noun}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? noun : plural}`
}
