import { EXIT } from '../failure.ts'
import { toState } from '../store/changes.ts'
import { print, printJson } from './output.ts'
import { type ListOption, parseAddressArgument, parseListOption, withStore } from './shared.ts'

/** `rollcall count`: prints the number of addresses. */
export async function count({ json, ...options }: ListOption & { json?: true }): Promise<void> {
  const numbers = await withStore(parseListOption(options), (store) => store.count())
  await (json ? printJson(numbers) : print(String(numbers.subscribers)))
}

/** `rollcall has`: says whether an address is on the list. */
export async function has(text: string, { json, ...options }: ListOption & { json?: true }): Promise<void> {
  const address = parseAddressArgument(text)
  const [found = {}] = await withStore(parseListOption(options), (store) => store.lookUp([address]))
  const { subscriber } = found
  const state = toState(found)
  // Without the inbox, nobody knows that an address is not on the list.
  const isKnown = subscriber !== undefined || process.exitCode === undefined
  const since = subscriber?.subscribedAt.toISOString() ?? null
  if (json) {
    const { email = null, seq = null } = subscriber ?? {}
    const suppressed_at = found.suppressedAt?.toISOString() ?? null
    await printJson({ state, email, subscribed_at: since, suppressed_at, seq })
  } else if (subscriber) await print(`${subscriber.email} has been on the list since ${since}`)
  else
    await print(
      `not on the list${state === 'suppressed' ? ': suppressed' : ''}${isKnown ? '' : ', unless it is in the inbox'}`,
    )
  if (isKnown) process.exitCode = subscriber ? EXIT.done : EXIT.failed
}
