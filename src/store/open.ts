/** Opens a list by its URL. Each store is imported when a list needs it: the service starts faster without the other. */

import type { ListUrl } from '../config/list-url.ts'
import type { Log } from '../log.ts'
import type { Count, ListCopy, ServiceStore, StoreOptions, SubscriberStore } from '../subscriber.ts'
import type { CheckResult, CursorCheck } from './check.ts'
import type { OnOutdated } from './version.ts'

/**
 * Opens a list for a command. `notify` gets a line when the inbox is left out. @throws StoreError; UsageError for the name of a file that
 * SQLite may delete
 */
export async function openStore(list: ListUrl, options: StoreOptions): Promise<SubscriberStore> {
  if (list.kind === 'sqlite') {
    const { openSqliteStore } = await import('./sqlite/store.ts')
    return openSqliteStore(list.file, options)
  }
  const { openPostgresStore } = await import('./postgres/store.ts')
  return openPostgresStore(list.server, options)
}

/**
 * Makes an empty list, or one that is missing, a copy of another one, with its id, key, numbers and dates.
 *
 * @throws StoreError when it is not empty: it stays as it is
 * @throws StoreError when it does not have all that was copied; the reason of the signal. It has nobody then, and one that was missing may
 * be there, empty
 * @throws Failure when the new list is there, but a power cut may take it away
 */
export async function fillList(list: ListUrl, copy: ListCopy, signal: AbortSignal): Promise<Count> {
  if (list.kind === 'sqlite') {
    const { createListFile } = await import('./sqlite/restore.ts')
    const { fillFile } = await import('./sqlite/fill.ts')
    return await createListFile(list.file, (partial) => fillFile(partial, copy, signal))
  }
  const { fillPostgresList } = await import('./postgres/store.ts')
  return await fillPostgresList(list.server, copy, signal)
}

/** Whether two lists that exist are one SQLite file, also by links. PostgreSQL fills only an empty list. */
export async function isSameList(one: ListUrl, other: ListUrl): Promise<boolean> {
  if (one.kind !== 'sqlite' || other.kind !== 'sqlite') return false
  const { readFileId } = await import('./sqlite/paths.ts')
  const id = readFileId(one.file)
  return id !== undefined && id === readFileId(other.file)
}

/** Opens a list for the service, and migrates an older one. No call blocks the event loop. Calls fail while a PostgreSQL server is down. @throws StoreError */
export async function openServiceStore(list: ListUrl, log: Log, onOutdated?: OnOutdated): Promise<ServiceStore> {
  if (list.kind === 'sqlite') {
    const { openSqliteThread } = await import('./sqlite/thread.ts')
    return await openSqliteThread(list.file, log, onOutdated)
  }
  const { openPostgresServiceStore } = await import('./postgres/store.ts')
  return openPostgresServiceStore(list.server, log, onOutdated)
}

/** Runs all checks of a list. They change nothing, also while a service runs. */
export async function* checkStore(list: ListUrl, cursors: readonly CursorCheck[]): AsyncGenerator<CheckResult> {
  if (list.kind === 'sqlite') {
    const { checkSqliteList } = await import('./sqlite/checks.ts')
    yield* checkSqliteList(list.file, cursors)
  } else {
    const { checkPostgresList } = await import('./postgres/checks.ts')
    yield* checkPostgresList(list.server, cursors)
  }
}
