/** Neither the time of a request after others nor which one is slow tells whether their addresses were new, known or suppressed. */

import { join } from 'node:path'
import { openConnection } from '../../test/support/raw.ts'
import { check } from '../check.ts'
import { request } from '../load.ts'
import { countUntilSlow, createMeter, type Meter } from '../slow-request.ts'
import { compareSamples, median } from '../statistics.ts'
import type { Figures, Trial } from '../trial.ts'

const KINDS = ['new', 'known', 'suppressed'] as const
type Kind = (typeof KINDS)[number]

/** The bound of the promise, and how many standard errors a short run is given. */
const BOUND = 0.15
const ERRORS = 3.29

/** Measurements of each kind in full: so many that ERRORS standard errors are less than BOUND. */
const ROUNDS = 100

/** Addresses that come at once, over so many connections. */
const BURSTS = [300, 40] as const
const CONNECTIONS = 32

/** Milliseconds after a burst: compaction starts when 250 have passed without a commit. */
const UNTIL_COMPACTION = 256

/** Milliseconds until compaction has ended. */
const REST = 300

/** Requests after a burst, one after the other. */
const LATER = 5

/** Counts of requests until a slow one, of each kind in full. */
const COUNTS = 30

export const timingLater: Trial = {
  name: 'timing-later',
  promise: `the first request while 300 or 40 addresses are compacted, the sum of five, and which request is slow: AUC between 0.35 and 0.65 for each pair of new, known and suppressed`,
  minutes: { sqlite: 12, postgres: 9 },
  needs: ['strace'],
  async run({ folder, random, createList, amount, progress }) {
    const rounds = amount(ROUNDS, 20)
    const list = await createList()
    const toEmails = (size: number) => Array.from({ length: size }, () => `${crypto.randomUUID()}@example.org`)
    const counted = amount(COUNTS, 12)
    const total = rounds * BURSTS.reduce((sum, size) => sum + size, 0) + counted
    const pools = { known: toEmails(Math.max(total, 100_000)), suppressed: toEmails(total), new: toEmails(total) }
    for (const [kind, options] of [
      ['known', []],
      ['suppressed', ['--suppress']],
    ] as const) {
      const file = join(folder, `${kind}.txt`)
      await Bun.write(file, `${pools[kind].join('\n')}\n`)
      await list.run(['import', ...options, '--yes', file])
    }
    const service = await list.serve()
    const connect = () => openConnection(service.port)
    const [own, connections] = [await connect(), await Promise.all(Array.from({ length: CONNECTIONS }, connect))]

    /** Sends all addresses, waits until compaction begins, and measures requests of one's own, in milliseconds. */
    async function measure(addresses: readonly string[]): Promise<number[]> {
      const waiting = addresses.values()
      await Promise.all(
        connections.map(async (connection) => {
          for (const email of waiting)
            check((await request(connection, email))?.status === 200, () => 'an address got no 200')
        }),
      )
      await Bun.sleep(UNTIL_COMPACTION)
      const times: number[] = []
      while (times.length < LATER) {
        const start = performance.now()
        await request(own, 'own@example.org')
        times.push(performance.now() - start)
      }
      await Bun.sleep(REST)
      return times
    }

    /** Does work for each kind in each round, in changing order. */
    async function measureKinds<T>(times: number, work: (kind: Kind) => Promise<T>): Promise<Record<Kind, T[]>> {
      const measured: Record<Kind, T[]> = { new: [], known: [], suppressed: [] }
      for (let round = 0; round < times; round++) {
        const start = random.below(KINDS.length)
        for (const kind of [...KINDS.slice(start), ...KINDS.slice(0, start)]) measured[kind].push(await work(kind))
      }
      return measured
    }

    /** Sends one address, waits until it is compacted, and counts requests of one's own until one is slow. */
    async function count(kind: Kind, meter: Meter): Promise<number> {
      for (const email of pools[kind].splice(0, 1)) await request(own, email)
      await Bun.sleep(UNTIL_COMPACTION + REST)
      return await countUntilSlow(own, meter)
    }

    const figures: Figures[] = []
    for (const size of BURSTS) {
      const times = await measureKinds(rounds, (kind) => measure(pools[kind].splice(0, size)))
      progress(`${size} addresses: ${rounds} rounds`)
      figures.push(
        compare(`${size} addresses, first`, times, ([first = 0]) => first),
        compare(`${size} addresses, sum of five`, times, (all) => all.reduce((sum, time) => sum + time, 0)),
      )
    }
    const meter = await createMeter(service, list, folder)
    // From here on, each count begins after a slow request, if there is any.
    await countUntilSlow(own, meter)
    figures.push(
      compare(
        'requests until a slow one',
        await measureKinds(counted, (kind) => count(kind, meter)),
        (number) => number,
        '',
      ),
    )
    await meter.end()
    await service.stop()
    return Object.assign({}, ...figures)
  },
}

/** Compares each pair of kinds. @throws BrokenPromise */
function compare<T>(
  name: string,
  measured: Readonly<Record<Kind, readonly T[]>>,
  toValue: (one: T) => number,
  unit = ' ms',
): Figures {
  const figures: Record<string, string | number> = {}
  for (const [one, other] of [
    ['new', 'known'],
    ['new', 'suppressed'],
    ['known', 'suppressed'],
  ] as const) {
    const a = measured[one].map(toValue)
    const b = measured[other].map(toValue)
    const { auc, error } = compareSamples(a, b)
    const digits = unit === '' ? 0 : 2
    const text = `AUC ${auc.toFixed(3)}, medians ${median(a).toFixed(digits)} and ${median(b).toFixed(digits)}${unit}`
    figures[`${name}, ${one} and ${other}`] = text
    const bound = Math.max(BOUND, ERRORS * error)
    check(Math.abs(auc - 0.5) <= bound, () => `${name}, ${one} and ${other}: ${text}`)
  }
  return figures
}
