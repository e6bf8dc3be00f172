/** A SQLite list on a thread of its own, so that neither the disk nor a lock blocks the event loop. */

import type { Log } from '../../log.ts'
import { type ServiceStore, StoreError, type StoreMeasure } from '../../subscriber.ts'
import type { OnOutdated } from '../version.ts'
import { describeModes } from './checks.ts'
import { toRealPath } from './paths.ts'
import type { Outdated, Reply, Report, Task } from './worker.ts'

/**
 * Opens the list in a file, on a new thread. If the thread ends before it is closed, the process exits with 1, and the supervisor
 * starts it again. Logs a warning when other users may read the list. @throws StoreError; as `toRealPath`
 */
export async function openSqliteThread(file: string, log: Log, onOutdated?: OnOutdated): Promise<ServiceStore> {
  // A usage error has an exit code of its own, which the thread does not pass on.
  toRealPath(file)
  const worker = new Worker(new URL('./worker.ts', import.meta.url).href)
  const pending: PromiseWithResolvers<unknown>[] = []
  let isClosing = false
  let reason: Error | undefined

  worker.onmessage = ({ data }: MessageEvent<Reply | Report | Outdated>) => {
    if ('outdated' in data) return onOutdated?.(data.outdated)
    if ('report' in data) return log[data.level](data.report)
    // The thread replies in the order of the tasks.
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

  /** Sends a task, and returns its reply. */
  function send<Value = void>(name: Task['name'], text = ''): Promise<Value> {
    const reply = Promise.withResolvers<unknown>()
    pending.push(reply)
    worker.postMessage({ name, text } satisfies Task)
    return reply.promise as Promise<Value>
  }

  try {
    await send('open', file)
  } catch (error) {
    isClosing = true
    worker.terminate()
    throw error
  }
  const problem = describeModes(file)
  if (problem) log.warn(problem)

  return {
    add: (addresses) => send('append', JSON.stringify(addresses)),
    probe: () => send('probe'),
    ready: () => send('ready'),
    measure: () => send<StoreMeasure>('measure'),
    async close() {
      isClosing = true
      const isLost = await send<boolean>('close')
      // SQLite would close a lost list at the end of its thread, and delete the log at its path.
      if (isLost) worker.unref()
      else worker.terminate()
    },
  }
}
