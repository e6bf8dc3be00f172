/** Many callers at once, and the ledger of what they were promised. */

import { expect } from 'bun:test'
import { readList, readProgress, toListFile } from './list-file.ts'
import type { RunningService } from './service.ts'

/** What was sent, and what was confirmed. */
export interface Ledger {
  /** Addresses that were answered 200, in lower case. */
  readonly acknowledged: Set<string>
  /** All that were ever sent, in lower case. */
  readonly sent: Set<string>
  /** Requests that were answered 200. */
  answered: number
  /** Requests that were answered 500. */
  failed: number
}

export function createLedger(): Ledger {
  return { acknowledged: new Set(), sent: new Set(), answered: 0, failed: 0 }
}

/** How many callers post at once, each its next address when the last is answered. */
const CALLERS = 32

/**
 * Posts new addresses, all in lower case, and every third time one that was confirmed before, in upper case.
 * A caller goes on until it is answered 500 or not at all.
 */
export async function post(service: Pick<RunningService, 'subscribe'>, ledger: Ledger): Promise<void> {
  const known = [...ledger.acknowledged]

  async function call(): Promise<void> {
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

  await Promise.all(Array.from({ length: CALLERS }, call))
}

/** Settles the list and holds it against the ledger: nothing confirmed is missing, nothing is there twice, nothing else is there. */
export async function expectKept(folder: string, { acknowledged, sent }: Ledger): Promise<void> {
  const list = await readList(folder)
  const identities = new Set(list.map((email) => email.toLowerCase()))
  expect(list.length).toBe(identities.size)
  expect(readProgress(toListFile(folder))).toEqual({ indexed: list.length, appended: list.length })
  // The first spelling was in lower case, so a repeat in upper case must have changed nothing.
  expect(list.filter((email) => !identities.has(email))).toEqual([])
  expect([...acknowledged].filter((email) => !identities.has(email))).toEqual([])
  expect([...identities].filter((email) => !sent.has(email))).toEqual([])
}

/** Resolves when a condition holds; it is looked at every few milliseconds. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await Bun.sleep(2)
}
