/** What the verbs share: the option `--list`, an example in the help, and a store that is closed at the end. */

import { Command } from 'commander'
import { type ListUrl, parseListUrl, readListUrl } from '../config/list-url.ts'
import type { SubscriberStore } from '../subscriber.ts'
import { note } from './output.ts'

export interface ListOption {
  readonly list?: string
}

/** Creates a command that works on one list. */
export function createListCommand(name: string, description: string, example: string): Command {
  return createCommand(name, description, example).option(
    '--list <url>',
    'Use this list instead of the one in DATABASE_URL (sqlite:PATH or postgres://…)',
  )
}

/** Creates a command. */
export function createCommand(name: string, description: string, example: string): Command {
  return new Command(name).description(description).addHelpText('after', `\nExample:\n  ${example}`)
}

/** Parses `--list`, or DATABASE_URL when it is not given. @throws UsageError */
export function parseListOption({ list }: ListOption): ListUrl {
  return list === undefined ? readListUrl() : parseListUrl('--list', list)
}

/**
 * Opens a list, works on it, and closes it.
 *
 * @param options.create creates a list that is missing; otherwise that is a StoreError
 */
export async function withStore<T>(
  list: ListUrl,
  work: (store: SubscriberStore) => Promise<T>,
  { create = false } = {},
): Promise<T> {
  // Imported on demand: a command that opens no list starts in less than half the time without the stores.
  const { openStore } = await import('../store/open.ts')
  const { describeMigration } = await import('../store/sqlite/file.ts')
  const migration = list.kind === 'sqlite' && describeMigration(list.file)
  if (migration) note(migration)
  const store = await openStore(list, { create, notify: note })
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}
