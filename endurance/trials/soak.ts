/** Full load for a long time: memory and p99 stay flat, and the count is exact. */

import { check } from '../check.ts'
import { startClient } from '../clients/client.ts'
import type { PumpOptions, PumpWindow } from '../clients/pump.ts'
import type { Service } from '../rollcall.ts'
import { growthOf, median } from '../statistics.ts'
import type { Trial, TrialContext } from '../trial.ts'
import { readCpuOfOthers, readMemory } from '../usage.ts'

const MINUTES = { sqlite: 30, postgres: 10 } as const

const CONNECTIONS = 64

/** The list grows by this share of the requests, so that half an hour of load does not fill a disk. */
const NEW_SHARE = 0.2

/** The load is cut into so many windows. The first of them warm the service up and are left out. */
const WINDOWS = 60
const WARM_UP_WINDOWS = 12

/**
 * Other work on the machine delays responses. So p99 is judged by the windows in which others used less than this share
 * of a core, unless they are few.
 */
const MOST_OTHERS = 0.2
const LEAST_WINDOWS = 24

/** Growth over the whole run that counts as flat: the larger of a share of the median and an amount. */
const FLAT = { memory: { share: 0.1, amount: 32 }, p99: { share: 0.5, amount: 10 } } as const

export const soak: Trial = {
  name: 'soak',
  promise:
    'full load for 30 minutes (10 on PostgreSQL): memory and p99 are flat, every response is 200, the count is exact',
  minutes: MINUTES,
  async run(context) {
    const { createList, scale, store } = context
    const seconds = Math.max(MINUTES[store] * 60 * scale, WINDOWS)
    const list = await createList()
    const service = await list.serve()
    const windows = await pump(context, service, seconds)
    const { addresses = 0 } = windows.at(-1) ?? {}
    const stopped = await service.stop()
    check(stopped === 0, () => `the service stopped with exit code ${stopped}`)
    const count = Number(await list.run(['count']))
    check(count === addresses, () => `count says ${count}, and ${addresses} addresses were acknowledged`)

    const measured = windows.slice(WARM_UP_WINDOWS, WINDOWS)
    const quiet = measured.filter(({ others }) => others <= MOST_OTHERS)
    const judged = quiet.length >= LEAST_WINDOWS ? quiet : measured
    const [memory, p99] = [measured.map((window) => window.memory), judged.map((window) => window.p99)]
    checkFlat('memory in MiB', memory, FLAT.memory)
    checkFlat(`p99 in ms (in ${quiet.length} of ${measured.length} windows the machine was quiet)`, p99, FLAT.p99)
    const requests = windows.reduce((sum, window) => sum + window.requests, 0)
    return {
      figures: {
        'minutes of load': seconds / 60,
        requests,
        'requests a second': requests / seconds,
        'addresses on the list': count,
        'memory, MiB': toTrend(memory),
        'p99, ms': toTrend(p99),
      },
      details: {
        'windows by which p99 is judged':
          judged === quiet ? `${quiet.length} without other work` : `all ${judged.length}`,
        'median response, ms': median(measured.map(({ p50 }) => p50)),
        'most memory, MiB': Math.max(...memory),
        'highest p99 of a window, ms': Math.max(...p99),
      },
    }
  },
}

interface Window extends PumpWindow {
  /** Resident memory of the service in MiB. */
  readonly memory: number
  /** The cores that other work on the machine used. */
  readonly others: number
}

/** Loads the service. Fails at the first window with a request that is not answered 200. */
async function pump({ progress }: TrialContext, { port, process }: Service, seconds: number): Promise<Window[]> {
  const options: PumpOptions = {
    port,
    connections: CONNECTIONS,
    seconds,
    windowSeconds: seconds / WINDOWS,
    newShare: NEW_SHARE,
  }
  const client = startClient('pump', options)
  const windows: Window[] = []
  let last = { at: performance.now(), others: readCpuOfOthers() }
  for await (const line of client.lines) {
    const now = { at: performance.now(), others: readCpuOfOthers() }
    const window: Window = {
      ...(line as PumpWindow),
      memory: readMemory(process.pid).now,
      others: (now.others - last.others) / (now.at - last.at),
    }
    last = now
    windows.push(window)
    check(window.failed === 0, () => `${window.failed} requests are not answered 200`)
    if (windows.length % 10 === 0) progress(`window ${windows.length} of ${WINDOWS}: ${describe(window)}`)
  }
  check((await client.ended) === 0, () => 'the load ended early')
  return windows
}

function describe({ requests, p99, memory, others }: Window): string {
  return `${requests} requests, p99 ${p99.toFixed(1)} ms, ${memory.toFixed(0)} MiB, others use ${others.toFixed(1)} cores`
}

function toTrend(values: readonly number[]): string {
  return `${median(values).toFixed(1)}, growing by ${growthOf(values).toFixed(1)} over the run`
}

function checkFlat(
  name: string,
  values: readonly number[],
  { share, amount }: { readonly share: number; readonly amount: number },
): void {
  const [growth, most] = [growthOf(values), Math.max(median(values) * share, amount)]
  const series = values.map((value) => value.toFixed(1)).join(', ')
  check(
    growth <= most,
    () => `${name} grows by ${growth.toFixed(1)}, and at most ${most.toFixed(1)} is flat: ${series}`,
  )
}
