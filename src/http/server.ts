/** Listening: binds a port, keeps the limits of the runtime above ours, and stops without losing requests. */

import { Failure, toSystemReason } from '../failure.ts'
import { IDLE_TIMEOUT_S, STOP_PHASE_ENDS_MS } from '../limits.ts'
import type { App } from './app.ts'
import type { Handler } from './responses.ts'

export interface ServerOptions {
  readonly port: number
  readonly host: string
}

export interface StopOptions {
  /** When the stop was asked for, by `performance.now()`. Every phase ends at a fixed time after it. */
  readonly signalledAt: number
  /** Aborts the bodies that have not arrived. */
  readonly abortPending?: () => void
}

export interface Server {
  /** The port that was bound. */
  readonly port: number
  /**
   * Answers every request that has begun, accepts no new connections, and closes all connections.
   *
   * @returns how many requests were cut off without a complete response
   */
  stop(options: StopOptions): Promise<number>
}

/** The service counts as quiet when no request comes in so many intervals in a row; see `stop`. */
const QUIET_INTERVALS = 10
const QUIET_INTERVAL_MS = 20

/** How often a stop checks for requests without a response, in milliseconds. */
const POLL_MS = 20

/**
 * Binds the port and serves.
 *
 * @throws Failure when another process uses the port or the address does not belong to this machine
 */
export function listen({ routes, fetch, error }: App, { port: wanted, host }: ServerOptions): Server {
  const options = {
    port: wanted,
    hostname: host,
    idleTimeout: IDLE_TIMEOUT_S,
    // The 413 of the runtime has no body, so body.ts limits bodies. The runtime discards a body that no handler reads.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    development: false,
    // Outside of development, Bun shares a port with other processes by default.
    reusePort: false,
    error,
  } as const
  const server = bind(() => Bun.serve({ ...options, routes: Object.fromEntries(routes), fetch }), options)
  const port = server.port ?? wanted

  async function stop({ signalledAt, abortPending }: StopOptions): Promise<number> {
    const end = (phase: keyof typeof STOP_PHASE_ENDS_MS) => signalledAt + STOP_PHASE_ENDS_MS[phase]

    // A request that a client sends on an open connection while the service closes it is lost. So `Connection: close`
    // asks clients to close their connections first. Then all responses are held until no more requests come: now
    // every client waits for a response, none is about to send, and the listener can close.
    let held: Promise<void> | undefined
    let requests = 0
    const toHeld = (handler: Handler): Handler => {
      return async (request) => {
        requests++
        const response = await handler(request)
        response.headers.set('Connection', 'close')
        await held
        return response
      }
    }
    const heldRoutes = [...routes].map(([path, handler]) => [path, toHeld(handler)] as const)
    server.reload({ ...options, routes: Object.fromEntries(heldRoutes), fetch: toHeld(fetch) })
    await sleepUntil(end('announce'))
    held = waitUntilQuiet(() => requests, end('quiet'))
    await held

    await Promise.race([server.stop(), sleepUntil(end('bodies'))])
    // A connection with an incomplete head has no request, so it does not count as pending.
    while (server.pendingRequests > 0 && performance.now() < end('connections')) {
      // In a loop, because the head of another request may have arrived.
      abortPending?.()
      await Bun.sleep(POLL_MS)
    }
    const { pendingRequests } = server
    await server.stop(true)
    return pendingRequests
  }

  return { port, stop }
}

function bind<T>(serve: () => T, { port, hostname }: { port: number; hostname: string }): T {
  try {
    return serve()
  } catch (error) {
    const reason = toSystemReason(error) ?? 'the address does not belong to this machine'
    throw new Failure(`cannot listen on ${hostname} port ${port}: ${reason}`)
  }
}

/** Sleeps until a time by `performance.now()`. */
export function sleepUntil(time: number): Promise<void> {
  return Bun.sleep(Math.max(0, time - performance.now()))
}

// Counts turns of the event loop, not only time: on a busy machine many requests may wait to be read.
async function waitUntilQuiet(requests: () => number, end: number): Promise<void> {
  for (let quiet = 0; quiet < QUIET_INTERVALS && performance.now() < end; ) {
    const before = requests()
    await Bun.sleep(QUIET_INTERVAL_MS)
    quiet = requests() === before ? quiet + 1 : 0
  }
}
