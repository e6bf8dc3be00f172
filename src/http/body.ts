/** Reads the body of a request as text, within a size and a time. */

import { BODY_DEADLINE_MS, MAX_BODY_BYTES } from '../limits.ts'
import type { Result } from '../result.ts'

/** Why a body cannot be read. */
export type BodyReason = 'large_body' | 'slow_body' | 'malformed_json'

/** The text of a body, or why it cannot be read. */
export type Body = Result<string, BodyReason>

export interface BodyReader {
  /**
   * Reads a body of at most MAX_BODY_BYTES within BODY_DEADLINE_MS. Refuses a larger Content-Length before it reads
   * anything, and stops reading a body without one (RFC 9112 section 7.1) at the limit.
   *
   * @returns the text, with malformed UTF-8 replaced, empty when there is no body; not a promise when there is
   * nothing to wait for
   */
  read(request: Request): Promise<Body> | Body
  /** Gives up every body that has not arrived, as if its deadline had passed. */
  abortPending(): void
}

/** A body that has not arrived. */
interface PendingBody {
  readonly expires: number
  readonly resolve: (body: Body) => void
}

/** Precision of the deadline in milliseconds. */
const TICK_MS = 100

/** Creates a reader. All bodies share one timer: a timer for each costs more than everything else here. */
export function createBodyReader(): BodyReader {
  // In the order of their deadlines.
  const pending = new Set<PendingBody>()
  let clock: Timer | undefined

  // Converts here, because one more promise costs 1 % of a request.
  function withDeadline<T>(arriving: Promise<T>, toBody: (value: T) => Body): Promise<Body> {
    return new Promise((resolve) => {
      const entry = { expires: performance.now() + BODY_DEADLINE_MS, resolve }
      pending.add(entry)
      clock ??= setInterval(giveUpExpired, TICK_MS)
      const finish = (result: Body) => {
        pending.delete(entry)
        resolve(result)
      }
      // A body is cut short when the client disconnects, so nobody reads this response.
      arriving.then(
        (value) => finish(toBody(value)),
        () => finish(CUT_SHORT),
      )
    })
  }

  function giveUpExpired(now = performance.now()): void {
    for (const entry of pending) {
      if (entry.expires > now) return
      pending.delete(entry)
      entry.resolve(TOO_SLOW)
    }
    clearInterval(clock)
    clock = undefined
  }

  return {
    read(request) {
      const length = request.headers.get('content-length')
      // text() is faster than the stream, but has no limit: the Content-Length must give one.
      if (length === null) return request.body ? withDeadline(readStream(request.body), (body) => body) : EMPTY
      return Number(length) > MAX_BODY_BYTES ? TOO_LARGE : withDeadline(request.text(), toBody)
    },
    abortPending: () => giveUpExpired(Number.POSITIVE_INFINITY),
  }
}

const EMPTY = { ok: true, value: '' } as const
const TOO_LARGE = { ok: false, reason: 'large_body' } as const
const TOO_SLOW = { ok: false, reason: 'slow_body' } as const
const CUT_SHORT = { ok: false, reason: 'malformed_json' } as const

const toBody = (value: string): Body => ({ ok: true, value })

async function readStream(stream: ReadableStream<Uint8Array>): Promise<Body> {
  const decoder = new TextDecoder()
  let size = 0
  let text = ''
  for await (const chunk of stream) {
    size += chunk.length
    // Leaving the loop cancels the stream.
    if (size > MAX_BODY_BYTES) return TOO_LARGE
    text += decoder.decode(chunk, { stream: true })
    // The runtime delivers each chunk of HTTP by itself, however small it is. In the meantime it joins the next ones.
    await new Promise(setImmediate)
  }
  return toBody(text + decoder.decode())
}
