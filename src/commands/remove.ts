import type { Command } from 'commander'
import type { SubscriptionState } from '../subscriber.ts'
import { parseAddressArgument } from './arguments.ts'
import { createListCommand, type ListOption, parseListOption, withStore } from './list-command.ts'
import { print, printJson } from './output.ts'

interface RemoveOptions extends ListOption {
  readonly forget?: true
  readonly json?: true
}

/** `rollcall remove`: removes addresses and suppresses them. */
export function createRemoveCommand(): Command {
  return createListCommand(
    'remove',
    'Remove addresses from the list and suppress them: imports skip a suppressed address until it subscribes again',
    'rollcall remove ada@example.org bob@example.org',
  )
    .argument('<address...>', 'The addresses to remove')
    .option('--forget', 'Remove addresses without suppressing them, and delete their suppressions')
    .option('--json', 'Print the summary as JSON')
    .action(async (texts: readonly string[], { forget, json, ...options }: RemoveOptions) => {
      const emails = texts.map(parseAddressArgument)
      const states = await withStore(parseListOption(options), (store) => store.remove(emails, { suppress: !forget }))
      const addresses = emails.map((email, index) => ({ email, was: states[index] ?? 'absent' }))
      if (!json) return await print(addresses.map(({ email, was }) => `${email}: ${toText(was, forget)}`).join('\n'))
      const state = forget ? 'absent' : 'suppressed'
      const countBefore = (state: SubscriptionState) => addresses.filter(({ was }) => was === state).length
      await printJson('remove', {
        removed: countBefore('subscribed'),
        suppressed: countBefore('suppressed'),
        absent: countBefore('absent'),
        addresses: addresses.map((address) => ({ ...address, state })),
      })
    })
}

/** What happened to an address, by its state before. */
const SUPPRESSED: Readonly<Record<SubscriptionState, string>> = {
  subscribed: 'removed',
  suppressed: 'suppressed before',
  absent: 'was not on the list, now suppressed',
}

/** The same with `--forget`. */
const FORGOTTEN: Readonly<Record<SubscriptionState, string>> = {
  subscribed: 'removed, not suppressed',
  suppressed: 'no longer suppressed',
  absent: 'was not on the list',
}

function toText(was: SubscriptionState, forget: true | undefined): string {
  return (forget ? FORGOTTEN : SUPPRESSED)[was]
}
