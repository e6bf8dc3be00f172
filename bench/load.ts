/** The load: requests from wrk, and the cores of the server and of the load generator. */

import { availableParallelism, cpus, release } from 'node:os'
import { fileURLToPath } from 'node:url'
import { DOCUMENTS, ENDPOINT } from '../src/routes.ts'

/**
 * What load.lua sends. `known` are 1,000 addresses again and again, `listed` are those of a large list in random order, and
 * `repeated` has a new address in five and else one that was sent before.
 */
export type RequestKind = 'new' | 'known' | 'listed' | 'repeated' | 'document'

/** The cores of the server and of the load generator, in the format of `taskset -c`. */
export interface Pins {
  readonly server: string
  readonly load: string
}

/** Gives the load generator a core of its own; undefined if there is only one. */
export function choosePins(cores = availableParallelism()): Pins | undefined {
  if (cores < 2) return undefined
  const last = cores - 1
  return { server: last === 1 ? '0' : `0-${last - 1}`, load: String(last) }
}

/** Pins a command to some cores. */
export function pinned(cores: string | undefined, command: readonly string[]): string[] {
  return cores === undefined ? [...command] : ['taskset', '-c', cores, ...command]
}

export function describeMachine(pins: Pins | undefined): string {
  const place = pins
    ? `the server on core ${pins.server}, the load generator on core ${pins.load}`
    : 'one core for both'
  const model = cpus()[0]?.model.trim() ?? 'unknown processor'
  return `${model}, ${availableParallelism()} cores, Linux ${release()}, Bun ${Bun.version}; ${place}`
}

export interface LoadOptions {
  /** The origins of the processes, which share the connections. */
  readonly origins: readonly string[]
  readonly kind: RequestKind
  readonly connections: number
  readonly seconds: number
  readonly pins: Pins | undefined
}

export interface LoadResult {
  readonly requests: number
  readonly seconds: number
  /** 99th percentile of the latency, in milliseconds. */
  readonly p99: number
}

const SCRIPT = fileURLToPath(new URL('load.lua', import.meta.url))

// New addresses differ between all runs.
let runs = Math.floor(Math.random() * 500_000)

/**
 * Sends requests for some seconds. Each connection sends its next request when it has the response to the last one.
 *
 * @throws Error when a request failed or had an unexpected status
 */
export async function runLoad({ origins, kind, connections, seconds, pins }: LoadOptions): Promise<LoadResult> {
  const url = origins[0] + (kind === 'document' ? DOCUMENTS.openApiJson.path : ENDPOINT.path)
  const command = [
    'wrk',
    `-t${origins.length}`,
    `-c${connections}`,
    `-d${seconds}s`,
    '--timeout',
    '10s',
    '-s',
    SCRIPT,
    url,
  ]
  const child = Bun.spawn(pinned(pins?.load, [...command, '--', kind, String(++runs)]), {
    env: { PATH: process.env.PATH, PORTS: origins.map((origin) => new URL(origin).port).join(',') },
    stdout: 'pipe',
  })
  const output = await child.stdout.text()
  const figures = /^RESULT (\d+) (\d+) (\d+) (\d+) (\d+)$/m.exec(output)?.slice(1).map(Number)
  if (!figures) throw new Error(`wrk printed no result: ${output}`)
  const [requests = 0, microseconds = 0, rejected = 0, failed = 0, p99 = 0] = figures
  if (failed > 0) throw new Error(`${failed} requests failed, ${requests} had a response`)
  if (rejected > 0) throw new Error(`${rejected} of ${requests} requests were rejected`)
  return { requests, seconds: microseconds / 1e6, p99: p99 / 1000 }
}
