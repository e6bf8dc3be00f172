/** Where commands speak: data on standard output, all else on standard error. */

import { createStdout } from '../transfer/writing/sink.ts'

const stdout = createStdout()

/** Prints data. @throws BrokenPipe when nobody reads any more */
export async function print(text: string): Promise<void> {
  await stdout.write(`${text}\n`)
}

/** Prints data for a program: one JSON value on a line. */
export async function printJson(value: unknown): Promise<void> {
  await print(JSON.stringify(value))
}

/** Says something to whoever watches. */
export function note(text: string): void {
  process.stderr.write(`${text}\n`)
}

/** A number with its noun, as in "1 address" and "1,200 addresses". */
export function toCount(count: number, noun: string, plural = `${noun}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? noun : plural}`
}
