/** Follows a list with a cursor while services accept addresses, imports run and addresses are removed. */

import { type Address, toIdentity } from '../../src/email.ts'
import { StoreError, type Subscriber, type SubscriberStore } from '../../src/subscriber.ts'
import { withStore } from '../support/postgres.ts'
import { type RunningService, runCommand, startService } from '../support/service.ts'
import { listAll, toAddress } from '../support/store-suite.ts'

const SERVICES = 3
const IMPORTS = 2
const IMPORT_SIZE = 60_000
/** Callers of each service. Each posts its next address when the last one has its response. */
const CALLERS = 8
/** Addresses that are removed at once. */
const REMOVAL_SIZE = 20

export interface CursorResult {
  readonly imported: number
  /** Addresses that the services confirmed. */
  readonly accepted: number
  readonly removed: number
  /** How often the list was exported after the cursor. */
  readonly exports: number
  /** Subscribers that no export had. */
  readonly missed: number
  /** Rows of exports with a seq, or an address, that an earlier row had. */
  readonly repeated: number
  /** Confirmed addresses that were not removed, and are not on the list. */
  readonly lost: number
  /** Removed addresses that are on the list. */
  readonly returned: number
}

/** Runs all at once on an empty list, and compares the exports with the list. No address subscribes twice. */
export async function checkCursor(url: string): Promise<CursorResult> {
  const services = await Promise.all(
    Array.from({ length: SERVICES }, () => startService({ env: { DATABASE_URL: url } })),
  )
  const accepted: Address[] = []
  const imports = Array.from({ length: IMPORTS }, (_, index) =>
    Array.from({ length: IMPORT_SIZE }, (_, row) => toAddress(`import${index}.${row}@mail.io`)),
  )
  const [seen, removed]: [Subscriber[], Address[]] = [[], []]
  let exports = 0
  let isOver = false

  async function exportAll(store: SubscriberStore): Promise<void> {
    for (let isLast = false; !isLast; exports++) {
      isLast = isOver
      await retry(async () => {
        for await (const page of store.list({ after: seen.at(-1)?.seq ?? 0 })) seen.push(...page)
      })
    }
  }

  async function remove(store: SubscriberStore): Promise<void> {
    while (!isOver) {
      const batch = accepted.slice(removed.length, removed.length + REMOVAL_SIZE)
      await retry(() => store.remove(batch, { suppress: true }))
      removed.push(...batch)
      await Bun.sleep(100)
    }
  }

  const background = Promise.all([
    withStore(url, exportAll),
    withStore(url, remove),
    ...services.map((service, index) => call(service, index, { accepted, isOver: () => isOver })),
  ])
  await Promise.all(imports.map((addresses) => retry(() => importAll(url, addresses))))
  isOver = true
  await background
  await Promise.all(services.map((service) => service.stop()))
  const confirmed = [...imports.flat(), ...accepted]
  const faults = compare(await withStore(url, listAll), { seen, removed, confirmed })
  return { imported: imports.flat().length, accepted: accepted.length, removed: removed.length, exports, ...faults }
}

async function importAll(url: string, addresses: readonly Address[]): Promise<void> {
  const stdin = `${addresses.join('\n')}\n`
  const { code, stderr } = await runCommand(['import', '-'], { env: { DATABASE_URL: url }, stdin })
  if (code !== 0) throw new StoreError(stderr)
}

/** Repeats work that had to wait for the lock for too long, as an owner would. */
async function retry(work: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      return void (await work())
    } catch (error) {
      if (!(error instanceof StoreError) || !error.message.includes('55P03')) throw error
    }
  }
}

interface Calls {
  readonly accepted: Address[]
  readonly isOver: () => boolean
}

async function call(service: RunningService, index: number, { accepted, isOver }: Calls): Promise<void> {
  const callers = Array.from({ length: CALLERS }, async (_, caller) => {
    for (let step = 0; !isOver(); step++) {
      const address = toAddress(`caller${index}.${caller}.${step}@mail.io`)
      const { status } = await service.subscribe(address)
      if (status === 200) accepted.push(address)
    }
  })
  await Promise.all(callers)
}

interface Ledger {
  readonly seen: readonly Subscriber[]
  readonly removed: readonly Address[]
  readonly confirmed: readonly Address[]
}

function compare(
  list: readonly Subscriber[],
  { seen, removed, confirmed }: Ledger,
): Pick<CursorResult, 'missed' | 'repeated' | 'lost' | 'returned'> {
  const seqs = new Set(seen.map(({ seq }) => seq))
  const identities = new Set(list.map(({ email }) => toIdentity(email)))
  const gone = new Set(removed)
  const backward = seen.filter(({ seq }, index) => seq <= (seen[index - 1]?.seq ?? 0)).length
  return {
    missed: list.filter(({ seq }) => !seqs.has(seq)).length,
    repeated: backward + seen.length - new Set(seen.map(({ email }) => toIdentity(email))).size,
    lost: confirmed.filter((address) => !gone.has(address) && !identities.has(toIdentity(address))).length,
    returned: removed.filter((address) => identities.has(toIdentity(address))).length,
  }
}
