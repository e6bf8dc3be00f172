/** Callers that subscribe addresses at once, each over a connection of its own. */

import { openConnection, POST_HEADERS, POST_LINE, type RawConnection, toRequest } from '../test/support/raw.ts'

/** One request and what came of it. */
export interface Exchange {
  readonly email: string
  /** Undefined when the connection closed without a response. */
  readonly status: number | undefined
  /** Milliseconds of performance.now(). */
  readonly startedAt: number
  readonly endedAt: number
}

export interface LoadOptions {
  readonly callers: number
  /** What a caller sends next; undefined ends the caller. */
  readonly next: () => { readonly email: string; readonly onReply?: (exchange: Exchange) => void } | undefined
  /** Milliseconds that a caller waits between two requests. */
  readonly pauseMs?: number
}

export interface Load {
  /** Resolves when every caller has ended. */
  readonly ended: Promise<void>
  /** Lets every caller finish its request. */
  stop(): Promise<void>
}

/** A caller tries again to connect after this many milliseconds. */
const RECONNECT_MS = 20

/** Starts the callers. A caller that loses its connection opens another one. */
export function startLoad(toPort: () => number, { callers, next, pauseMs = 0 }: LoadOptions): Load {
  let isStopping = false

  async function call(): Promise<void> {
    let connection: RawConnection | undefined
    while (!isStopping) {
      if (!connection || connection.isClosed()) connection = await openConnection(toPort())
      if (connection.isClosed()) {
        await Bun.sleep(RECONNECT_MS)
        continue
      }
      const sent = next()
      if (!sent) break
      const startedAt = performance.now()
      const reply = await request(connection, sent.email)
      sent.onReply?.({ email: sent.email, status: reply?.status, startedAt, endedAt: performance.now() })
      if (pauseMs > 0) await Bun.sleep(pauseMs)
    }
    connection?.close()
  }

  const ended = Promise.all(Array.from({ length: callers }, call)).then(() => {})
  return {
    ended,
    stop() {
      isStopping = true
      return ended
    },
  }
}

/** Subscribes an address. Returns undefined when the connection closes without a response. */
export async function request(connection: RawConnection, email: string) {
  connection.send(toRequest(POST_LINE, POST_HEADERS, JSON.stringify({ email })))
  return await connection.receive('POST')
}
