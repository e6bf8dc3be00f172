/** From the URL of a list to its store. */

import type { ListUrl } from '../config/list-url.ts'
import type { Log } from '../log.ts'
import type { ServiceStore, SubscriberStore } from '../subscriber.ts'
import { createPostgresStore } from './postgres/store.ts'
import type { OpenOptions } from './sqlite/file.ts'
import { openSqliteStore } from './sqlite/store.ts'
import { openSqliteThread } from './sqlite/thread.ts'

/**
 * Opens a list for a command.
 *
 * @param options.create whether a list that is missing is made, as by default
 * @throws StoreError when it cannot be opened
 */
export async function openStore(list: ListUrl, options?: OpenOptions): Promise<SubscriberStore> {
  if (list.kind === 'sqlite') return openSqliteStore(list.file, options)
  return createPostgresStore({ ...options, url: list.url, name: toListName(list), hasDeadline: false })
}

/**
 * Opens a list for the service, which must not be kept waiting by a disk or a database. A database may be down: the
 * service is well as soon as it is back.
 *
 * @throws StoreError when it cannot be opened
 */
export async function openServiceStore(list: ListUrl, log: Log): Promise<ServiceStore> {
  if (list.kind === 'sqlite') return await openSqliteThread(list.file, log)
  const store = createPostgresStore({ url: list.url, name: toListName(list), hasDeadline: true })
  // So that the schema is there before the first address; and if it fails, the log knows why.
  store.check().catch((error: unknown) => log.warn({ err: error }, 'the list cannot be written yet'))
  return store
}

/** Names a list for the owner, without the user and the password that its URL may hold. */
export function toListName(list: ListUrl): string {
  if (list.kind === 'sqlite') return `sqlite:${list.file}`
  const { protocol, host, pathname } = new URL(list.url)
  return `${protocol}//${host}${pathname}`
}
