/** A SQLite list on a thread of its own, so that neither the disk nor a lock blocks the event loop. */

import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Log } from '../../log.ts'
import { type ServiceStore, StoreError } from '../../subscriber.ts'
import { describeModes } from './checks.ts'
import { toRealPath } from './file.ts'
import type { Command, Reply, Report } from './worker.ts'

/**
 * Opens the list in a file, on a new thread. If the thread ends before it is closed, the process exits with 1, and the
 * supervisor starts it again. Logs a warning when other users may read the list.
 *
 * @throws StoreError when the file cannot be opened
 */
export async function openSqliteThread(file: string, log: Log): Promise<ServiceStore> {
  const worker = new Worker(new URL('./worker.ts', import.meta.url).href)
  const pending: PromiseWithResolvers<Date | undefined>[] = []
  let isClosing = false
  let reason: Error | undefined

  worker.onmessage = ({ data }: MessageEvent<Reply | Report>) => {
    if ('report' in data) return log.warn(data.report)
    // The thread replies in the order of the commands.
    const next = pending.shift()
    if (data.ok) next?.resolve(data.value)
    else next?.reject(new StoreError(data.reason))
  }
  worker.onerror = ({ message }) => {
    reason = new Error(message)
  }
  worker.addEventListener('close', () => {
    if (isClosing) return
    log.error({ err: reason }, 'the writer thread has ended, so the service ends')
    process.exit(1)
  })

  function send(command: Command): Promise<Date | undefined> {
    const reply = Promise.withResolvers<Date | undefined>()
    pending.push(reply)
    worker.postMessage(command)
    return reply.promise
  }

  async function close(): Promise<void> {
    isClosing = true
    // SQLite must not close a lost list: see ListFile. So the thread of one ends with the process, not before.
    await send({ call: 'close' }).then(
      () => worker.terminate(),
      () => worker.unref(),
    )
  }

  try {
    await send({ call: 'open', file })
  } catch (error) {
    isClosing = true
    worker.terminate()
    throw error
  }
  const problem = describeModes(file)
  if (problem) log.warn(problem)

  return {
    add: async (addresses) => void (await send(JSON.stringify(addresses))),
    probe: async () => void (await send('[]')),
    check: async () => void (await send({ call: 'check' })),
    async measure() {
      const [{ bavail, bsize }, inboxSince] = await Promise.all([
        statfs(dirname(toRealPath(file))),
        send({ call: 'measure' }),
      ])
      return { inboxSince, freeBytes: bavail * bsize }
    },
    close,
  }
}
