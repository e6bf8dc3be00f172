/**
 * Loaded into a process of Rollcall before its own code (see PRELOADED): lets a test see and do what nobody can from outside.
 *
 *   SYNC_COUNTER   the folder of the reports of sync-counter.c
 *   WRONG_CLOCK    a file: while it is there, the clock is in 1970
 *   SIGUSR2        ends the writer thread, as a crash does
 */

import { cc } from 'bun:ffi'
import { existsSync } from 'node:fs'
import { toSupportFile } from './paths.ts'

const { SYNC_COUNTER, WRONG_CLOCK } = process.env

if (WRONG_CLOCK) {
  const { now } = Date
  Date.now = () => (existsSync(WRONG_CLOCK) ? 300_000 : now())
}

const Thread = globalThis.Worker
globalThis.Worker = class extends Thread {
  constructor(...[script, options]: ConstructorParameters<typeof Thread>) {
    // A thread has a clock of its own.
    super(script, { ...options, ...(WRONG_CLOCK && { preload: import.meta.path }) })
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
