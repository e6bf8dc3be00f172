/** What commands print and ask: data to standard output, everything else to standard error. Controls are escaped, except in exports. */

import { createInterface } from 'node:readline'
import { escapeControls, Failure, hidePasswords, toSignalExitCode } from '../failure.ts'
import { readProcess, writeAll } from '../files.ts'
import { writeError } from '../stderr.ts'
import { toNumber } from '../words.ts'

/**
 * Refuses a standard output that was closed at the start. The runtime opens /dev/null in its place, with a flag (O_CLOEXEC) that
 * no descriptor of a caller has. @throws Failure
 */
export function checkStandardOutput(): void {
  // Such as `flags: 02100001`, in octal (proc_pid_fdinfo(5)).
  const flags = /^flags:\s*(\d+)/m.exec(readProcess('fdinfo/1').toString())?.[1] ?? '0'
  if ((Number.parseInt(flags, 8) & O_CLOEXEC) !== 0) throw new Failure('standard output is closed: use > /dev/null')
}

const O_CLOEXEC = 0o2000000

/** Prints lines of data. @throws Failure when they cannot be written */
export async function print(text: string): Promise<void> {
  clearProgress()
  await writeAll(process.stdout.fd, toLines(text), 'standard output')
}

/** Prints the output of `--json` on one line. docs/cli.md has the members; an absent value is null. */
export async function printJson(value: object): Promise<void> {
  await print(JSON.stringify(value, (_, member) => member ?? null))
}

/** Prints lines on standard error. They may repeat an argument, so passwords in them are hidden. */
export function note(text: string): void {
  clearProgress()
  writeError(toLines(hidePasswords(text)))
}

function toLines(text: string): string {
  return `${text.split('\n').map(escapeControls).join('\n')}\n`
}

/** Milliseconds before the first drawing, and between two. A command that takes less shows no progress. */
const INTERVAL_MS = 200

/** Starts the line again, and clears it to its end (ECMA-48, EL). */
const CLEAR = '\r\u001b[K'

let isDrawn = false

function clearProgress(): void {
  if (isDrawn) writeError(CLEAR)
  isDrawn = false
}

/**
 * Creates a function that shows a line such as `importing 120,000 rows (43 %)`, if standard error is a terminal. The next
 * output, and the end of the process, clear it.
 */
export function createProgress(verb: string, unit: 'rows' | 'addresses' | 'MB') {
  const isShown = process.stderr.isTTY
  let drawnAt = performance.now()
  process.on('exit', clearProgress)
  return (done: number, total: number): void => {
    if (!isShown || performance.now() < drawnAt + INTERVAL_MS) return
    drawnAt = performance.now()
    // A total may be an estimate.
    const share = Math.min(Math.floor((100 * done) / total), 99)
    writeError(`${CLEAR}${verb} ${toNumber(done)} ${unit} (${share} %)`)
    isDrawn = true
  }
}

/**
 * Asks a person. Returns the answer without the white space around it. The terminal edits the line itself: when the runtime
 * does, Ctrl-Z and `fg` leave it deaf, and spinning. @throws Failure `stopped` after Ctrl-C or Ctrl-D
 */
export async function ask(question: string, stopped: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, terminal: false })
  const answer = Promise.withResolvers<string>()
  const show = () => writeError(`${escapeControls(question)} `)
  const stop = () => {
    writeError('\n')
    answer.reject(new Failure(stopped, { exitCode: toSignalExitCode('SIGINT') }))
  }
  terminal.once('line', answer.resolve).once('close', stop)
  // After `fg`, the shell has written over the question.
  process.on('SIGINT', stop).on('SIGCONT', show)
  show()
  try {
    return (await answer.promise).trim()
  } finally {
    process.off('SIGINT', stop).off('SIGCONT', show)
    terminal.off('close', stop).close()
  }
}
