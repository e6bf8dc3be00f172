/** Many clients that post at once, and a ledger of the responses they got. */

import { expect } from 'bun:test'
import { readList } from './list-file.ts'
import type { RunningService } from './service.ts'

/** What clients sent, and what the service confirmed. */
export type Ledger = ReturnType<typeof createLedger>

export function createLedger() {
  return {
    /** Addresses that got a 200, in lower case. */
    acknowledged: new Set<string>(),
    /** All addresses that were sent, in lower case. */
    sent: new Set<string>(),
    /** Number of requests that got a 200. */
    answered: 0,
    /** Number of requests that got a 500. */
    failed: 0,
  }
}

/** Number of clients; each posts its next address when the last one has its response. */
const CLIENTS = 32

/**
 * Posts new addresses in lower case and, as every third request, a confirmed address in upper case.
 * Each client stops at its first 500 and at its first request without a response.
 */
export async function postUntilFailure(service: Pick<RunningService, 'subscribe'>, ledger: Ledger): Promise<void> {
  const known = [...ledger.acknowledged]

  async function run(): Promise<void> {
    for (;;) {
      const repeat = ledger.answered % 3 === 0 ? known[ledger.answered % known.length] : undefined
      const email = repeat ?? `caller${ledger.sent.size}@example.org`
      ledger.sent.add(email)
      const status = await service.subscribe(repeat?.toUpperCase() ?? email).then(
        (reply) => reply.status,
        () => undefined,
      )
      if (status === 500) ledger.failed++
      if (status !== 200) return
      ledger.answered++
      if (ledger.acknowledged.has(email)) continue
      ledger.acknowledged.add(email)
      known.push(email)
    }
  }

  await Promise.all(Array.from({ length: CLIENTS }, run))
}

/** Compacts the list and compares it with the ledger: it has every confirmed address once, and only addresses that were sent. */
export async function expectKept(folder: string, { acknowledged, sent }: Ledger): Promise<void> {
  const list = await readList(folder)
  const identities = new Set(list.map((email) => email.toLowerCase()))
  expect(list.length).toBe(identities.size)
  // The first spelling was in lower case, so a repeat in upper case must not change it.
  expect(list.filter((email) => !identities.has(email))).toEqual([])
  expect([...acknowledged].filter((email) => !identities.has(email))).toEqual([])
  expect([...identities].filter((email) => !sent.has(email))).toEqual([])
}
