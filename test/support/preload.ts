/**
 * Loaded into a process of Rollcall before its own code (see PRELOADED): lets a test see and do what nobody can from outside.
 *
 *   SYNC_COUNTER   the folder of the reports of sync-counter.c
 *   SIGUSR2        ends the writer thread, as a crash does
 */

import { cc } from 'bun:ffi'
import { toSupportFile } from './paths.ts'

const { SYNC_COUNTER } = process.env

const Thread = globalThis.Worker
globalThis.Worker = class extends Thread {
  constructor(...args: ConstructorParameters<typeof Thread>) {
    super(...args)
    process.once('SIGUSR2', () => {
      // Under load, the thread has got a batch of addresses by then that it does not append.
      this.postMessage = () => {}
      setTimeout(() => this.terminate(), 20)
    })
  }
}

if (SYNC_COUNTER && Bun.isMainThread) {
  const { start } = cc({
    source: toSupportFile('sync-counter.c'),
    symbols: { start: { args: ['cstring'], returns: 'int' } },
  }).symbols
  const failedStep = start(Buffer.from(`${SYNC_COUNTER}\0`))
  if (failedStep !== 0) throw new Error(`sync-counter.c failed at step ${failedStep}: see its start()`)
}
