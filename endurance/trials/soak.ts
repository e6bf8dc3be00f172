/** Full load for a long time: memory and p99 stay flat, and the count is exact. */

import { startClient } from '../clients/client.ts'
import type { PumpOptions, PumpWindow } from '../clients/pump.ts'
import { runVerb, startService } from '../rollcall.ts'
import { growthOf, median } from '../statistics.ts'
import { check, type Trial, type TrialContext } from '../trial.ts'
import { readCpuOfOthers, readMemory } from '../usage.ts'

const CONNECTIONS = 64

/** The list grows by this share of the requests, so that half an hour of load does not fill a disk. */
const NEW_SHARE = 0.2

/** The load is cut into so many windows. The first of them warm the service up and are left out. */
const WINDOWS = 30
const WARM_UP_WINDOWS = 6

/**
 * Other work on the machine delays responses. So p99 is taken from the windows in which others used less than this
 * share of a core, and it is judged when there are enough of them.
 */
const MOST_OTHERS = 0.2
const LEAST_WINDOWS = 10

/** Growth over the whole run that counts as flat: the larger of a share of the median and an amount. */
const FLAT = { memory: { share: 0.1, amount: 32 }, p99: { share: 0.5, amount: 10 } } as const

export const soak: Trial = {
  name: 'soak',
  promise: 'full load for 30 minutes: memory and p99 are flat, every request is answered 200, the count is exact',
  stores: ['sqlite', 'postgres'],
  minutes: 30,
  async run(context) {
    const { folder, createList, scale } = context
    const seconds = Math.max(30 * 60 * scale, WINDOWS)
    const list = await createList()
    const service = await startService(list, { folder })
    const windows = await pump(context, service, seconds)
    const { addresses = 0 } = windows.at(-1) ?? {}
    const stopped = await service.stop()
    check(stopped === 0, () => `the service stopped with exit code ${stopped}`)
    const count = Number(await runVerb(['count'], list, { folder }))
    check(count === addresses, () => `count says ${count}, and ${addresses} addresses were acknowledged`)

    const measured = windows.slice(WARM_UP_WINDOWS, WINDOWS)
    const memory = measured.map(({ memory: mebibytes }) => mebibytes)
    const p99 = measured.filter(({ others }) => others <= MOST_OTHERS).map((window) => window.p99)
    const isJudged = p99.length >= LEAST_WINDOWS
    const requests = windows.reduce((sum, window) => sum + window.requests, 0)
    checkFlat('memory (MiB)', memory, FLAT.memory)
    if (isJudged) checkFlat('p99 (ms)', p99, FLAT.p99)
    return {
      'minutes of load': seconds / 60,
      requests,
      'requests a second': requests / seconds,
      'addresses on the list': count,
      'memory, median, MiB': median(memory),
      'memory, growth over the run, MiB': growthOf(memory),
      'p99, median, ms': median(measured.map((window) => window.p99)),
      'p99, growth over the run, ms': isJudged
        ? growthOf(p99)
        : `not judged: the machine was free of other work in ${p99.length} of ${measured.length} windows`,
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
async function pump(
  { progress }: TrialContext,
  service: { readonly port: number; readonly process: Bun.Subprocess },
  seconds: number,
): Promise<Window[]> {
  const options: PumpOptions = {
    port: service.port,
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
      memory: readMemory(service.process.pid).now,
      others: (now.others - last.others) / (now.at - last.at),
    }
    last = now
    windows.push(window)
    check(window.failed === 0, () => `${window.failed} requests are not answered 200`)
    if (windows.length % 5 > 0) continue
    const { requests, p99, memory } = window
    const seen = `${requests} requests, p99 ${p99.toFixed(1)} ms, ${memory.toFixed(0)} MiB, others use ${window.others.toFixed(1)} cores`
    progress(`window ${windows.length} of ${WINDOWS}: ${seen}`)
  }
  check((await client.ended) === 0, () => 'the load ended early')
  return windows
}

function checkFlat(
  name: string,
  values: readonly number[],
  { share, amount }: { readonly share: number; readonly amount: number },
): void {
  const [growth, most] = [growthOf(values), Math.max(median(values) * share, amount)]
  check(
    growth <= most,
    () =>
      `${name} grows by ${growth.toFixed(1)}, and at most ${most.toFixed(1)} is flat: ${values.map((value) => value.toFixed(1)).join(', ')}`,
  )
}
