import type { Command } from 'commander'
import { createListCommand, type ListOption, toList, withStore } from './list.ts'
import { print, printJson } from './output.ts'

/** `rollcall count`: how many addresses are on the list. */
export function createCountCommand(): Command {
  return createListCommand('count', 'print the number of addresses on the list', 'rollcall count --json')
    .option('--json', 'tell reserved and suppressed ones apart, as JSON')
    .action(async (options: ListOption & { json?: true }) => {
      const count = await withStore(toList(options), (store) => store.count())
      await (options.json ? printJson(count) : print(String(count.subscribers)))
    })
}
