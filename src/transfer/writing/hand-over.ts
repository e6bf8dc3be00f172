/**
 * `export --exec`: hands batches of subscribers to a command. A batch is a file without a name, which outlives a kill of this
 * process. A shell pipes it into the command, and looks for what the command left in the pipe. With exit code 0 and nothing left,
 * the cursor moves. A kill before that does not move it, so the next run hands the batch over again: at least once.
 */

import { type FileHandle, open } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { Failure } from '../../failure.ts'
import { withPartialFile, writeAll } from '../../files.ts'
import { HAND_OVER_BATCH, RETRY_DELAY_MS } from '../../limits.ts'
import type { SubscriberStore } from '../../subscriber.ts'
import { type Cursor, type CursorFile, checkCursor } from '../cursor-file.ts'
import { type Exported, type Selection, writeSelection } from './selection.ts'

/** `signal` ends the work between two batches, and the reading of a batch between two pages. A command that runs may finish. */
interface HandOverOptions extends Pick<Selection, 'limit' | 'includeReserved' | 'writer' | 'signal'> {
  readonly command: string
  readonly cursorFile: CursorFile
  /** Most subscribers in a batch. Default: HAND_OVER_BATCH with `follow`, otherwise all in one batch. */
  readonly batch?: number | undefined
  /** Wait for new subscribers, and repeat a batch that fails. */
  readonly follow?: boolean | undefined
  /** Gets messages for the owner. */
  readonly note: (text: string) => void
}

/** Milliseconds after which `--follow` looks for new subscribers again. Those who arrive in between are a batch. */
const FOLLOW_INTERVAL_MS = 1_000

/** Hands subscribers over. @throws Failure when the command fails and `follow` is not set; as `deliver`; the reason of the signal */
export async function handOver(store: SubscriberStore, options: HandOverOptions) {
  const { cursorFile, follow, signal, limit = Infinity } = options
  const size = options.batch ?? (follow ? HAND_OVER_BATCH : Infinity)
  let cursor = checkCursor(await store.head(), cursorFile.cursor)
  let rows = 0
  let reserved = 0
  while (rows < limit) {
    const most = Math.min(size, limit - rows)
    const batch = await deliver(store, cursor, most, options)
    if (batch.cursor !== cursor.seq) {
      cursor = { ...cursor, seq: batch.cursor }
      await cursorFile.save(cursor)
    }
    signal.throwIfAborted()
    rows += batch.rows
    reserved += batch.reserved
    if (batch.rows === most) continue
    if (!follow) break
    await pause(FOLLOW_INTERVAL_MS, signal)
  }
  return { rows, reserved, cursor: cursor.seq }
}

/** The pause after one more failure, from the last one, in milliseconds: a receiver that is down for a night is asked once a minute. */
export const toNextDelay = (delay: number): number => Math.min(2 * delay, RETRY_DELAY_MS.maximum)

/**
 * Hands over the next batch. With `follow`, repeats it until the command confirms it.
 *
 * @throws StoreError when the list cannot be read, and Failure when the batch cannot be written, such as on a full disk: with `follow`
 * too, at once
 */
async function deliver(store: SubscriberStore, cursor: Cursor, limit: number, options: HandOverOptions) {
  const { follow, signal, note, includeReserved, writer } = options
  let upTo: number | undefined
  let delay: number = RETRY_DELAY_MS.first
  while (true) {
    checkCursor(await store.head(), cursor)
    // Read again for each attempt: it leaves out a subscriber who was removed since the last one.
    const selection = { after: cursor.seq, upTo, limit, includeReserved, writer, signal }
    const { file, batch } = await createBatch(store, selection, options.cursorFile.path)
    // Nobody to hand over. The cursor may move all the same, past addresses that are left out.
    if (file === undefined) return batch
    const problem = await runCommand(file, batch, options)
    if (problem === undefined) return batch
    signal.throwIfAborted()
    const text = `subscribers ${batch.first} to ${batch.last}: ${problem}`
    if (!follow) {
      throw new Failure(`${text}; the cursor stays at ${cursor.seq}: the next run hands over the same subscribers`)
    }
    note(`${text}; trying again in ${delay / 1000} s`)
    // Later subscribers do not join a batch that was handed over, so that the receiver can recognize it.
    upTo = batch.last
    await pause(delay, signal)
    delay = toNextDelay(delay)
  }
}

