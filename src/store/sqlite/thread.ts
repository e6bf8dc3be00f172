/** A SQLite list on a thread of its own, so that the disk never blocks the event loop. */

import type { Address } from '../../email.ts'
import type { Log } from '../../log.ts'
import { type ServiceStore, StoreError } from '../../subscriber.ts'
import type { Command, Reply } from './worker.ts'

/** A crashed writer is started again after this many milliseconds, and later each time it happens in a row. */
const RESTART_MS = 100
const MAX_RESTART_MS = 5_000

interface Waiter {
  readonly resolve: () => void
  readonly reject: (error: StoreError) => void
}

/**
 * Opens the list in a file, on a new thread. A thread that ends unasked is logged and started again; what it
 * had not confirmed is rejected, and so is everything until it is back.
 *
 * @throws StoreError when the file cannot be opened
 */
export async function openSqliteThread(file: string, log: Log): Promise<ServiceStore> {
  let writer: Worker | undefined
  let waiters: Waiter[] = []
  let closing = false
  let delay = RESTART_MS

  async function start(): Promise<void> {
    const worker = new Worker(new URL('./worker.ts', import.meta.url).href)
    worker.onmessage = ({ data }: MessageEvent<Reply>) => settle(data)
    worker.onerror = ({ message }) => log.error({ err: new Error(message) }, 'the writer thread failed')
    worker.addEventListener('close', () => void end())
    writer = worker
    await send({ open: file })
    delay = RESTART_MS
  }

  // The thread answers in the order in which it was asked.
  function settle(reply: Reply): void {
    const waiter = waiters.shift()
    if (reply.failure) waiter?.reject(new StoreError(reply.failure))
    else waiter?.resolve()
  }

  function send(command: Command): Promise<void> {
    if (!writer) return Promise.reject(new StoreError('the writer thread is being started again'))
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    waiters.push({ resolve, reject })
    writer.postMessage(command)
    return promise
  }

  async function end(): Promise<void> {
    const lost = waiters
    writer = undefined
    waiters = []
    for (const { reject } of lost) reject(new StoreError('the writer thread has ended'))
    if (closing) return
    log.error({ restartMs: delay }, 'the writer thread has ended, and is started again')
    await Bun.sleep(delay)
    delay = Math.min(delay * 2, MAX_RESTART_MS)
    if (!closing) await start().catch(giveUp)
  }

  /** Ends a thread that has no list, and so has it started again. */
  function giveUp(error: unknown): void {
    log.error({ err: error }, 'the list cannot be opened')
    writer?.terminate()
  }

  try {
    await start()
  } catch (error) {
    closing = true
    writer?.terminate()
    throw error
  }

  return {
    add: (addresses: readonly Address[]) => send(JSON.stringify(addresses)),
    check: () => send({ call: 'check' }),
    async close() {
      closing = true
      // A thread that has ended has nothing to close.
      await send({ call: 'close' }).catch(() => {})
      writer?.terminate()
    },
  }
}
