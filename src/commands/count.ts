import { EXIT, UsageError } from '../failure.ts'
import { toState } from '../store/changes.ts'
import { print, printJson } from './output.ts'
import { parseListOption, readAddresses, type VerbOptions, withStore } from './shared.ts'

/** `rollcall count`: prints the number of addresses. */
export async function count({ json, ...options }: VerbOptions): Promise<void> {
  const numbers = await withStore(parseListOption(options), (store) => store.count())
  await (json ? printJson(numbers) : print(String(numbers.subscribers)))
}

/** `rollcall has`: says whether an address is on the list. */
export async function has(text: string, { json, ...options }: VerbOptions): Promise<void> {
  const [address, more] = await readAddresses([text])
  if (address === undefined || more !== undefined) throw new UsageError('standard input has more than one address')
  const [found = {}] = await withStore(parseListOption(options), (store) => store.lookUp([address]))
  const { subscriber, suppressedAt } = found
  // Without the inbox, nobody knows that an address is not on the list. `withStore` has set the exit code then.
  const isKnown = subscriber !== undefined || process.exitCode === undefined
  if (isKnown) process.exitCode = subscriber ? EXIT.done : EXIT.failed
  if (json) {
    const dates = { subscribed_at: subscriber?.subscribedAt, suppressed_at: suppressedAt }
    return await printJson({ state: toState(found), email: subscriber?.email, ...dates, seq: subscriber?.seq })
  }
  const absent = `not on the list${suppressedAt ? ': suppressed' : ''}${isKnown ? '' : ', unless it is in the inbox'}`
  const since = subscriber?.subscribedAt.toISOString()
  await print(subscriber ? `${subscriber.email} has been on the list since ${since}` : absent)
}
