import type { Command } from 'commander'
import { EXIT } from '../failure.ts'
import { parseAddressArgument } from './arguments.ts'
import { createListCommand, type ListOption, parseListOption, withStore } from './list-command.ts'
import { print, printJson } from './output.ts'

/** `rollcall has`: says whether an address is on the list. */
export function createHasCommand(): Command {
  return createListCommand(
    'has',
    'Check whether an address is on the list: exit code 0 if it is, 1 if not',
    'rollcall has ada@example.org',
  )
    .argument('<address>', 'The address to look up')
    .option('--json', 'Print JSON')
    .action(async (text: string, options: ListOption & { json?: true }) => {
      const address = parseAddressArgument(text)
      const { state, subscriber } = await withStore(parseListOption(options), async (store) => {
        const [state = 'absent'] = await store.lookUp([address])
        return { state, subscriber: await store.find(address) }
      })
      const since = subscriber?.subscribedAt.toISOString() ?? null
      if (options.json) {
        const { email = null, seq = null } = subscriber ?? {}
        await printJson('has', { state, email, subscribed_at: since, seq })
      } else if (subscriber) await print(`${subscriber.email} has been on the list since ${since}`)
      else await print(state === 'suppressed' ? 'not on the list: suppressed' : 'not on the list')
      if (!subscriber) process.exitCode = EXIT.failed
    })
}
