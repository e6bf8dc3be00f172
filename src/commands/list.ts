/** What all commands that work on a list share: which one it is, and how it is opened and closed. */

import { Command, Option } from 'commander'
import { readListUrl } from '../config/config.ts'
import { type ListUrl, parseListUrl } from '../config/list-url.ts'
import { openStore } from '../store/open.ts'
import type { SubscriberStore } from '../subscriber.ts'

export interface ListOption {
  readonly list?: string
}

/** Creates a command with `--list` and an example. */
export function createListCommand(name: string, description: string, example: string): Command {
  return createCommand(name, description, example).addOption(
    new Option('--list <url>', 'the list, instead of the one in DATABASE_URL (sqlite:PATH or postgres://…)'),
  )
}

/** Creates a command with an example in its help. */
export function createCommand(name: string, description: string, example: string): Command {
  return new Command(name).description(description).addHelpText('after', `\nExample:\n  ${example}`)
}

/** Which list a command is to work on. */
export function toList({ list }: ListOption): ListUrl {
  return list === undefined ? readListUrl() : parseListUrl('--list', list)
}

/**
 * Opens a list, works on it, and closes it.
 *
 * @param options.create makes the list if it is missing; without it that is a StoreError
 */
export async function withStore<T>(
  list: ListUrl,
  work: (store: SubscriberStore) => Promise<T>,
  { create = false } = {},
): Promise<T> {
  const store = await openStore(list, { create })
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}
