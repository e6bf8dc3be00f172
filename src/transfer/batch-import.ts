/** Imports a stream of rows in batches. The next batch is read while the store writes one. */

import { setImmediate } from 'node:timers/promises'
import type { ImportRow, ImportTally, SubscriberStore } from '../subscriber.ts'
import { toBatches } from './batches.ts'

/**
 * Throws the reason of a signal that has aborted. Lets the event loop turn first: an abort comes from a signal of the
 * system, and the work of a SQLite list is all microtasks.
 */
export async function checkSignal(signal: AbortSignal): Promise<void> {
  await setImmediate()
  signal.throwIfAborted()
}

export interface ImportOptions {
  /** Called after each batch with the tally of all batches so far. */
  readonly onBatch?: (tally: ImportTally) => void
  /** Stops the import between two batches: it then rejects with the reason of the signal. */
  readonly signal: AbortSignal
}

/** Imports all rows. When it fails or is stopped, the batches that were written stay on the list. */
export async function importRows(
  store: Pick<SubscriberStore, 'import' | 'importSize'>,
  pages: AsyncIterable<readonly ImportRow[]>,
  { onBatch, signal }: ImportOptions,
): Promise<ImportTally> {
  let tally: ImportTally = { added: 0, known: 0, suppressed: 0 }
  let writing: Promise<void> = Promise.resolve()

  async function write(batch: readonly ImportRow[]): Promise<void> {
    const { added, known, suppressed } = await store.import(batch)
    tally = {
      added: tally.added + added,
      known: tally.known + known,
      suppressed: tally.suppressed + suppressed,
    }
    onBatch?.(tally)
  }

  try {
    for await (const batch of toBatches(pages, store.importSize)) {
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
  return tally
}
