/** A SQLite list on a thread of its own, so that the disk never blocks the event loop. */

import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Log } from '../../log.ts'
import { type ServiceStore, StoreError } from '../../subscriber.ts'
import { describeMigration } from './file.ts'
import { warnOfModes } from './file-modes.ts'
import { type FileId, readTargetId } from './held-file.ts'
import type { Report } from './lost-list.ts'
import { warnOfRescues } from './rescue.ts'
import type { Command, Measure, Message, Reply } from './worker.ts'

/** Milliseconds before a thread that ended is started again. Doubles each time it ends in a row. */
const RESTART_MS = 100
const MAX_RESTART_MS = 5_000

/**
 * Opens the list in a file, on a new thread. If the thread ends, the error is logged and the thread is started again.
 * Until then every call rejects, as do the calls that it had not confirmed. A warning is logged when other users may
 * read the list.
 *
 * @throws StoreError when the file cannot be opened
 */
export async function openSqliteThread(file: string, log: Log): Promise<ServiceStore> {
  let thread: Worker | undefined
  let pending: PromiseWithResolvers<void>[] = []
  let isClosing = false
  let delay = RESTART_MS
  let id: FileId | undefined
  let inboxSince: number | undefined
  let onFailure = (_error: Error): void => {}

  async function start(): Promise<void> {
    const worker = new Worker(new URL('./worker.ts', import.meta.url).href)
    worker.onmessage = ({ data }: MessageEvent<Message>) => ('ok' in data ? resolveNext(data) : take(data))
    worker.onerror = ({ message }) => log.error({ err: new Error(message) }, 'the writer thread failed')
    worker.addEventListener('close', () => void restart())
    thread = worker
    await send({ call: 'open', file, id })
    // A thread that starts again must find the same file: it creates no list, and uses no other.
    id ??= readTargetId(file)
    delay = RESTART_MS
  }

  // The thread replies in the order of the commands.
  function resolveNext(reply: Reply): void {
    const next = pending.shift()
    if (reply.ok) next?.resolve()
    else next?.reject(new StoreError(reply.reason))
  }

  function take(message: Report | Measure): void {
    if ('inboxSince' in message) inboxSince = message.inboxSince
    else if (message.report === 'failure') onFailure(new StoreError(message.text))
    else log[message.report](message.text)
  }

  function send(command: Command): Promise<void> {
    if (!thread) return Promise.reject(new StoreError('the writer thread is starting again'))
    const reply = Promise.withResolvers<void>()
    pending.push(reply)
    thread.postMessage(command)
    return reply.promise
  }

  async function restart(): Promise<void> {
    const unconfirmed = pending
    thread = undefined
    pending = []
    for (const { reject } of unconfirmed) reject(new StoreError('the writer thread has ended'))
    if (isClosing) return
    log.error({ restartMs: delay }, 'the writer thread has ended; it starts again')
    await Bun.sleep(delay)
    delay = Math.min(delay * 2, MAX_RESTART_MS)
    if (!isClosing) await start().catch(endThread)
  }

  /** Ends a thread that cannot open the list, which restarts it. */
  function endThread(error: unknown): void {
    log.error({ err: error }, 'the list cannot be opened')
    thread?.terminate()
  }

  try {
    const migration = describeMigration(file)
    if (migration) log.info(migration)
    await start()
    warnOfModes(file, log)
    warnOfRescues(file, log)
  } catch (error) {
    isClosing = true
    thread?.terminate()
    throw error
  }

  return {
    add: (addresses) => send(JSON.stringify(addresses)),
    check: () => send({ call: 'check' }),
    onFailure: (listener) => (onFailure = listener),
    async measure() {
      const [{ bavail, bsize }] = await Promise.all([statfs(dirname(file)), send({ call: 'measure' })])
      return { inboxSince: inboxSince === undefined ? undefined : new Date(inboxSince), freeBytes: bavail * bsize }
    },
    async close() {
      isClosing = true
      // A thread that ended has nothing to close. One with a lost list does not close it, and neither does the end of a
      // thread do so when it comes with the end of the process.
      await send({ call: 'close' }).then(
        () => thread?.terminate(),
        () => thread?.unref(),
      )
    },
  }
}
