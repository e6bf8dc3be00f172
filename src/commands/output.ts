/**
 * Output of the commands: data to standard output, everything else to standard error. With `--json`, each line of
 * standard error is an object too, with one member that says what it is.
 */

import type { Failure } from '../failure.ts'
import { createStdout } from '../transfer/writing/sink.ts'
import type { Message, Outputs, Summaries } from './output-schemas.ts'
import { clearProgress } from './progress.ts'

const stdout = createStdout()
let hasJsonMessages = false

/** Makes all messages JSON objects, from now on. */
export function useJsonMessages(): void {
  hasJsonMessages = true
}

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
  writeMessage({ note: text }, text)
}

/** Prints the summary of a verb that prints rows: on standard error. @param text the same for people */
export function noteSummary<Verb extends keyof Summaries>(_verb: Verb, summary: Summaries[Verb], text: string): void {
  writeMessage({ summary }, text)
}

/** Prints why a command fails. A Failure without a message is silent. */
export function noteFailure({ message, exitCode }: Pick<Failure, 'message' | 'exitCode'>): void {
  if (message) writeMessage({ error: { message, exit_code: exitCode } }, `rollcall: ${message}`)
}

function writeMessage(message: Message, text: string): void {
  clearProgress()
  process.stderr.write(`${hasJsonMessages ? JSON.stringify(message) : text}\n`)
}

/** A number with its noun, such as "1 row" and "1,200 rows". */
export function toCount(count: number, noun: string, plural = `${noun}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? noun : plural}`
}
