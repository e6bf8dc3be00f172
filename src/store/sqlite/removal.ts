/** Removes addresses from a SQLite list, and suppresses people who left, in the transaction of the caller. */

import type { Database } from 'bun:sqlite'
import { type Address, toIdentity } from '../../email.ts'
import {
  isResubscription,
  type OptOut,
  type OptOutTally,
  type Subscriber,
  type SubscriptionState,
} from '../../subscriber.ts'
import { mergeOptOuts } from '../opt-outs.ts'
import type { Counts } from './counts.ts'
import type { IdentityIndex } from './identity-index.ts'
import type { Suppressions } from './suppressions.ts'

interface RemovalParts {
  readonly counts: Counts
  readonly suppressions: Suppressions
  readonly index: IdentityIndex
}

export type Removal = ReturnType<typeof createRemoval>

export function createRemoval(db: Database, { counts, suppressions, index }: RemovalParts) {
  const deleteRow = db.query<never, [seq: number]>('DELETE FROM subscribers WHERE seq = ?1')

  function removeSubscriber(subscriber: Subscriber): void {
    index.delete(subscriber)
    deleteRow.run(subscriber.seq)
    counts.subtract(subscriber.email)
  }

  function removeAddresses(addresses: readonly Address[], suppress: boolean): SubscriptionState[] {
    const unique = new Map(addresses.map((address) => [toIdentity(address), address]))
    const emails = [...unique.values()]
    const [subscribers, suppressed] = [index.find(emails), suppressions.find(emails)]
    const before = emails.map((_, at) => toState(subscribers.get(at), suppressed.get(at)))
    // In the order of the hashes, as they were found.
    for (const subscriber of subscribers.values()) removeSubscriber(subscriber)
    if (suppress) {
      const renewed = emails.filter((_, at) => before[at] === 'suppressed')
      suppressions.renew(renewed, Date.now())
      const left = emails.map((email, at): [Address, number] => [email, toSuppressionDate(subscribers.get(at))])
      suppressions.add(left.filter((_, at) => before[at] !== 'suppressed'))
    } else {
      suppressions.delete(emails)
    }
    const states = new Map([...unique.keys()].map((identity, at) => [identity, before[at] ?? 'absent']))
    return addresses.map((address) => {
      const state = states.get(toIdentity(address)) ?? 'absent'
      // Another row with the same identity finds what this one has left.
      states.set(toIdentity(address), suppress ? 'suppressed' : 'absent')
      return state
    })
  }

  function suppressOptOuts(rows: readonly OptOut[], removeUndated: boolean): OptOutTally {
    const optOuts = mergeOptOuts(rows, { removeUndated })
    const emails = optOuts.map(({ email }) => email)
    const [subscribers, suppressed] = [index.find(emails), suppressions.find(emails)]
    const left: [Address, number][] = []
    const tally = { added: 0, removed: 0, kept: 0, known: rows.length - optOuts.length }
    for (const [position, { email, optedOutAt }] of optOuts.entries()) {
      const [subscriber, suppressedAt] = [subscribers.get(position), suppressed.get(position)]
      const stays = subscriber && (optedOutAt ? isResubscription(subscriber, optedOutAt) : !removeUndated)
      if (suppressedAt) {
        tally.known++
        if (optedOutAt && optedOutAt > suppressedAt) suppressions.renew([email], optedOutAt.getTime())
      } else if (stays) tally.kept++
      else {
        if (subscriber) removeSubscriber(subscriber)
        tally[subscriber ? 'removed' : 'added']++
        left.push([email, optedOutAt?.getTime() ?? toSuppressionDate(subscriber)])
      }
    }
    suppressions.add(left)
    return tally
  }

  return { removeSubscriber, removeAddresses, suppressOptOuts }
}

function toState(subscriber: Subscriber | undefined, suppressedAt: Date | undefined): SubscriptionState {
  if (subscriber) return 'subscribed'
  return suppressedAt ? 'suppressed' : 'absent'
}

/** Returns now, but not a date before the subscription that ends: the clock may have been set back since. */
function toSuppressionDate(subscriber: Subscriber | undefined): number {
  return Math.max(Date.now(), subscriber?.subscribedAt.getTime() ?? 0)
}
