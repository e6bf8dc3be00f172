/** What the writer thread does when its list is lost. */

import { StoreError } from '../../subscriber.ts'
import { toReason } from './error.ts'
import type { SqliteStore } from './store.ts'

/** A line for the log. A failure is logged by the part that counts failures. */
export interface Report {
  readonly report: 'failure' | 'info' | 'warn' | 'error'
  readonly text: string
}

/** Milliseconds until a rescue file that could not be written is tried again. */
const RETRY_MS = 5_000

/**
 * Creates a function that looks whether a list is lost. If it is, the function reports it and writes a rescue file,
 * unless the list is complete under another name.
 */
export function createLook(
  store: Pick<SqliteStore, 'findLoss' | 'findElsewhere' | 'rescue'>,
  send: (report: Report) => void,
): () => Promise<void> {
  const sent = new Set<string>()
  let rescue: Promise<void> | undefined
  let retryAt = 0

  /** Sends a report once for each loss. */
  function tell(report: Report['report'], text: string): void {
    if (!sent.has(text)) send({ report, text })
    sent.add(text)
  }

  async function writeRescue(): Promise<void> {
    tell('warn', 'writing a rescue file: do not stop the service before it is complete')
    try {
      tell('warn', `the rescue file ${await store.rescue()} is complete: it has what the open files held`)
    } catch (error) {
      const reason = error instanceof StoreError ? error.message : toReason(error)
      tell('error', `no rescue file can be written: ${reason}; when the service stops, what the list held is gone`)
      retryAt = performance.now() + RETRY_MS
      rescue = undefined
    }
  }

  return async () => {
    const loss = store.findLoss()
    if (loss === undefined) {
      sent.clear()
      rescue = undefined
      return
    }
    tell('failure', `the list is lost: ${loss}`)
    const file = store.findElsewhere()
    if (file !== undefined) {
      return tell('warn', `the files of the list are at ${file} now: the service goes on when they come back`)
    }
    if (performance.now() > retryAt) rescue ??= writeRescue()
    await rescue
  }
}
