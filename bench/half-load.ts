/** Starts the open load on the load generator's core. */

import { fileURLToPath } from 'node:url'
import { type Pins, pinned } from './machine.ts'

/** What open-loop.ts prints: milliseconds from when a request was due to its answer. */
export interface OpenLoopResult {
  readonly p50: number
  readonly p99: number
  /** Requests that were not answered, or not with 200. */
  readonly failed: number
}

export interface OpenLoopOptions {
  readonly origin: string
  /** Requests a second. */
  readonly rate: number
  readonly connections: number
  readonly seconds: number
  readonly pins: Pins | undefined
}

const SCRIPT = fileURLToPath(new URL('open-loop.ts', import.meta.url))

/**
 * Sends new addresses at a steady rate.
 *
 * @throws Error when any of them failed
 */
export async function runOpenLoop({ origin, rate, connections, seconds, pins }: OpenLoopOptions) {
  const figures = [new URL(origin).port, rate, connections, seconds].map(String)
  const child = Bun.spawn(pinned(pins?.load, [process.execPath, SCRIPT, ...figures]), { stderr: 'inherit' })
  const result = (await new Response(child.stdout).json()) as OpenLoopResult
  if (result.failed > 0) throw new Error(`${result.failed} requests of the open load failed`)
  return result
}
