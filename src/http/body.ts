/** Reads the body of a request as text, within a size and a time. */

import { BODY_DEADLINE_MS, MAX_BODY_BYTES, MAX_DISCARDED_BYTES } from '../limits.ts'

/** The text of a body, or why it cannot be read. If it is cut, the rest is not read, so the response must close the connection. */
export type Body =
  | { readonly ok: true; readonly value: string }
  | { readonly ok: false; readonly reason: 'large_body' | 'slow_body' | 'malformed_json'; readonly isCut: boolean }

export interface BodyReader {
  /**
   * Reads a body of at most MAX_BODY_BYTES within BODY_DEADLINE_MS. Discards a larger one.
   *
   * @returns the text, with malformed UTF-8 replaced; empty when there is no body
   */
  read(request: Request): Promise<Body>
  /**
   * Holds a response that does not need the body until the body has arrived, for at most MAX_DISCARDED_BYTES and
   * BODY_DEADLINE_MS. A client that still writes when the connection is closed may see a reset instead of the response.
   */
  discard(request: Request, response: Response): Promise<Response>
  /** Makes this time, by `performance.now()`, the latest deadline of every body, for a stop. */
  endBy(time: number): void
}

/** Precision of the deadline in milliseconds. */
const TICK_MS = 100

const TOO_LARGE = { ok: false, reason: 'large_body', isCut: false } as const
const CUT = { ok: false, reason: 'large_body', isCut: true } as const
const TOO_SLOW = { ok: false, reason: 'slow_body', isCut: true } as const
/** The client has disconnected, so nobody reads this response. */
const DISCONNECTED = { ok: false, reason: 'malformed_json', isCut: true } as const

/** A body that has not arrived. */
interface Arrival {
  /** By `performance.now()`. */
  readonly deadline: number
  readonly resolve: (body: Body) => void
  /** Whether more than MAX_BODY_BYTES are announced or have arrived. */
  isTooLarge: boolean
}

/** Creates a reader. All bodies share one timer: a timer for each costs more than everything else here. */
export function createBodyReader(): BodyReader {
  // In the order of their deadlines.
  const arrivals = new Set<Arrival>()
  let clock: Timer | undefined
  let latest = Number.POSITIVE_INFINITY

  // Converts here, because one more promise costs 1 % of a request.
  function withDeadline<T>(start: (arrival: Arrival) => Promise<T>, toBody: (value: T) => Body): Promise<Body> {
    return new Promise((resolve) => {
      const arrival = { deadline: performance.now() + BODY_DEADLINE_MS, resolve, isTooLarge: false }
      arrivals.add(arrival)
      clock ??= setInterval(endExpired, TICK_MS)
      const finish = (body: Body) => {
        arrivals.delete(arrival)
        resolve(body)
      }
      start(arrival).then(
        (value) => finish(toBody(value)),
        () => finish(DISCONNECTED),
      )
    })
  }

  function endExpired(): void {
    const now = performance.now()
    for (const arrival of arrivals) {
      if (Math.min(arrival.deadline, latest) > now) return
      arrivals.delete(arrival)
      arrival.resolve(arrival.isTooLarge ? CUT : TOO_SLOW)
    }
    clearInterval(clock)
    clock = undefined
  }

  async function receive(stream: ReadableStream<Uint8Array> | null, length: number): Promise<Body> {
    if (!stream) return toText('')
    if (length > MAX_DISCARDED_BYTES) return CUT
    const start = (arrival: Arrival) => readChunks(stream, length, arrival)
    return withDeadline(start, (body) => body)
  }

  return {
    read(request) {
      const length = toLength(request)
      // text() is faster than the chunks, but has no limit: the Content-Length must give one.
      return length <= MAX_BODY_BYTES ? withDeadline(() => request.text(), toText) : receive(request.body, length)
    },
    async discard(request, response) {
      return closeIfCut(await receive(request.body, toLength(request)), response)
    },
    endBy(time) {
      latest = time
    },
  }
}

/** Makes a response close the connection if the rest of the body is not read (RFC 9112 section 9.6). */
export function closeIfCut(body: Body, response: Response): Response {
  if (!body.ok && body.isCut) response.headers.set('Connection', 'close')
  return response
}

/** Keeps up to MAX_BODY_BYTES of a body, and discards the rest up to MAX_DISCARDED_BYTES. */
async function readChunks(stream: ReadableStream<Uint8Array>, length: number, arrival: Arrival): Promise<Body> {
  const decoder = new TextDecoder()
  let text = ''
  let size = 0
  arrival.isTooLarge = length > MAX_BODY_BYTES
  for await (const chunk of stream) {
    size += chunk.length
    if (size > MAX_DISCARDED_BYTES) return CUT
    arrival.isTooLarge ||= size > MAX_BODY_BYTES
    if (!arrival.isTooLarge) text += decoder.decode(chunk, { stream: true })
    // The runtime delivers each chunk of HTTP by itself, however small it is. During this turn it joins the next ones.
    await new Promise(setImmediate)
  }
  return arrival.isTooLarge ? TOO_LARGE : toText(text + decoder.decode())
}

const toText = (value: string): Body => ({ ok: true, value })

/** Returns the Content-Length; NaN for a body in chunks (RFC 9112 section 7.1), and for two equal fields. */
function toLength({ headers }: Request): number {
  return Number(headers.get('content-length') ?? Number.NaN)
}
