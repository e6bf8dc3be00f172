/** The command that receives a batch. */

import type { UnnamedFile } from './sink.ts'

export interface ReceiverInput {
  readonly document: UnnamedFile
  /** The `seq` of the first and of the last subscriber in the document. */
  readonly first: number
  readonly last: number
}

/** Exit codes of SCRIPT that are not those of the command. */
const EXIT = { notSent: 200, notRead: 201 } as const

/**
 * Runs the command ($1) with a pipe as its standard input: a command may open /dev/stdin, which fails for the sockets
 * that the runtime makes, and `read` shows what the command left in the pipe, which it cannot for a file.
 *
 * A `cat` that SIGPIPE ends (141) has no reader any more; then the exit code of the command, or of `read`, counts.
 */
const SCRIPT = `
trap 'exit ${EXIT.notSent}' USR1
{ cat || [ $? -eq 141 ] || kill -s USR1 $$; } | {
  ROLLCALL_FIRST_SEQ=$2 ROLLCALL_LAST_SEQ=$3 /bin/sh -c "$1" || exit
  if IFS= read -r rest || [ -n "$rest" ]; then exit ${EXIT.notRead}; fi
}`

/**
 * Runs a command of the shell with a document as its standard input. Its output goes where that of this process goes.
 *
 * @returns undefined when the command has read the document to its end and exited with 0; otherwise what went wrong
 */
export async function runReceiver(
  command: string,
  { document, first, last }: ReceiverInput,
): Promise<string | undefined> {
  const child = Bun.spawn(['/bin/sh', '-c', SCRIPT, 'sh', command, String(first), String(last)], {
    stdin: document.descriptor,
    stdout: 'inherit',
    stderr: 'inherit',
  })
  await child.exited
  return toProblem(child)
}

function toProblem({ exitCode, signalCode }: Pick<Bun.Subprocess, 'exitCode' | 'signalCode'>): string | undefined {
  if (signalCode !== null) return `the command was ended by ${signalCode}`
  if (exitCode === EXIT.notSent) return 'the rows could not be sent to the command'
  if (exitCode === EXIT.notRead) return 'the command exited with 0 but did not read all of its standard input'
  return exitCode === 0 ? undefined : `the command exited with ${exitCode}`
}
