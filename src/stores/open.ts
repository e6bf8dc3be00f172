/** From the URL of a list to its store. */

import type { ListUrl } from '../config.ts'
import type { Log } from '../log.ts'
import { type ServiceStore, StoreError, type SubscriberStore } from '../subscriber.ts'
import { openSqliteStore } from './sqlite.ts'
import type { OpenOptions } from './sqlite-file.ts'
import { openSqliteThread } from './sqlite-thread.ts'

/**
 * Opens a list for a command.
 *
 * @param options.create whether a list that is missing is made, as by default
 * @throws StoreError when it cannot be opened
 */
export async function openStore(list: ListUrl, options?: OpenOptions): Promise<SubscriberStore> {
  if (list.kind === 'sqlite') return openSqliteStore(list.file, options)
  throw new StoreError('PostgreSQL is not there yet')
}

/**
 * Opens a list for the service, which must not be kept waiting by the disk.
 *
 * @throws StoreError when it cannot be opened
 */
export async function openServiceStore(list: ListUrl, log: Log): Promise<ServiceStore> {
  if (list.kind === 'sqlite') return await openSqliteThread(list.file, log)
  return await openStore(list)
}

/** Names a list for the owner, without the password that its URL may hold. */
export function toListName(list: ListUrl): string {
  if (list.kind === 'sqlite') return `sqlite:${list.file}`
  const { protocol, host, pathname } = new URL(list.url)
  return `${protocol}//${host}${pathname}`
}
