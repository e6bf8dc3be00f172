/** A closed load from wrk: each connection sends its next request when it has the response to the last one. */

import { fileURLToPath } from 'node:url'
import { type Pins, pinned } from './machine.ts'
import type { Requests } from './requests.ts'

const SCRIPT = fileURLToPath(new URL('load.lua', import.meta.url))

export interface WrkOptions {
  /** The origins of the processes, which share the connections. */
  readonly origins: readonly string[]
  readonly requests: Requests
  readonly connections: number
  readonly seconds: number
  readonly pins: Pins | undefined
}

export interface WrkResult {
  readonly requests: number
  readonly seconds: number
}

let runs = 0

/**
 * Sends requests for some seconds.
 *
 * @throws Error when a request failed or had an unexpected status
 */
export async function runWrk({ origins, requests, connections, seconds, pins }: WrkOptions): Promise<WrkResult> {
  const { kind, path } = requests
  const [origin = ''] = origins
  const headers = Object.entries(await toHeaders(origin, requests)).map(([name, value]) => `${name}=${value}`)
  // New addresses differ between runs; known addresses are the same in all runs.
  const seed = kind === 'known' ? 0 : ++runs
  const command = [
    ...['wrk', `-t${origins.length}`, `-c${connections}`, `-d${seconds}s`, '-s', SCRIPT, origin + path],
    ...['--', kind, String(seed), ...headers],
  ]
  const { stdout } = Bun.spawnSync(pinned(pins?.load, command), {
    env: { PATH: process.env.PATH, PORTS: origins.map((one) => new URL(one).port).join(',') },
  })
  const figures = /^RESULT (\d+) (\d+) (\d+) (\d+)$/m.exec(stdout.toString())?.slice(1).map(Number)
  if (!figures) throw new Error(`wrk printed no result: ${stdout}`)
  const [responses = 0, microseconds = 0, rejected = 0, failed = 0] = figures
  if (failed > 0) throw new Error(`${failed} requests failed, ${responses} had a response`)
  if (rejected > 0 && kind !== 'mixed') throw new Error(`${rejected} of ${responses} requests were rejected`)
  return { requests: responses, seconds: microseconds / 1e6 }
}

async function toHeaders(origin: string, { path, headers, unchanged }: Requests): Promise<Record<string, string>> {
  if (!unchanged) return { ...headers }
  // fetch asks for a content coding and wrk does not; each coding has its own ETag.
  const plain = { 'Accept-Encoding': 'identity' }
  const response = await fetch(origin + path, { headers: plain })
  const fields = { ...plain, 'If-None-Match': response.headers.get('etag') ?? '' }
  const { status } = await fetch(origin + path, { headers: fields })
  if (status !== 304) throw new Error(`a request with the ETag of the document got ${status}, not 304`)
  return fields
}
