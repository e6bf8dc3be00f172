/** Loaded into a process before its own code: starts the reports of sync-counter.c in the folder that SYNC_COUNTER names. */

import { cc } from 'bun:ffi'
import { toSupportFile } from './paths.ts'

if (Bun.isMainThread) {
  const { start } = cc({
    source: toSupportFile('sync-counter.c'),
    symbols: { start: { args: ['cstring'], returns: 'int' } },
  }).symbols
  const failedStep = start(Buffer.from(`${process.env.SYNC_COUNTER}\0`))
  if (failedStep !== 0) throw new Error(`sync-counter.c failed at step ${failedStep}: see its start()`)
}
