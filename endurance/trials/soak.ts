/** Full load for a long time: memory and p99 stay flat, and every address is on the list once. */

import { APART, runLoad, TOGETHER } from '../../bench/load.ts'
import { readMemory } from '../../bench/server.ts'
import { check } from '../check.ts'
import { growthOf, median } from '../statistics.ts'
import type { Trial } from '../trial.ts'

/** The load is cut into windows of so many seconds. A fifth of them warm the service up and are left out. */
const SECONDS = { sqlite: 3, postgres: 2 } as const
const WINDOWS = 60

const CONNECTIONS = 64

/** Growth over the whole run that counts as flat: the larger of a share of the median and an amount. */
const FLAT = { memory: { share: 0.1, amount: 32 }, p99: { share: 0.5, amount: 20 } } as const

export const soak: Trial = {
  name: 'soak',
  promise:
    'full load for 3 minutes (2 on PostgreSQL): memory and p99 are flat, every response is 200, no address is missing',
  minutes: SECONDS,
  needs: ['wrk'],
  async run({ createList, amount, store, progress }) {
    const [seconds, count] = [SECONDS[store], amount(WINDOWS, 10)]
    const list = await createList()
    const service = await list.serve()
    const load = {
      ports: [service.port],
      kind: 'repeated' as const,
      connections: CONNECTIONS,
      // PostgreSQL has processes of its own, which take turns with the load.
      pins: store === 'sqlite' ? APART : TOGETHER,
    }
    const windows: { readonly requests: number; readonly p99: number; readonly memory: number }[] = []
    for (let window = 1; window <= count; window++) {
      // Fails at the first request that is not answered 200.
      const { requests, p99 } = await runLoad({ ...load, seconds })
      windows.push({ requests, p99, memory: readMemory(service.process.pid, 'VmRSS') })
      if (window % 10 === 0) progress(`window ${window} of ${count}: ${JSON.stringify(windows.at(-1))}`)
    }
    const stopped = await service.stop()
    check(stopped === 0, () => `the service stopped with exit code ${stopped}`)

    // One request in five has a new address. At the end of a window, those on their way may have been accepted.
    const least = windows.reduce((sum, { requests }) => sum + Math.floor(requests / 5), 0) - count
    const most = windows.reduce((sum, { requests }) => sum + Math.ceil((requests + CONNECTIONS) / 5), 0) + count
    const listed = Number(await list.run(['count']))
    check(listed >= least && listed <= most, () => `count says ${listed}, and ${least} to ${most} addresses were sent`)

    const measured = windows.slice(count / 5)
    const [memory, p99] = [measured.map((window) => window.memory), measured.map((window) => window.p99)]
    checkFlat('memory in MiB', memory, FLAT.memory)
    checkFlat('p99 in ms', p99, FLAT.p99)
    const requests = windows.reduce((sum, window) => sum + window.requests, 0)
    return {
      requests,
      'addresses on the list': listed,
      'memory, MiB': toTrend(memory),
      'p99, ms': toTrend(p99),
    }
  },
}

function toTrend(values: readonly number[]): string {
  const [middle, most, growth] = [median(values), Math.max(...values), growthOf(values)].map((value) =>
    value.toFixed(1),
  )
  return `${middle}, at most ${most}, growing by ${growth}`
}

function checkFlat(
  name: string,
  values: readonly number[],
  { share, amount }: { share: number; amount: number },
): void {
  const [growth, most] = [growthOf(values), Math.max(median(values) * share, amount)]
  const series = values.map((value) => value.toFixed(1)).join(', ')
  check(growth <= most, () => `${name} grows by ${growth}, and at most ${most} is flat: ${series}`)
}
