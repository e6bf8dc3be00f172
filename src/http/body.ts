/** Reads the body of a request as text, within a size and a time. */

import type { Result } from '../result.ts'

/** Why a body has no text. */
export type BodyReason = 'large_body' | 'slow_body' | 'malformed_json'

/** The text of a body, or why there is none. */
export type Body = Result<string, BodyReason>

export interface BodyLimits {
  /** Most bytes that are taken. */
  readonly bytes: number
  /** Milliseconds from the call within which the body must be there. */
  readonly deadlineMs: number
}

export interface BodyReader {
  /**
   * Reads a body. A declared length over the cap is refused before anything is read; a body that does not
   * declare one (RFC 9112 section 7.1) is cut off at the cap.
   *
   * @returns the text, empty where there is no body, with malformed UTF-8 replaced; or why there is none; at once
   * where nothing has to be waited for
   */
  read(request: Request): Promise<Body> | Body
  /** Gives up every body that is still on its way, because the service is about to stop. */
  abortPending(): void
}

/** A body that is on its way. */
interface Pending {
  readonly expires: number
  readonly resolve: (body: Body) => void
}

/** How exactly the deadline is kept, in milliseconds. */
const TICK_MS = 100

/** Creates a reader. One clock serves all bodies: a timer for each costs more than all else here. */
export function createBodyReader(limits: BodyLimits): BodyReader {
  // In the order of their deadlines.
  const pending = new Set<Pending>()
  let clock: Timer | undefined

  function within(body: Promise<Body>): Promise<Body> {
    return new Promise((resolve) => {
      const entry = { expires: performance.now() + limits.deadlineMs, resolve }
      pending.add(entry)
      clock ??= setInterval(giveUpExpired, TICK_MS)
      const end = (result: Body) => {
        pending.delete(entry)
        resolve(result)
      }
      // A body breaks off when its sender has gone away; nobody is left to read the answer.
      body.then(end, () => end(BROKEN_OFF))
    })
  }

  function giveUpExpired(now = performance.now()): void {
    for (const entry of pending) {
      if (entry.expires > now) return
      pending.delete(entry)
      entry.resolve(SLOW)
    }
    clearInterval(clock)
    clock = undefined
  }

  return {
    read(request) {
      const length = request.headers.get('content-length')
      // The stream costs more than text(), which is safe only where the parser knows the length.
      if (length === null) return request.body ? within(readStream(request.body, limits.bytes)) : EMPTY
      return Number(length) > limits.bytes ? TOO_LARGE : within(request.text().then(toBody))
    },
    abortPending: () => giveUpExpired(Number.POSITIVE_INFINITY),
  }
}

const EMPTY = { ok: true, value: '' } as const
const TOO_LARGE = { ok: false, reason: 'large_body' } as const
const SLOW = { ok: false, reason: 'slow_body' } as const
const BROKEN_OFF = { ok: false, reason: 'malformed_json' } as const

const toBody = (value: string): Body => ({ ok: true, value })

async function readStream(stream: ReadableStream<Uint8Array>, most: number): Promise<Body> {
  const decoder = new TextDecoder()
  let size = 0
  let text = ''
  for await (const chunk of stream) {
    size += chunk.length
    // Leaving the loop cancels the stream.
    if (size > most) return TOO_LARGE
    text += decoder.decode(chunk, { stream: true })
  }
  return toBody(text + decoder.decode())
}
