/** The operations listener: health and metrics, on a port of its own, never on the public one. */

import type { Intake } from '../intake/intake.ts'
import type { App } from './app.ts'
import type { Metrics } from './metrics.ts'
import { toPath, toTarget } from './target.ts'

export interface OpsOptions {
  readonly metrics: Metrics
  /** Asked whether it can be written; nothing is. */
  readonly store: Pick<Intake, 'check'>
  /** Milliseconds after which a store that does not answer counts as failing. */
  readonly timeoutMs: number
}

/** Creates the application of the operations listener: `/livez`, `/readyz` and `/metrics`. */
export function createOps({ metrics, store, timeoutMs }: OpsOptions): App {
  async function isReady(): Promise<boolean> {
    const late = Bun.sleep(timeoutMs).then(() => false)
    const checked = store.check().then(
      () => true,
      () => false,
    )
    return await Promise.race([checked, late])
  }

  const routes: Record<string, () => Response | Promise<Response>> = {
    '/livez': () => toText(200, 'ok'),
    '/readyz': async () => ((await isReady()) ? toText(200, 'ok') : toText(503, 'the store fails')),
    '/metrics': async () => {
      const { mediaType, text } = await metrics.expose()
      return new Response(text, { headers: { 'Content-Type': mediaType, 'Cache-Control': 'no-store' } })
    },
  }

  return {
    fetch(request) {
      const route = routes[toPath(toTarget(request.url))]
      if (!route) return toText(404, 'not found: there are /livez, /readyz and /metrics')
      if (request.method !== 'GET' && request.method !== 'HEAD') return toText(405, 'use GET')
      return route()
    },
    error: () => toText(500, 'failed'),
  }
}

function toText(status: number, text: string): Response {
  const headers = { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-store' }
  return new Response(`${text}\n`, {
    status,
    headers: status === 405 ? { ...headers, Allow: 'GET, HEAD' } : headers,
  })
}
