/** Copies a SQLite list while it is in use, on a thread of its own, so that a signal is heard meanwhile. */

import { StoreError } from '../../subscriber.ts'
import type { BackupReply, BackupRequest } from './backup-worker.ts'

/**
 * Copies a list into a file that does not exist yet, and checks the copy: every page of it, and its count.
 *
 * @returns the number of addresses in the copy
 * @throws StoreError when the list cannot be read, the file cannot be written, or the copy is not whole;
 * the reason of the signal when it is aborted, and what was written is for the caller to take away
 */
export async function copySqlite(file: string, target: string, signal: AbortSignal): Promise<number> {
  const worker = new Worker(new URL('./backup-worker.ts', import.meta.url).href)
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  worker.onmessage = ({ data }: MessageEvent<BackupReply>) => {
    if ('failure' in data) reject(new StoreError(data.failure))
    else resolve(data.subscribers)
  }
  worker.onerror = ({ message }) => reject(new StoreError(`the list cannot be copied: ${message}`))
  signal.addEventListener('abort', () => reject(signal.reason))
  worker.postMessage({ file, target } satisfies BackupRequest)
  try {
    return await promise
  } finally {
    worker.terminate()
  }
}
