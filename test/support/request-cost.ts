/** Compares the CPU time of requests to the same service. */

import { measureCpuMs } from './cpu.ts'
import { openConnection, type RawConnection } from './raw.ts'
import type { RunningService } from './service.ts'

/** Two requests, as bytes or as Latin-1. */
export interface Pair {
  readonly worst: string
  /** A valid request of the same size. */
  readonly plain: string
}

export interface CostMeter {
  /** Returns how many times the CPU time of the plain request the worst one takes. Sends each 32 times. */
  estimate(pair: Pair): Promise<number>
  /**
   * The same, more precisely: from the least of several samples, because what disturbs a sample adds to it.
   *
   * @param enough a ratio that is so far below the limit that a few samples are enough to show it
   */
  measure(pair: Pair, enough?: number): Promise<number>
  close(): void
}

/** Requests that are sent at once. With one at a time, a plain request would seem to cost as much as a commit. */
const AT_ONCE = 16

/** How often they are sent in a sample. */
const REPEATS = 2

/** Samples of each request in a precise measurement, and when the ratio is low enough. */
const SAMPLES = 7
const FEW_SAMPLES = 3

/** Opens connections to a service, and warms it up with a request. */
export async function openCostMeter(
  service: Pick<RunningService, 'port' | 'process'>,
  request: string,
): Promise<CostMeter> {
  const connections: RawConnection[] = await Promise.all(Array.from({ length: AT_ONCE }, open))

  function open(): Promise<RawConnection> {
    return openConnection(service.port)
  }

  async function send(index: number, bytes: string): Promise<void> {
    let connection = connections[index]!
    if (connection.isClosed()) connection = connections[index] = await open()
    connection.send(bytes)
    const reply = await connection.receive()
    if (reply?.headers.get('connection') === 'close') connection.close()
  }

  function sample(bytes: string): Promise<number> {
    return measureCpuMs(service.process.pid, async () => {
      for (let repeat = 0; repeat < REPEATS; repeat++) {
        await Promise.all(connections.map((_, index) => send(index, bytes)))
      }
    })
  }

  // The load of the machine changes, and with it the speed of the processor. So the requests take turns.
  async function measure({ worst, plain }: Pair, enough = 0): Promise<number> {
    const least = { worst: Number.POSITIVE_INFINITY, plain: Number.POSITIVE_INFINITY }
    for (let index = 0; index < SAMPLES; index++) {
      least.plain = Math.min(least.plain, await sample(plain))
      least.worst = Math.min(least.worst, await sample(worst))
      if (index + 1 >= FEW_SAMPLES && least.worst < enough * least.plain) break
    }
    return least.worst / least.plain
  }

  // The runtime compiles what is called often.
  for (let index = 0; index < 40; index++) await sample(request)
  return {
    estimate: async ({ worst, plain }) => (await sample(worst)) / (await sample(plain)),
    measure,
    close: () => {
      for (const connection of connections) connection.close()
    },
  }
}
