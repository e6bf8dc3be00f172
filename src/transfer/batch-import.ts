/** Imports a stream of rows in batches. The next batch is read while the store writes one. */

import { setImmediate } from 'node:timers/promises'
import { CHANGE_BATCH } from '../limits.ts'
import type { ImportRow, ImportTally, OptOut, OptOutTally, SubscriberStore } from '../subscriber.ts'
import { toBatches } from './batches.ts'

/**
 * Throws the reason of a signal that has aborted. Lets the event loop turn first: an abort comes from a signal of the
 * system, and the work of a SQLite list is all microtasks.
 */
export async function checkSignal(signal: AbortSignal): Promise<void> {
  await setImmediate()
  signal.throwIfAborted()
}

interface BatchOptions<Tally> {
  /** Called after each batch with the tally of all batches so far. */
  readonly onBatch?: (tally: Tally) => void
  /** Stops the import between two batches: it then rejects with the reason of the signal. */
  readonly signal: AbortSignal
}

export type ImportOptions = BatchOptions<ImportTally>

/** Imports all rows. When it fails or is stopped, the batches that were written stay on the list. */
export async function importRows(
  store: Pick<SubscriberStore, 'import'>,
  pages: AsyncIterable<readonly ImportRow[]>,
  { onBatch, signal }: ImportOptions,
): Promise<ImportTally> {
  let tally: ImportTally = { added: 0, known: 0, suppressed: 0 }
  await writeBatches(toBatches(pages, CHANGE_BATCH), signal, async (batch) => {
    const { added, known, suppressed } = await store.import(batch)
    tally = {
      added: tally.added + added,
      known: tally.known + known,
      suppressed: tally.suppressed + suppressed,
    }
    onBatch?.(tally)
  })
  return tally
}

export interface OptOutOptions extends BatchOptions<OptOutTally> {
  /** Whether to remove subscribers also when it is unknown when the person left. */
  readonly removeUndated: boolean
}

/** Suppresses all people who opted out. When it fails or is stopped, the batches that were written stay suppressed. */
export async function suppressRows(
  store: Pick<SubscriberStore, 'suppress'>,
  pages: AsyncIterable<readonly OptOut[]>,
  { onBatch, signal, removeUndated }: OptOutOptions,
): Promise<OptOutTally> {
  let tally: OptOutTally = { added: 0, removed: 0, kept: 0, known: 0 }
  await writeBatches(toBatches(pages, CHANGE_BATCH), signal, async (batch) => {
    const { added, removed, kept, known } = await store.suppress(batch, { removeUndated })
    tally = {
      added: tally.added + added,
      removed: tally.removed + removed,
      kept: tally.kept + kept,
      known: tally.known + known,
    }
    onBatch?.(tally)
  })
  return tally
}

async function writeBatches<Row>(
  batches: AsyncIterable<readonly Row[]>,
  signal: AbortSignal,
  write: (batch: readonly Row[]) => Promise<void>,
): Promise<void> {
  let writing: Promise<void> = Promise.resolve()
  try {
    for await (const batch of batches) {
      await writing
      await checkSignal(signal)
      writing = write(batch)
      // Prevents an unhandled rejection while the next batch is read: `writing` is awaited after that.
      writing.catch(() => {})
    }
  } finally {
    await writing
  }
  signal.throwIfAborted()
}
