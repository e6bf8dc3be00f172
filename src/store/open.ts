import type { ListUrl } from '../config/list-url.ts'
import type { Log } from '../log.ts'
import type { ServiceStore, SubscriberStore } from '../subscriber.ts'
import type { CheckResult, CursorCheck } from './check.ts'
import { checkPostgresList, findPostgresWarnings } from './postgres/checks.ts'
import { toHostText } from './postgres/search.ts'
import { createPostgresStore } from './postgres/store.ts'
import { checkSqliteList } from './sqlite/checks.ts'
import { openSqliteStore, type StoreOptions } from './sqlite/store.ts'
import { openSqliteThread } from './sqlite/thread.ts'

/**
 * Opens a list for a command. Unless it creates a list, one in a file that cannot be written is opened for reading only.
 *
 * @throws StoreError when it cannot be opened
 */
export async function openStore(
  list: ListUrl,
  options?: Pick<StoreOptions, 'create' | 'notify'>,
): Promise<SubscriberStore> {
  if (list.kind === 'sqlite') return openSqliteStore(list.file, { ...options, orReadOnly: options?.create === false })
  return createPostgresStore({ ...options, parameters: list.parameters, name: toListName(list), hasDeadline: false })
}

/**
 * Opens a list for the service. No call blocks the event loop. A PostgreSQL database may be down: calls fail until it
 * is back.
 *
 * @throws StoreError when a SQLite file cannot be opened, or the URL of a database is wrong
 */
export async function openServiceStore(list: ListUrl, log: Log): Promise<ServiceStore> {
  if (list.kind === 'sqlite') return await openSqliteThread(list.file, log)
  const store = createPostgresStore({ parameters: list.parameters, name: toListName(list), hasDeadline: true, log })
  void prepare(store, list, log)
  return store
}

/** Creates the schema before the first address arrives, and logs what is wrong with the list. */
async function prepare(store: SubscriberStore, list: ListUrl, log: Log): Promise<void> {
  try {
    await store.add([])
    await store.check()
    for (const warning of await findWarnings(list)) log.warn(warning)
  } catch (error) {
    log.warn({ err: error }, 'the list cannot be written yet')
  }
}

/**
 * Runs all checks of a list. They change nothing, also while a service runs.
 *
 * @param cursors are compared with the list
 */
export function checkStore(list: ListUrl, cursors: readonly CursorCheck[]): AsyncIterable<CheckResult> {
  if (list.kind === 'sqlite') return checkSqliteList(list.file, cursors)
  return checkPostgresList({ parameters: list.parameters, name: toListName(list) }, cursors)
}

/**
 * Finds what is wrong with a list that works, and may lose addresses. Each is one line that says what to do.
 *
 * @throws StoreError when the list cannot be reached
 */
export async function findWarnings(list: ListUrl): Promise<readonly string[]> {
  if (list.kind === 'sqlite') return []
  return await findPostgresWarnings({ parameters: list.parameters, name: toListName(list) })
}

/** Names a list for the owner, without the user and the password in its URL. */
export function toListName(list: ListUrl): string {
  if (list.kind === 'sqlite') return `sqlite:${list.file}`
  const { hosts, database } = list.parameters
  return `postgres://${hosts.map(toHostText).join(',')}/${database}`
}
