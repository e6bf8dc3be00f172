/** Listening: binds a port, keeps the runtime's limits above ours, and stops without cutting anybody off. */

import { Failure, toSystemReason } from '../failure.ts'
import { IDLE_TIMEOUT_S } from '../limits.ts'
import type { App } from './app.ts'

export interface ServerOptions {
  readonly port: number
  readonly host: string
}

export interface Server {
  /** The port that was bound. */
  readonly port: number
  /**
   * Takes no new connection, answers every request that has begun, and resolves when all are gone.
   *
   * @param abortPending called after a while, to give up the bodies that are still on their way
   */
  stop(abortPending?: () => void): Promise<void>
}

/** For this long, callers that keep their connection are told that it ends with the answer. */
const ANNOUNCE_MS = 300
/** Answers are held back until so many turns of this length brought no request, but not for long; see stop. */
const QUIET_TURNS = 10
const TURN_MS = 20
const MAX_HOLD_MS = 2_000
/** From here on, bodies that are still on their way are given up. */
const ABORT_MS = 3_000
/** When the last are cut off; a stop takes 10 s at the most. */
const CUT_OFF_MS = 8_500

/**
 * Binds the port and serves.
 *
 * @throws Failure when the port is taken or the address is not one of this machine
 */
export function listen({ fetch, error }: App, { port, host }: ServerOptions): Server {
  const options = {
    port,
    hostname: host,
    idleTimeout: IDLE_TIMEOUT_S,
    // The runtime's own 413 has no body. Ours refuses or cuts off; what no handler reads is thrown away as it comes.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    development: false,
    // Without it, outside of development, a port that is taken is shared, and callers come to either service.
    reusePort: false,
    error,
  } as const
  const server = bind(() => Bun.serve({ ...options, fetch }), options)

  async function stop(abortPending?: () => void): Promise<void> {
    // Whoever sends a request on an open connection in the moment in which it is closed loses it. So
    // busy callers are asked to let go of theirs first; then all answers wait for a moment, until every
    // caller that goes on is waiting for one, and in that moment the door is closed.
    let held: Promise<void> | undefined
    let requests = 0
    server.reload({
      ...options,
      fetch: async (request) => {
        requests++
        const response = withClose(await fetch(request))
        await held
        return response
      },
    })
    await Bun.sleep(ANNOUNCE_MS)
    held = waitForQuiet(() => requests)
    await held
    const stopped = server.stop()
    const timer = setTimeout(() => abortPending?.(), ABORT_MS)
    await Promise.race([stopped, Bun.sleep(CUT_OFF_MS)])
    clearTimeout(timer)
    await server.stop(true)
  }

  return { port: server.port ?? port, stop }
}

function bind<T>(serve: () => T, { port, hostname }: { port: number; hostname: string }): T {
  try {
    return serve()
  } catch (error) {
    const reason = toSystemReason(error) ?? 'the address does not belong to this machine'
    throw new Failure(`cannot listen on ${hostname} port ${port}: ${reason}`)
  }
}

// Counted in turns of the event loop, and not by the clock alone: where the machine is busy, much may wait to be read.
async function waitForQuiet(requests: () => number): Promise<void> {
  const end = performance.now() + MAX_HOLD_MS
  for (let quiet = 0; quiet < QUIET_TURNS && performance.now() < end; ) {
    const before = requests()
    await Bun.sleep(TURN_MS)
    quiet = requests() === before ? quiet + 1 : 0
  }
}

function withClose(response: Response): Response {
  response.headers.set('Connection', 'close')
  return response
}
