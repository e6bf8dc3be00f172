/** The operations listener: health, metrics and settings, on a second port that is not public. */

import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../config/config.ts'
import type { Intake } from '../intake/intake.ts'
import { createTrouble, type Log } from '../log.ts'
import { ALLOW, CACHE_CONTROL } from '../routes.ts'
import { MigratingError, type ServiceStore } from '../subscriber.ts'
import type { App } from './app.ts'
import type { Metrics } from './metrics.ts'
import { type Handler, type HeaderFields, isRead } from './responses.ts'

export interface OpsOptions {
  readonly metrics: Metrics
  readonly intake: Pick<Intake, 'ready'>
  readonly store: Pick<ServiceStore, 'measure'>
  readonly log: Log
  /** The host that the listener binds. */
  readonly host: string
  /** The response of `/config`, for `rollcall doctor`. The list has no password, and the path of a SQLite list is absolute. */
  readonly settings: {
    readonly base_url: string
    readonly version: string
    readonly list: string
    readonly site_file: Config['siteFile'] | null
  }
}

/** Milliseconds for which a scrape waits for the store. */
const MEASURE_MS = 1_000

/** Creates the application of the operations listener: `/livez`, `/readyz`, `/metrics` and `/config`. */
export async function createOps({ metrics, intake, store, log, host, settings }: OpsOptions): Promise<App> {
  const isLocal = await isLoopback(host)
  const unmeasured = createTrouble(log, {
    begin: 'the store cannot be measured: some metrics are NaN',
    end: 'the store can be measured again',
  })
  // A migration says itself how it goes. For any other reason, the log of the intake has the details.
  const findProblem = () =>
    intake.ready().then(
      () => undefined,
      (error) => (error instanceof MigratingError ? `the store fails: ${error.message}` : 'the store fails'),
    )
  const routes: Record<string, Handler> = {
    '/livez': () => toText(200, 'ok'),
    '/readyz': async () => {
      const problem = await findProblem()
      return problem ? toText(503, problem) : toText(200, 'ok')
    },
    '/metrics': async () => {
      const measure = store.measure()
      measure.then(unmeasured.end, unmeasured.add)
      const [measured, ready] = await Promise.all([
        waitFor(measure, MEASURE_MS),
        findProblem().then((problem) => problem === undefined),
      ])
      return metrics.expose(measured, ready)
    },
    '/config': () => Response.json(settings, { headers: { 'Cache-Control': CACHE_CONTROL.none } }),
  }
  const createRoute = (handler: Handler): Handler => {
    return (request) => {
      if (isLocal && !isKnownHost(request.headers.get('host'), host)) {
        return toText(403, 'the Host must be an IP address, localhost or OPS_HOST')
      }
      return isRead(request) ? handler(request) : toText(405, 'use GET', { Allow: ALLOW.document })
    }
  }

  return {
    routes: new Map(Object.entries(routes).map(([path, handler]) => [path, createRoute(handler)])),
    fetch: () => toText(404, 'not found: the paths are /livez, /readyz, /metrics and /config'),
    error: (error) => {
      log.error({ err: error }, 'a request to the operations port failed unexpectedly')
      return toText(500, 'failed: see the log')
    },
  }
}

/** Returns the value of a promise; undefined when it fails, or takes longer than `ms`. The caller logs a failure. */
function waitFor<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  return Promise.race([promise.catch(() => undefined), sleep(ms, undefined)])
}

/** Whether a host is, or leads to, an address that only this machine reaches (RFC 1122 section 3.2.1.3, RFC 4291 section 2.5.3). */
async function isLoopback(host: string): Promise<boolean> {
  // A name that leads nowhere cannot be bound, and `listen` says so.
  const { address } = await lookup(host).catch(() => ({ address: host }))
  return /^(?:127\.|::1$|::ffff:127\.)/i.test(address)
}

/**
 * Whether a Host names this listener. A page of another site can make a browser send a name that leads to 127.0.0.1 (DNS
 * rebinding), and would read the response. That matters on a loopback listener, which nobody else reaches; others have names that
 * only the network knows.
 */
function isKnownHost(field: string | null, configured: string): boolean {
  if (field === null) return true
  const withoutPort = field.replace(/:[0-9]*$/, '')
  // An IPv6 address has brackets in a Host.
  const name = withoutPort.replace(/^\[(.*)\]$/, '$1').toLowerCase()
  return isIP(name) > 0 || name === 'localhost' || name === configured.toLowerCase()
}

function toText(status: number, text: string, fields?: HeaderFields): Response {
  const headers = { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': CACHE_CONTROL.none, ...fields }
  return new Response(`${text}\n`, { status, headers })
}
