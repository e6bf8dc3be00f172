import { StoreError } from '../../subscriber.ts'
import type { BackupReply, BackupRequest } from './backup-worker.ts'

/**
 * Copies a SQLite list while it is in use, and checks every page of the copy. A thread of its own does the work, so
 * that this one can receive signals.
 *
 * @param target must not exist yet. After an error the caller deletes what was written.
 * @returns the number of addresses in the copy
 * @throws StoreError when the list cannot be read, the file cannot be written, or the copy is incomplete; the reason
 * of the signal when it aborts
 */
export async function copySqlite(file: string, target: string, signal: AbortSignal): Promise<number> {
  const worker = new Worker(new URL('./backup-worker.ts', import.meta.url).href)
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  worker.onmessage = ({ data }: MessageEvent<BackupReply>) => {
    if (data.ok) resolve(data.value)
    else reject(new StoreError(data.reason))
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
