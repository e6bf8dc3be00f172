/** A SQLite list on a thread of its own, so that neither the disk nor a lock blocks the event loop. */

import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Log } from '../../log.ts'
import { type ServiceStore, StoreError } from '../../subscriber.ts'
import { describeModes } from './checks.ts'
import { toBatch } from './inbox.ts'
import { toRealPath } from './paths.ts'
import type { Commands, Name, Needs, Reply, Report } from './worker.ts'

/**
 * Opens the list in a file, on a new thread. If the thread ends before it is closed, the process exits with 1, and the
 * supervisor starts it again. Logs a warning when other users may read the list.
 *
 * @throws StoreError when the file cannot be opened
 */
export async function openSqliteThread(file: string, log: Log): Promise<ServiceStore> {
  const worker = new Worker(new URL('./worker.ts', import.meta.url).href)
  const pending: PromiseWithResolvers<never>[] = []
  let isClosing = false
  let reason: Error | undefined

  worker.onmessage = ({ data }: MessageEvent<Reply | Report>) => {
    if ('report' in data) return log[data.level](data.report)
    // The thread replies in the order of the commands.
    const next = pending.shift()
    if (data.ok) next?.resolve(data.value as never)
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

  /** Sends a command, and returns its reply. */
  function send<N extends Name>(name: N, fields: Needs<N>): Promise<Awaited<ReturnType<Commands[N]>>> {
    const reply = Promise.withResolvers<never>()
    pending.push(reply)
    worker.postMessage({ name, ...(fields as object) })
    return reply.promise
  }

  try {
    await send('open', { file })
  } catch (error) {
    isClosing = true
    worker.terminate()
    throw error
  }
  const problem = describeModes(file)
  if (problem) log.warn(problem)

  return {
    add: (addresses) => send('append', toBatch(addresses)),
    probe: () => send('probe', {}),
    check: () => send('check', {}),
    async measure() {
      const [{ bavail, bsize }, measured] = await Promise.all([statfs(dirname(toRealPath(file))), send('measure', {})])
      return { ...measured, freeBytes: bavail * bsize }
    },
    async close() {
      isClosing = true
      if ((await send('close', {})) === 'closed') worker.terminate()
      else worker.unref()
    },
  }
}
