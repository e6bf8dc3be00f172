/** Addresses that had the same hash before decision 42, and honest callers after them. */

import { Database } from 'bun:sqlite'
import { createCollidingAddresses } from '../../test/support/colliding-addresses.ts'
import { check, waitFor } from '../check.ts'
import { startLoad } from '../load.ts'
import type { List } from '../rollcall.ts'
import type { Figures, TrialContext } from '../trial.ts'
import { readCpu } from '../usage.ts'
import type { Attack } from './attack.ts'

const CALLERS = 64
/** Characters before the `@`. */
const LOCAL_PART = 64
const HONEST = 2_000

/** Compaction and `count` cost at most this many times the CPU of ordinary addresses. */
const MOST_RATIO = 3

/** Milliseconds in which all addresses must be on the list. */
const COMPACTION_MS = 60_000

export const collisions: Attack = { name: 'colliding addresses', run: compareCollisions }

/** Compares colliding addresses with ordinary ones of the same length. */
async function compareCollisions(context: TrialContext): Promise<Figures> {
  const colliding = createCollidingAddresses(context.amount(20_000, 4_000))
  const domain = colliding[0]?.slice(LOCAL_PART) ?? ''
  const plain = colliding.map((_, index) => String(index).padStart(LOCAL_PART, 'plain.') + domain)
  const ordinary = await measure(context, plain)
  const attack = await measure(context, colliding)
  const [service, count] = [attack.service / ordinary.service, attack.count / ordinary.count]
  const what = `${colliding.length} colliding addresses`
  check(service <= MOST_RATIO, () => `${what} cost the service ${service.toFixed(1)} times as much as ordinary ones`)
  check(count <= MOST_RATIO, () => `${what} cost \`count\` ${count.toFixed(1)} times as much as ordinary ones`)
  return {
    [`CPU of the service with ${what}, of ordinary ones`]: service.toFixed(2),
    'CPU of `count` after them, of ordinary ones': count.toFixed(2),
  }
}

/** Returns the CPU milliseconds of the service, until all is compacted, and of `count`. */
async function measure(
  { createList }: TrialContext,
  emails: readonly string[],
): Promise<{ readonly service: number; readonly count: number }> {
  const list = await createList()
  const service = await list.serve()
  const before = readCpu(service.process.pid).used
  await subscribe(service.port, emails)
  const verb = list.start(['count'])
  await subscribe(
    service.port,
    Array.from({ length: HONEST }, (_, index) => `honest${index}@host.example`),
  )
  const { code, stderr } = await verb.ended
  check(code === 0, () => `count fails: ${stderr.trim()}`)
  const wanted = emails.length + HONEST
  await waitFor(`${wanted} addresses are compacted`, () => countSubscribers(list) === wanted, COMPACTION_MS)
  const cpu = readCpu(service.process.pid).used - before
  await service.stop()
  return { service: cpu, count: Number(verb.process.resourceUsage()?.cpuTime.total ?? 0) / 1000 }
}

/** Subscribes all, each with a 200. */
async function subscribe(port: number, emails: readonly string[]): Promise<void> {
  let sent = 0
  let refused = 0
  const load = startLoad(() => port, {
    callers: CALLERS,
    nextEmail: () => emails[sent++],
    onReply: ({ status }) => {
      if (status !== 200) refused++
    },
  })
  await load.ended
  check(refused === 0, () => `${refused} of ${emails.length} addresses did not get a 200`)
}

function countSubscribers({ file }: List): number | undefined {
  using db = new Database(file, { readonly: true })
  return db.query<{ size: number }, []>('SELECT count(*) AS size FROM subscribers').get()?.size
}
