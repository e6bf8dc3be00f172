import type { Command } from 'commander'
import { parseAddressArgument } from './arguments.ts'
import { createListCommand, type ListOption, toList, withStore } from './list.ts'
import { print, printJson } from './output.ts'

/** `rollcall has`: exit code 0 when an address is on the list, 1 when it is not. */
export function createHasCommand(): Command {
  return createListCommand(
    'has',
    'tell whether an address is on the list, and since when',
    'rollcall has ada@example.org',
  )
    .argument('<address>')
    .option('--json', 'as JSON')
    .action(async (text: string, options: ListOption & { json?: true }) => {
      const address = parseAddressArgument(text)
      const found = await withStore(toList(options), async (store) => {
        const [state] = await store.lookUp([address])
        return { state, subscriber: await store.find(address) }
      })
      const { subscriber, state } = found
      const since = subscriber?.subscribedAt.toISOString()
      if (options.json) {
        await printJson({ state, email: subscriber?.email, subscribed_at: since, seq: subscriber?.seq })
      } else if (subscriber) await print(`${subscriber.email} is on the list since ${since}`)
      else await print(state === 'suppressed' ? 'not on the list: it has been suppressed' : 'not on the list')
      if (!subscriber) process.exitCode = 1
    })
}
