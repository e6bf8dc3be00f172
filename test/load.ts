/** Many callers at once, and the books of what they were promised. */

import type { RunningService } from './service.ts'

/** What was sent, and what was confirmed. */
export interface Books {
  /** Addresses that were answered 200, in the spelling in which that happened first. */
  readonly acknowledged: Set<string>
  /** All that were ever sent, in lower case. */
  readonly sent: Set<string>
  /** Requests that were answered 200. */
  answered: number
}

export function createBooks(): Books {
  return { acknowledged: new Set(), sent: new Set(), answered: 0 }
}

/** How many callers post at once, each its next address when the last is answered. */
const CALLERS = 32

/**
 * Posts new addresses, all in lower case, and every third time one that was confirmed before, in upper case.
 * Ends when the service does.
 */
export async function post(service: Pick<RunningService, 'subscribe'>, books: Books): Promise<void> {
  const known = [...books.acknowledged]
  async function call(): Promise<void> {
    for (;;) {
      const repeat = books.answered % 3 === 0 ? known[books.answered % known.length] : undefined
      const email = repeat?.toUpperCase() ?? `caller${books.sent.size}@example.org`
      books.sent.add(email.toLowerCase())
      const status = await service.subscribe(email).then(
        (reply) => reply.status,
        () => undefined,
      )
      if (status === undefined) return
      if (status !== 200) throw new Error(`answered ${status}`)
      books.answered++
      if (repeat || books.acknowledged.has(email)) continue
      books.acknowledged.add(email)
      known.push(email)
    }
  }
  await Promise.all(Array.from({ length: CALLERS }, call))
}

/** Resolves when a condition holds; it is looked at every few milliseconds. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await Bun.sleep(2)
}
