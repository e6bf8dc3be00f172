/** `rollcall export --exec`: hands subscribers to a command, and moves the cursor when the command confirms them. */

import { Failure } from '../failure.ts'
import { replaceFile } from '../files.ts'
import { BATCH_SIZE, RETRY_DELAY_MS } from '../limits.ts'
import type { SubscriberStore } from '../subscriber.ts'
import { checkCursor, readCursorFile, toCursorText } from '../transfer/cursor-file.ts'
import { pause } from '../transfer/pause.ts'
import { type Batch, createBatch } from '../transfer/writing/batch.ts'
import type { Writer } from '../transfer/writing/formats.ts'
import { runReceiver } from '../transfer/writing/receiver.ts'
import type { Exported } from './export-summary.ts'
import { note } from './output.ts'

export interface HandOverOptions {
  readonly command: string
  readonly cursorFile: string
  readonly writer: Writer
  /** Most subscribers in a batch. Default: BATCH_SIZE with `follow`, otherwise all in one batch. */
  readonly batch?: number | undefined
  /** Most subscribers in total. */
  readonly limit?: number | undefined
  readonly includeReserved?: boolean | undefined
  /** Wait for new subscribers, and repeat a batch that fails. */
  readonly follow?: boolean | undefined
}

/** Milliseconds between two looks for new subscribers. Those who arrive in between are a batch. */
const FOLLOW_INTERVAL_MS = 1_000

/**
 * Hands subscribers over in batches. Only a batch that the command confirms moves the cursor in `cursorFile`, so every
 * subscriber is handed over at least once.
 *
 * @param signal ends the work between two batches; a command that runs is awaited
 * @throws Failure when the command fails and `follow` is not set
 */
export async function handOver(
  store: SubscriberStore,
  options: HandOverOptions,
  signal: AbortSignal,
): Promise<Exported> {
  const { cursorFile, follow, limit = Number.POSITIVE_INFINITY } = options
  const size = options.batch ?? (follow ? BATCH_SIZE : Number.POSITIVE_INFINITY)
  const start = await checkCursor(store, await readCursorFile(cursorFile))
  let cursor = start.seq
  let [total, reserved] = [0, 0]
  while (total < limit) {
    signal.throwIfAborted()
    const most = Math.min(size, limit - total)
    const batch = await deliver(store, { ...options, after: cursor, listId: start.list, limit: most }, signal)
    if (batch.cursor !== cursor) await replaceFile(cursorFile, toCursorText({ seq: batch.cursor, list: start.list }))
    cursor = batch.cursor
    total += batch.rows
    reserved += batch.reserved
    if (batch.rows === most) continue
    if (!follow) break
    await pause(FOLLOW_INTERVAL_MS, signal)
  }
  return { rows: total, reserved, cursor }
}

/** Hands over the next batch. With `follow`, repeats it until the command confirms it. */
async function deliver(
  store: SubscriberStore,
  { command, cursorFile, follow, ...options }: HandOverOptions & { readonly after: number; readonly listId: string },
  signal: AbortSignal,
): Promise<Batch> {
  let until: number | undefined
  for (let delay: number = RETRY_DELAY_MS.first; ; delay = Math.min(2 * delay, RETRY_DELAY_MS.maximum)) {
    // Read from the list again for each attempt: it leaves out a subscriber who was removed since the last one.
    const batch = await createBatch(store, { ...options, neighbor: cursorFile, until })
    const problem = await runOn(command, batch)
    if (problem === undefined) return batch
    signal.throwIfAborted()
    const text = `subscribers ${batch.first} to ${batch.last}: ${problem}`
    if (!follow) throw new Failure(`${text}; the cursor stays at ${options.after}`)
    note(`${text}; trying again in ${delay / 1000} s`)
    // Later subscribers do not join a batch that was handed over, so that the receiver can recognize it.
    until = batch.last
    await pause(delay, signal)
  }
}

async function runOn(command: string, { document, first, last }: Batch): Promise<string | undefined> {
  if (document === undefined) return
  try {
    return await runReceiver(command, { document, first, last })
  } finally {
    await document.close()
  }
}
