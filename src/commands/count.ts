import type { Command } from 'commander'
import { createListCommand, type ListOption, parseListOption, withStore } from './list-command.ts'
import { print, printJson } from './output.ts'

/** `rollcall count`: prints the number of addresses. */
export function createCountCommand(): Command {
  return createListCommand('count', 'Print the number of addresses on the list', 'rollcall count --json')
    .option('--json', 'Print JSON, with the numbers of reserved and of suppressed addresses')
    .action(async (options: ListOption & { json?: true }) => {
      const count = await withStore(parseListOption(options), (store) => store.count())
      await (options.json ? printJson('count', count) : print(String(count.subscribers)))
    })
}
