/** The operations listener: health, metrics and settings, on a port of its own that the public does not reach. */

import { isIP } from 'node:net'

import type { Intake } from '../intake/intake.ts'
import { GIVE_UP_MS } from '../limits.ts'
import type { ServiceStore } from '../subscriber.ts'
import type { App } from './app.ts'
import type { Metrics, StoreMeasure } from './metrics.ts'
import type { Handler } from './responses.ts'

export interface OpsOptions {
  readonly metrics: Metrics
  readonly intake: Pick<Intake, 'check'>
  readonly store: Pick<ServiceStore, 'measure'>
  /** The host that the listener binds. */
  readonly host: string
  /** What `/config` says to `rollcall doctor`. */
  readonly settings: OpsSettings
}

/** What identifies a running service, without a password. */
export interface OpsSettings {
  readonly base_url: string
  /** The name of the list. The path of a SQLite list is absolute. */
  readonly list: string
}

/** Milliseconds for which a scrape waits for the store, and for which its values are used again. */
const MEASURE_MS = 1_000

/** Creates the application of the operations listener: `/livez`, `/readyz`, `/metrics` and `/config`. */
export function createOps({ metrics, intake, store, host, settings }: OpsOptions): App {
  async function isReady(): Promise<boolean> {
    const late = Bun.sleep(GIVE_UP_MS).then(() => false)
    const checked = intake.check().then(
      () => true,
      () => false,
    )
    return await Promise.race([checked, late])
  }

  // A scrape neither waits for a store that hangs nor adds work for it: the next one gets the same promise.
  let measuring: Promise<StoreMeasure | undefined> | undefined
  let measured: StoreMeasure | undefined
  let measuredAt = Number.NEGATIVE_INFINITY

  function measure(): Promise<StoreMeasure | undefined> {
    if (performance.now() - measuredAt < MEASURE_MS) return Promise.resolve(measured)
    measuring ??= store
      .measure()
      .catch(() => undefined)
      .then((measure) => {
        measured = measure
        measuredAt = performance.now()
        measuring = undefined
        return measure
      })
    return Promise.race([measuring, Bun.sleep(MEASURE_MS).then(() => undefined)])
  }

  const routes: Record<string, Handler> = {
    '/livez': () => toText(200, 'ok'),
    '/readyz': async () => ((await isReady()) ? toText(200, 'ok') : toText(503, 'the store fails')),
    '/metrics': async () => {
      const { mediaType, text } = await metrics.expose(await measure())
      return new Response(text, { headers: { 'Content-Type': mediaType, 'Cache-Control': 'no-store' } })
    },
    '/config': () => Response.json(settings, { headers: { 'Cache-Control': 'no-store' } }),
  }
  const toReadOnly = (handler: Handler): Handler => {
    return (request) => {
      if (!isKnownHost(request.headers.get('host'), host)) {
        return toText(403, 'the Host must be an IP address, localhost or OPS_HOST')
      }
      return request.method === 'GET' || request.method === 'HEAD' ? handler(request) : toText(405, 'use GET')
    }
  }

  return {
    routes: new Map(Object.entries(routes).map(([path, handler]) => [path, toReadOnly(handler)])),
    fetch: () => toText(404, 'not found: the paths are /livez, /readyz, /metrics and /config'),
    error: () => toText(500, 'failed'),
  }
}

/**
 * Whether a Host names this listener. A page of another site can make a browser send a name that leads to 127.0.0.1 (DNS
 * rebinding), and would read the response.
 */
function isKnownHost(field: string | null, configured: string): boolean {
  const name = field
    ?.replace(/:[0-9]*$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .toLowerCase()
  return name === undefined || isIP(name) > 0 || name === 'localhost' || name === configured.toLowerCase()
}

function toText(status: number, text: string): Response {
  const headers = { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-store' }
  return new Response(`${text}\n`, {
    status,
    headers: status === 405 ? { ...headers, Allow: 'GET, HEAD' } : headers,
  })
}
