import { type ListOption, parseListOption, withStore } from './list-command.ts'
import { print, printJson } from './output.ts'

/** `rollcall count`: prints the number of addresses. */
export async function count({ json, ...options }: ListOption & { json?: true }): Promise<void> {
  const numbers = await withStore(parseListOption(options), (store) => store.count())
  await (json ? printJson(numbers) : print(String(numbers.subscribers)))
}
