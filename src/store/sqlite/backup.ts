import type { BackupRequest } from './backup-worker.ts'
import { runOnThread } from './task-thread.ts'

/**
 * Copies a SQLite list while it is in use, and checks every page of the copy. A thread of its own does the work, so
 * that this one can receive signals.
 *
 * @param target must not exist yet. After an error the caller deletes what was written.
 * @returns the number of addresses in the copy
 * @throws StoreError when the list cannot be read, the file cannot be written, or the copy is incomplete; the reason
 * of the signal when it aborts
 */
export function copySqlite(file: string, target: string, signal: AbortSignal): Promise<number> {
  const request = { file, target } satisfies BackupRequest
  return runOnThread(new URL('./backup-worker.ts', import.meta.url), request, signal)
}
