/** Puts a stream of rows on a list, and reads on while the store is at work. */

import type { ImportRow, ImportTally, SubscriberStore } from '../subscriber.ts'
import { toBatches } from './batches.ts'

export interface ImportOptions {
  /** Called with the tally so far, after each batch. */
  readonly onBatch?: (tally: ImportTally) => void
  /** Stops between two batches, by throwing its reason. */
  readonly signal: AbortSignal
}

/** Imports all rows; every batch that it has begun is ended. */
export async function importRows(
  store: Pick<SubscriberStore, 'import' | 'importSize'>,
  pages: AsyncIterable<readonly ImportRow[]>,
  { onBatch, signal }: ImportOptions,
): Promise<ImportTally> {
  let tally: ImportTally = { added: 0, known: 0, suppressed: 0 }
  let atWork: Promise<void> = Promise.resolve()

  async function take(batch: readonly ImportRow[]): Promise<void> {
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
      await atWork
      signal.throwIfAborted()
      atWork = take(batch)
      // It is awaited above or below; until then its failure is nobody's.
      atWork.catch(() => {})
    }
  } finally {
    await atWork
  }
  signal.throwIfAborted()
  return tally
}
