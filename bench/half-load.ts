/** Runs open-loop.ts on the core of the load generator. */

import { fileURLToPath } from 'node:url'
import { type Pins, pinned } from './machine.ts'

/** What open-loop.ts prints. Latencies are in milliseconds from when a request was due to its response. */
export interface OpenLoopResult {
  readonly p50: number
  readonly p99: number
  /** Requests without a 200. */
  readonly failed: number
}

export interface OpenLoopOptions {
  readonly origin: string
  /** Requests per second. */
  readonly rate: number
  readonly connections: number
  readonly seconds: number
  readonly pins: Pins | undefined
}

const SCRIPT = fileURLToPath(new URL('open-loop.ts', import.meta.url))

/**
 * Sends new addresses at a constant mean rate.
 *
 * @throws Error when a request failed
 */
export async function runOpenLoop({ origin, rate, connections, seconds, pins }: OpenLoopOptions) {
  const args = [new URL(origin).port, rate, connections, seconds].map(String)
  const child = Bun.spawn(pinned(pins?.load, [process.execPath, SCRIPT, ...args]), { stderr: 'inherit' })
  const result: OpenLoopResult = await child.stdout.json()
  if (result.failed > 0) throw new Error(`${result.failed} requests of the open load failed`)
  return result
}
