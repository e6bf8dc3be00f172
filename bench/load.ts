/** The load: requests from wrk, and the cores of the server and of the load generator. */

import { openSync, writeSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { ENDPOINT } from '../src/routes.ts'

/** What load.lua sends. `repeated` has a new address in five and else one that was sent before. */
export type RequestKind = 'new' | 'repeated'

/** The cores of the servers and of the load generator, in the format of `taskset -c`. */
export interface Pins {
  readonly server: string
  readonly load: string
}

const CORES = availableParallelism()
const ALL = `0-${CORES - 1}`

/** All processes share all cores. */
export const TOGETHER: Pins = { server: ALL, load: ALL }

/** The load generator has a core to itself, if there are two. */
export const APART: Pins = { server: CORES > 2 ? `0-${CORES - 2}` : '0', load: String(CORES - 1) }

/**
 * Keeps the cores awake until the process ends: https://docs.kernel.org/power/pm_qos_interface.html. A core of a virtual
 * machine may take a millisecond to wake up, and a server that waits for the disk is measured with that.
 *
 * @returns whether it could: only root can
 */
export function keepCoresAwake(): boolean {
  try {
    return writeSync(openSync('/dev/cpu_dma_latency', 'w'), new Int32Array(1)) > 0
  } catch {
    return false
  }
}

export interface LoadOptions {
  /** The ports of the processes, which share the connections. */
  readonly ports: readonly number[]
  readonly kind: RequestKind
  readonly connections: number
  readonly seconds: number
  readonly pins: Pins
}

// New addresses differ between all runs.
let runs = Math.floor(Math.random() * 500_000)

/**
 * Sends requests for some seconds. Each connection sends its next request when it has the response to the last one.
 *
 * @returns the 99th percentile of the latency in milliseconds, too
 * @throws Error when a request failed or had an unexpected status
 */
export async function runLoad({ ports, kind, connections, seconds, pins }: LoadOptions) {
  const options = [`-t${ports.length}`, `-c${connections}`, `-d${seconds}s`, '--timeout', '10s']
  const script = fileURLToPath(new URL('load.lua', import.meta.url))
  const url = `http://127.0.0.1:${ports[0]}${ENDPOINT.path}`
  const command = ['taskset', '-c', pins.load, 'wrk', ...options, '-s', script, url, '--', kind, String(++runs)]
  const child = Bun.spawn(command, {
    env: { PATH: process.env.PATH, PORTS: ports.join(',') },
    stdout: 'pipe',
  })
  const output = await child.stdout.text()
  const figures = /^RESULT (\d+) (\d+) (\d+) (\d+) (\d+)$/m.exec(output)?.slice(1).map(Number)
  if (!figures) throw new Error(`wrk printed no result: ${output}`)
  const [requests = 0, microseconds = 0, rejected = 0, failed = 0, p99 = 0] = figures
  if (failed > 0 || rejected > 0) throw new Error(`${requests} responses, ${rejected} rejected; ${failed} failed`)
  return { requests, seconds: microseconds / 1e6, p99: p99 / 1000 }
}
