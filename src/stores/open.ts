/** From the URL of a list to its store. */

import type { ListUrl } from '../config.ts'
import type { Log } from '../log.ts'
import { type ServiceStore, StoreError } from '../subscriber.ts'
import { openSqliteStore, type SqliteStore } from './sqlite.ts'
import { openSqliteThread } from './sqlite-thread.ts'

/**
 * Opens a list for a command.
 *
 * @throws StoreError when it cannot be opened
 */
export async function openStore(list: ListUrl): Promise<SqliteStore> {
  if (list.kind === 'sqlite') return openSqliteStore(list.file)
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
