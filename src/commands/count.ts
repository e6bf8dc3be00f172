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
  const { found, isComplete } = await withStore(parseListOption(options), async (store, isComplete) => {
    const [found = {}] = await store.lookUp([address])
    return { found, isComplete: isComplete() }
  })
  const { subscriber, suppressedAt } = found
  process.exitCode = toExitCode(subscriber !== undefined, isComplete)
  if (json) {
    const dates = { subscribed_at: subscriber?.subscribedAt, suppressed_at: suppressedAt }
    return await printJson({ state: toState(found), email: subscriber?.email, ...dates, seq: subscriber?.seq })
  }
  if (subscriber) {
    return await print(`${subscriber.email} has been on the list since ${subscriber.subscribedAt.toISOString()}`)
  }
  const suppressed = suppressedAt ? ': suppressed' : ''
  const doubt = isComplete ? '' : ', unless it is in the inbox'
  await print(`not on the list${suppressed}${doubt}`)
}

/** The exit code of `rollcall has`. @param isComplete whether the inbox was looked at too */
function toExitCode(isListed: boolean, isComplete: boolean): number {
  if (isListed) return EXIT.done
  // Without the inbox, nobody knows that an address is not on the list.
  return isComplete ? EXIT.failed : EXIT.incomplete
}
