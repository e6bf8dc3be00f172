/** Reads the body of a request as text, within a size and a time. */

import { BODY_DEADLINE_MS, DISCARD_PAUSE_MS, MAX_BODY_BYTES, MAX_DISCARDED_BYTES } from '../limits.ts'

/** Why a body cannot be read. */
export type BodyReason = 'large_body' | 'slow_body' | 'malformed_json'

/** The text of a body, or why it cannot be read. */
export type Body = { readonly ok: true; readonly value: string } | UnreadBody

export interface UnreadBody {
  readonly ok: false
  readonly reason: BodyReason
  /** Whether the rest of the body is not read either, so that the response must close the connection. */
  readonly isCut: boolean
}

export interface BodyReader {
  /**
   * Reads a body of at most MAX_BODY_BYTES within BODY_DEADLINE_MS. Discards a larger one.
   *
   * @returns the text, with malformed UTF-8 replaced, empty when there is no body; not a promise when there is
   * nothing to wait for
   */
  read(request: Request): Promise<Body> | Body
  /**
   * Discards the body of a request that is refused without it.
   *
   * If a connection is closed while the client writes, the client may see a reset instead of the response. So a
   * response waits for the end of the body, at most BODY_DEADLINE_MS, for MAX_DISCARDED_BYTES, and for a pause of
   * DISCARD_PAUSE_MS. After that, it closes the connection.
   */
  discard(request: Request, response: Response): Promise<Response>
  /** Gives up every body that has not arrived, as if its deadline had passed. */
  abortPending(): void
}

/** A body that has not arrived. */
interface PendingBody {
  readonly expires: number
  readonly resolve: (body: Body) => void
  /** Ends the arrival. Without it, the body is too slow. */
  readonly cancel: (() => void) | undefined
}

/** Precision of the deadline in milliseconds. */
const TICK_MS = 100

/** Creates a reader. All bodies share one timer: a timer for each costs more than everything else here. */
export function createBodyReader(): BodyReader {
  // In the order of their deadlines.
  const pending = new Set<PendingBody>()
  let clock: Timer | undefined

  // Converts here, because one more promise costs 1 % of a request.
  function withDeadline<T>(arriving: Promise<T>, toBody: (value: T) => Body, cancel?: () => void): Promise<Body> {
    return new Promise((resolve) => {
      const entry = { expires: performance.now() + BODY_DEADLINE_MS, resolve, cancel }
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
      if (entry.cancel) entry.cancel()
      else entry.resolve(TOO_SLOW)
    }
    clearInterval(clock)
    clock = undefined
  }

  function discardStream(stream: ReadableStream<Uint8Array>, length: number): Promise<Body> | Body {
    if (length > MAX_DISCARDED_BYTES) return CUT
    const { discard, cancel } = createBodyStream(stream)
    return withDeadline(discard(), toLargeBody, cancel)
  }

  return {
    read(request) {
      const length = toLength(request)
      // text() is faster than the stream, but has no limit: the Content-Length must give one.
      if (length <= MAX_BODY_BYTES) return withDeadline(request.text(), toBody)
      if (!request.body) return EMPTY
      if (length > MAX_BODY_BYTES) return discardStream(request.body, length)
      const { read, cancel } = createBodyStream(request.body)
      return withDeadline(read(), (body) => body, cancel)
    },
    async discard(request, response) {
      if (!request.body) return response
      return closeIfCut(await discardStream(request.body, toLength(request)), response)
    },
    abortPending: () => giveUpExpired(Number.POSITIVE_INFINITY),
  }
}

/** Returns the Content-Length; NaN for a body in chunks (RFC 9112 section 7.1), and for two equal fields. */
function toLength({ headers }: Request): number {
  return Number(headers.get('content-length') ?? Number.NaN)
}

/** Makes a response close the connection if the rest of the body is not read (RFC 9112 section 9.6). */
export function closeIfCut(body: Body, response: Response): Response {
  if (!body.ok && body.isCut) response.headers.set('Connection', 'close')
  return response
}

const EMPTY = { ok: true, value: '' } as const
const TOO_LARGE = { ok: false, reason: 'large_body', isCut: false } as const
const CUT = { ok: false, reason: 'large_body', isCut: true } as const
const TOO_SLOW = { ok: false, reason: 'slow_body', isCut: true } as const
const CUT_SHORT = { ok: false, reason: 'malformed_json', isCut: true } as const

const toBody = (value: string): Body => ({ ok: true, value })

/** Converts whether a body ended, which was discarded. */
const toLargeBody = (hasEnded: boolean): Body => (hasEnded ? TOO_LARGE : CUT)

/** Reads a body in chunks of bytes, either as text or to discard it. `cancel` ends both early. */
function createBodyStream(stream: ReadableStream<Uint8Array>) {
  const reader = stream.getReader()
  let size = 0
  let isCancelled = false

  function cancel(): void {
    isCancelled = true
    // This also ends a read that waits.
    reader.cancel().catch(() => {})
  }

  async function readNext(): Promise<Uint8Array | undefined> {
    const { value } = await reader.read()
    size += value?.length ?? 0
    // The runtime delivers each chunk of HTTP by itself, however small it is. In the meantime it joins the next ones.
    await new Promise(setImmediate)
    return value
  }

  /** Returns whether the body ended within the limits. */
  async function discard(): Promise<boolean> {
    const pause = setTimeout(cancel, DISCARD_PAUSE_MS)
    try {
      while (await readNext()) {
        if (size > MAX_DISCARDED_BYTES) cancel()
        pause.refresh()
      }
    } finally {
      clearTimeout(pause)
    }
    return !isCancelled
  }

  async function read(): Promise<Body> {
    const decoder = new TextDecoder()
    let text = ''
    for (let chunk = await readNext(); chunk; chunk = await readNext()) {
      if (size > MAX_BODY_BYTES) return toLargeBody(await discard())
      text += decoder.decode(chunk, { stream: true })
    }
    return isCancelled ? TOO_SLOW : toBody(text + decoder.decode())
  }

  return { read, discard, cancel }
}
