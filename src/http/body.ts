/** Reads the body of a request as text, within a size and a time. */

import { BODY_DEADLINE_MS, MAX_BODY_BYTES, MAX_DISCARDED_BYTES } from '../limits.ts'
import { toMediaType } from '../routes.ts'
import { isRead } from './responses.ts'

/** The text of a body, or why there is none. */
export type Body = string | RefusedBody

interface RefusedBody {
  readonly reason: 'large_body' | 'slow_body'
  /** Whether the rest is not read, so that the response must close the connection. */
  readonly isCut: boolean
}

export interface BodyReader {
  /**
   * Reads a body of at most MAX_BODY_BYTES within BODY_DEADLINE_MS. Reads and drops a larger one of up to MAX_DISCARDED_BYTES.
   *
   * @returns the text, with malformed UTF-8 replaced, and empty when there is no body; otherwise why there is none
   */
  read(request: Request): Promise<Body>
  /**
   * Returns the response to a request. If its handler has not begun to read the body, reads and drops it first: a client that
   * still writes when the connection is closed may see a reset instead of the response. GET and HEAD have no body to wait for.
   */
  discardUnread(request: Request, response: Response | Promise<Response>): Response | Promise<Response>
  /** For a stop: makes this time, by `performance.now()`, the latest deadline of every body. */
  endBy(time: number): void
}

/** Precision of the deadline in milliseconds. */
const TICK_MS = 100

const TOO_LARGE: RefusedBody = { reason: 'large_body', isCut: false }
const CUT: RefusedBody = { reason: 'large_body', isCut: true }
/** The body did not arrive by its deadline, or the client has disconnected before its end. */
const TOO_SLOW: RefusedBody = { reason: 'slow_body', isCut: true }

/** A body that has not arrived. */
interface Arrival {
  /** By `performance.now()`. */
  readonly deadline: number
  readonly end: (body: Body) => void
  /** Whether more than MAX_BODY_BYTES are announced or have arrived. */
  isTooLarge: boolean
}

/** Creates a reader. All bodies share one timer: a timer for each costs more than everything else here. */
export function createBodyReader(): BodyReader {
  // In the order of their deadlines, because each has BODY_DEADLINE_MS from its start.
  const arrivals = new Set<Arrival>()
  let clock: Timer | undefined
  let latest = Number.POSITIVE_INFINITY

  function collect(start: (arrival: Arrival) => Promise<Body>): Promise<Body> {
    return new Promise((resolve) => {
      const end = (body: Body) => {
        arrivals.delete(arrival)
        resolve(body)
      }
      const arrival = { deadline: performance.now() + BODY_DEADLINE_MS, end, isTooLarge: false }
      arrivals.add(arrival)
      clock ??= setInterval(endExpired, TICK_MS)
      start(arrival).then(end, () => end(TOO_SLOW))
    })
  }

  function endExpired(): void {
    const now = performance.now()
    for (const { deadline, end, isTooLarge } of arrivals) {
      if (Math.min(deadline, latest) > now) return
      end(isTooLarge ? CUT : TOO_SLOW)
    }
    clearInterval(clock)
    clock = undefined
  }

  /** Keeps up to MAX_BODY_BYTES of a body, and discards the rest up to MAX_DISCARDED_BYTES. */
  async function readChunks({ headers, body }: Request): Promise<Body> {
    const length = toLength(headers)
    if (!body) return ''
    if (length > MAX_DISCARDED_BYTES) return CUT
    return collect(async (arrival) => {
      const decoder = new TextDecoder()
      let text = ''
      let size = 0
      arrival.isTooLarge = length > MAX_BODY_BYTES
      for await (const chunk of body) {
        size += chunk.length
        if (size > MAX_DISCARDED_BYTES) return CUT
        arrival.isTooLarge ||= size > MAX_BODY_BYTES
        if (!arrival.isTooLarge) text += decoder.decode(chunk, { stream: true })
        // The runtime delivers each chunk of HTTP by itself, however small it is. If the loop waits a turn, it joins those that
        // arrive meanwhile.
        await new Promise(setImmediate)
      }
      return arrival.isTooLarge ? TOO_LARGE : text + decoder.decode()
    })
  }

  return {
    read(request) {
      // text() is faster than the chunks, but has no limit, so only a Content-Length below ours may lead to it.
      const isShort = toLength(request.headers) <= MAX_BODY_BYTES
      return isShort ? collect(() => request.text()) : readChunks(request)
    },
    discardUnread(request, response) {
      // `body` is asked last, because that makes a stream.
      if (request.bodyUsed || isRead(request) || request.body === null) return response
      return Promise.all([response, readChunks(request)]).then(([ready, body]) => closeIfCut(body, ready))
    },
    endBy(time) {
      latest = time
    },
  }
}

/** Makes a response close the connection if the rest of the body is not read (RFC 9112 section 9.6). */
export function closeIfCut(body: Body, response: Response): Response {
  if (typeof body !== 'string' && body.isCut) response.headers.set('Connection', 'close')
  return response
}

/** Whether a body has a media type, in any case and with any parameters (RFC 9110 section 8.3.1). */
export function hasMediaType({ headers }: Request, mediaType: string): boolean {
  const field = headers.get('content-type')
  return field === mediaType || (field !== null && toMediaType(field).trimEnd().toLowerCase() === mediaType)
}

/** Returns the Content-Length; NaN, with which no comparison is true, for a body in chunks (RFC 9112 section 7.1) and for two equal fields. */
function toLength(headers: Headers): number {
  return Number(headers.get('content-length') ?? Number.NaN)
}
