import { Command } from 'commander'
import { readListUrl } from '../config.ts'
import { openStore } from '../stores/open.ts'

/** `rollcall count`: how many addresses are on the list. */
export function createCountCommand(): Command {
  return new Command('count').description('print the number of addresses on the list').action(async () => {
    const store = await openStore(readListUrl())
    try {
      const { subscribers } = await store.count()
      process.stdout.write(`${subscribers}\n`)
    } finally {
      await store.close()
    }
  })
}
