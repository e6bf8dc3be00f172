/** A closed load from wrk: every connection sends its next request when it has the answer to the last. */

import { fileURLToPath } from 'node:url'
import { type Pins, pinned } from './machine.ts'
import type { Requests } from './trials.ts'

const SCRIPT = fileURLToPath(new URL('load.lua', import.meta.url))

export interface WrkOptions {
  readonly origin: string
  readonly requests: Requests
  readonly connections: number
  readonly seconds: number
  readonly pins: Pins | undefined
}

/** What came of it. */
export interface WrkResult {
  readonly requests: number
  readonly seconds: number
}

let runs = 0

/**
 * Sends requests for some seconds.
 *
 * @throws Error when any of them failed, or was answered with a status that was not to be expected
 */
export async function runWrk({
  origin,
  requests,
  connections,
  seconds,
  pins,
}: WrkOptions): Promise<WrkResult> {
  const { kind, path } = requests
  const headers = Object.entries(await toHeaders(origin, requests)).map(([name, value]) => `${name}=${value}`)
  // New addresses are new in every run; known ones are the same in all of them.
  const seed = kind === 'known' ? 0 : ++runs
  const command = [
    ...['wrk', '-t1', `-c${connections}`, `-d${seconds}s`, '-s', SCRIPT, origin + path],
    ...['--', kind, String(seed), ...headers],
  ]
  const { stdout } = Bun.spawnSync(pinned(pins?.load, command), { env: { PATH: process.env.PATH } })
  const figures = /^RESULT (\d+) (\d+) (\d+) (\d+)$/m.exec(stdout.toString())?.slice(1).map(Number)
  if (!figures) throw new Error(`wrk gave no result: ${stdout}`)
  const [answered = 0, microseconds = 0, refused = 0, failed = 0] = figures
  if (failed > 0) throw new Error(`${failed} requests failed, ${answered} were answered`)
  if (refused > 0 && kind !== 'mixed') throw new Error(`${refused} of ${answered} requests were refused`)
  return { requests: answered, seconds: microseconds / 1e6 }
}

async function toHeaders(
  origin: string,
  { path, headers, unchanged }: Requests,
): Promise<Record<string, string>> {
  if (!unchanged) return { ...headers }
  // As wrk does; fetch would ask for a coding, and each has a tag of its own.
  const plain = { 'Accept-Encoding': 'identity' }
  const { headers: found } = await fetch(origin + path, { headers: plain })
  const fields = { ...plain, 'If-None-Match': found.get('etag') ?? '' }
  const { status } = await fetch(origin + path, { headers: fields })
  if (status !== 304) throw new Error(`a document with its own entity tag is answered ${status}, not 304`)
  return fields
}
