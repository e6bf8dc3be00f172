import { type ListUrl, toListName } from '../config/list-url.ts'
import type { Address } from '../email.ts'
import type { SubscriptionState } from '../subscriber.ts'
import { toCount, toNumber } from '../words.ts'
import { createProgress, note, print, printJson } from './output.ts'
import { parseListOption, readAddresses, type VerbOptions, withInterrupt, withStore } from './shared.ts'

type RemoveOptions = VerbOptions & { readonly forget?: true }

/** `rollcall remove`: removes addresses and suppresses them. */
export async function remove(texts: readonly string[], { forget, json, ...options }: RemoveOptions): Promise<void> {
  const list = parseListOption(options)
  const emails = await readAddresses(texts)
  const states = await removeAll(list, emails, !forget)
  const addresses = emails.map((email, index) => ({ email, was: states[index] ?? 'absent' }))
  if (!json) {
    await print(addresses.map(({ email, was }) => `${email}: ${OUTCOMES[was][forget ? 1 : 0]}`).join('\n'))
    note(`the list: ${toListName(list)}`)
    // Rollcall cannot tell the tool: it may have the address from another list.
    if (states.includes('subscribed')) note('the mail of your mail tool goes on: unsubscribe them there too')
    return
  }
  const state = forget ? 'absent' : 'suppressed'
  const countBefore = (state: SubscriptionState) => addresses.filter(({ was }) => was === state).length
  await printJson({
    list: toListName(list),
    removed: countBefore('subscribed'),
    suppressed: countBefore('suppressed'),
    absent: countBefore('absent'),
    addresses: addresses.map((address) => ({ ...address, state })),
  })
}

/** Returns the state of each address before. */
async function removeAll(list: ListUrl, emails: readonly Address[], suppress: boolean) {
  const showProgress = createProgress('removing', 'addresses')
  let done = 0
  const onProgress = (count: number) => {
    done = count
    showProgress(done, emails.length)
  }
  try {
    return await withInterrupt((signal) =>
      withStore(list, (store) => store.remove(emails, { suppress, signal, onProgress }), 'change'),
    )
  } catch (error) {
    if (done > 0) {
      const part = `${toNumber(done)} of ${toCount(emails.length, 'address', 'addresses')}`
      note(`${part} removed; remove the same addresses again to continue: this is safe`)
    }
    throw error
  }
}

/** Says what happened to an address, by its state before; the second one is for `--forget`. */
const OUTCOMES = {
  subscribed: ['removed', 'removed, not suppressed'],
  suppressed: ['suppressed before', 'no longer suppressed'],
  absent: ['was not on the list, now suppressed', 'was not on the list'],
} as const
