/** Listening: binds a port, keeps the limits of the runtime above ours, and stops. */

import { isIP } from 'node:net'
import type { Listener } from '../config/environment.ts'
import { Failure, toErrorCode } from '../failure.ts'
import { IDLE_TIMEOUT_S, STOP_PHASE_ENDS_MS } from '../limits.ts'
import type { App } from './app.ts'
import type { Handler } from './responses.ts'

export interface Server {
  /** The port that was bound. */
  readonly port: number
  /**
   * Makes each response close its connection, and accepts new ones, until the phase `announce` ends. Then answers the requests that have
   * begun, until their phase ends, and closes all connections.
   *
   * @param signaledAt when the stop was asked for, by `performance.now()`; each phase ends at a fixed time after it
   * @returns how many requests were cut off without a complete response
   */
  stop(signaledAt: number): Promise<number>
}

/** How often a stop checks for requests without a response, in milliseconds. */
const POLL_MS = 20

/** Binds the port and serves. @param setting names the port. @throws Failure when the port cannot be bound */
export function listen({ routes, fetch, error }: App, { port, host }: Listener, setting = 'PORT'): Server {
  const options = {
    port,
    hostname: host,
    idleTimeout: IDLE_TIMEOUT_S,
    // The 413 of the runtime has no body, so body.ts limits bodies, and drops those that no handler reads. The operations port reads none.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    development: false,
    // Outside of development, Bun shares a port with other processes by default.
    reusePort: false,
    error,
  } as const
  let server: Bun.Server<undefined>
  try {
    server = Bun.serve({ ...options, routes: Object.fromEntries(routes), fetch })
  } catch (error) {
    throw new Failure(`cannot listen on ${host} port ${port}: ${toReason(toErrorCode(error), host, setting)}`)
  }

  async function stop(signaledAt: number): Promise<number> {
    // A request on an open connection that the server closes at that moment is lost. So clients close theirs first.
    const closing = [...routes].map(([path, handler]) => [path, toClosing(handler)] as const)
    server.reload({ ...options, routes: Object.fromEntries(closing), fetch: toClosing(fetch) })
    await sleepUntil(signaledAt + STOP_PHASE_ENDS_MS.announce)
    void server.stop()
    const end = signaledAt + STOP_PHASE_ENDS_MS.requests
    while (server.pendingRequests > 0 && performance.now() < end) await Bun.sleep(POLL_MS)
    const { pendingRequests } = server
    await server.stop(true)
    return pendingRequests
  }

  return { port: server.port ?? port, stop }
}

/** Makes each response of a handler close its connection (RFC 9112 section 9.6). */
function toClosing(handler: Handler): Handler {
  return async (request) => {
    const response = await handler(request)
    response.headers.set('Connection', 'close')
    return response
  }
}

/** Says why a port cannot be bound, and which setting to change. @param setting `PORT` or `OPS_PORT` */
function toReason(code: string, host: string, setting: string): string {
  if (code === 'EADDRINUSE') return `another process uses the port: stop it, or set ${setting} to another one`
  if (code === 'EACCES') return `a port below 1024 is for root: set ${setting} to a higher one`
  // HOST or OPS_HOST.
  const hostSetting = setting.replace('PORT', 'HOST')
  const advice = `set ${hostSetting} to 127.0.0.1 for this machine only, or to 0.0.0.0 for every network`
  // The runtime has no code of its own for a name that it does not find.
  if (isIP(host) === 0) return `the name leads to no address of this machine: ${advice}`
  if (code === 'EADDRNOTAVAIL') return `no network of this machine has this address: ${advice}`
  return `the system does not allow this address (${code}): ${advice}`
}

/** Sleeps until a time by `performance.now()`. */
export function sleepUntil(time: number): Promise<void> {
  return Bun.sleep(Math.max(0, time - performance.now()))
}
