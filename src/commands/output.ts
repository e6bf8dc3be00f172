/** Output of the commands: data to standard output, everything else to standard error. */

import { createStdout } from '../transfer/writing/sink.ts'

const stdout = createStdout()

/** Prints data. @throws Failure when the reader is gone */
export async function print(text: string): Promise<void> {
  await stdout.write(`${text}\n`)
}

/** Prints a JSON value on one line. */
export async function printJson(value: unknown): Promise<void> {
  await print(JSON.stringify(value))
}

/** Prints a message on standard error. */
export function note(text: string): void {
  process.stderr.write(`${text}\n`)
}

/** A number with its noun, such as "1 row" and "1,200 rows". */
export function toCount(count: number, noun: string, plural = `${noun}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? noun : plural}`
}