/**
 * Writes the next batch to a file without a name. `file` is undefined when there is no subscriber. The caller closes it.
 * @throws as `writeSelection`. Such an error ends this process, and the system then deletes the file
 */
async function createBatch(store: SubscriberStore, selection: Selection, path: string) {
  let output: FileHandle | undefined
  let file: FileHandle | undefined
  async function write(text: string): Promise<void> {
    // The system deletes the content with the last process that has the file open, however that process ends.
    output ??= await withPartialFile(path, path, async (partial) => {
      file = await open(partial, 'r')
      return await open(partial, 'w')
    })
    await writeAll(output.fd, text, path)
  }
  const batch = await writeSelection(store, selection, write)
  await output?.close()
  return { file, batch }
}

/**
 * The exit codes of SCRIPT itself. A command that exits with one of them gets a reason that is not its own; the cursor stays all the
 * same.
 */
const SCRIPT_EXIT = { notSent: 200, notRead: 201 } as const

/**
 * Runs the command ($1) with a pipe as its standard input: a command may open /dev/stdin, which fails for the sockets
 * that the runtime makes, and `read` shows what the command left in the pipe, which it cannot for a file.
 *
 * `cat` feeds the pipe. When SIGPIPE ends it (141), the command has stopped reading, and the exit code of the second part counts. When
 * `cat` fails for another reason, the command has got only a part of the batch. Then `cat` sends USR1 to this shell (`$$`), which runs
 * its trap when the pipeline has ended. So the exit code is that of the trap, also when the command was content with its part.
 *
 * The second part exits with the code of the command when it fails (`|| exit`), and otherwise looks for what it has not read.
 */
const SCRIPT = `
trap 'exit ${SCRIPT_EXIT.notSent}' USR1
{ cat || [ $? -eq 141 ] || kill -s USR1 $$; } | {
  ROLLCALL_FIRST_SEQ=$2 ROLLCALL_LAST_SEQ=$3 /bin/sh -c "$1" || exit
  if IFS= read -r rest || [ -n "$rest" ]; then exit ${SCRIPT_EXIT.notRead}; fi
}`

/** Runs the command with a batch. Returns what went wrong; undefined when it has read the batch to its end and exited with 0. */
async function runCommand(file: FileHandle, { first, last }: Exported, { command, signal, note }: HandOverOptions) {
  const child = Bun.spawn(['/bin/sh', '-c', SCRIPT, 'sh', command, String(first), String(last)], {
    stdin: file.fd,
    stdout: 'inherit',
    stderr: 'inherit',
    // A group of its own: Ctrl-C does not reach the command, and `end` reaches all of it.
    detached: true,
  })
  const wait = () => note('waiting for the command; a second signal ends it')
  const end = () => void process.kill(-child.pid, 'SIGTERM')
  signal.addEventListener('abort', wait)
  process.on('exit', end)
  try {
    await child.exited
  } finally {
    signal.removeEventListener('abort', wait)
    process.off('exit', end)
    await file.close()
  }
  const { exitCode, signalCode } = child
  if (exitCode === 0) return undefined
  if (exitCode === SCRIPT_EXIT.notSent) return 'the rows could not be sent to the command'
  if (exitCode === SCRIPT_EXIT.notRead) return 'the command exited with 0 but did not read all of its standard input'
  return `the command exited with ${exitCode ?? signalCode}`
}

/** Waits. @throws the reason of the signal, when it is aborted before the end */
async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await sleep(milliseconds, undefined, { signal }).catch(() => signal.throwIfAborted())
}
