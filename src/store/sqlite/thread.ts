/** A SQLite list on a thread of its own, so that neither the disk nor a lock blocks the event loop. */

import { dirname, join } from 'node:path'
import { EXIT } from '../../failure.ts'
import type { Log } from '../../log.ts'
import { type MigratingError, type ServiceStore, StoreError, type StoreMeasure } from '../../subscriber.ts'
import { type OnOutdated, toMigratingError, toMigrationBegin, toMigrationEnd } from '../version.ts'
import { describeMemory, describeModes } from './checks.ts'
import { toRealPath } from './paths.ts'
import { SCHEMA_VERSION } from './schema.ts'
import type { Outdated, Reply, Report, Task } from './worker.ts'

/** Who gets what the thread says of its own accord. */
interface Recipients {
  readonly log: Log
  readonly onOutdated: OnOutdated | undefined
}

/**
 * Starts the thread. If it ends before it is closed, the process exits with 1, and the supervisor starts it again: nothing can be
 * written any more.
 */
function startThread({ log, onOutdated }: Recipients) {
  const worker = new Worker(join(import.meta.dir, 'worker.ts'))
  /** The tasks that have no reply yet, in their order. */
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
    process.exit(EXIT.failed)
  })

  return {
    /** Sends a task, and returns its reply. */
    send<Value = void>(name: Task['name'], text = ''): Promise<Value> {
      const reply = Promise.withResolvers<unknown>()
      pending.push(reply)
      worker.postMessage({ name, text } satisfies Task)
      return reply.promise as Promise<Value>
    },
    /** Call it before the last task. */
    expectEnd(): void {
      isClosing = true
    },
    /** Ends the thread. SQLite closes what it has open. */
    end: () => worker.terminate(),
    /** Lets the thread end with the process, and keeps it until then. */
    leave: () => worker.unref(),
  }
}

/**
 * Opens the list in a file, on a new thread. Migrates an older list, and calls fail until that is done. Logs a warning when other users
 * may read the list, or when it is in memory. @throws StoreError; as `toRealPath`
 */
export async function openSqliteThread(file: string, log: Log, onOutdated?: OnOutdated): Promise<ServiceStore> {
  // A usage error has an exit code of its own, which the thread does not pass on.
  toRealPath(file)
  const thread = startThread({ log, onOutdated })
  /** What calls get while the list is migrated. */
  let migrating: MigratingError | undefined

  /** Sends a task for a list that can be used. */
  async function use<Value = void>(name: Task['name'], text?: string): Promise<Value> {
    if (migrating) throw migrating
    return await thread.send(name, text)
  }

  /** Migrates an older list. If that fails, the process ends: it can do nothing, and the next start tries again. */
  async function migrate(found: number): Promise<void> {
    const versions = { found, known: SCHEMA_VERSION }
    migrating = toMigratingError(versions)
    log.info(toMigrationBegin(versions))
    try {
      const kept = await thread.send<string | undefined>('migrate')
      migrating = undefined
      log.info(toMigrationEnd(versions) + (kept ? `; the earlier one is kept in ${kept}` : ''))
    } catch (error) {
      log.error({ err: error }, 'the migration of the list failed, and the service ends: the next start tries again')
      process.exit(EXIT.failed)
    }
  }

  try {
    const older = await thread.send<number | undefined>('open', file)
    if (older !== undefined) void migrate(older)
  } catch (error) {
    thread.expectEnd()
    thread.end()
    throw error
  }
  for (const problem of [describeModes(file), describeMemory(dirname(toRealPath(file)))]) {
    if (problem) log.warn(problem)
  }

  return {
    add: (addresses) => use('append', JSON.stringify(addresses)),
    probe: () => use('probe'),
    ready: () => use('ready'),
    measure: () => use<StoreMeasure>('measure'),
    async close() {
      thread.expectEnd()
      const isLost = await thread.send<boolean>('close')
      // SQLite would close a lost list at the end of its thread, and delete the log at its path.
      if (isLost) thread.leave()
      else thread.end()
    },
  }
}
