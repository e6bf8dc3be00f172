/** Reads the body of a request as text, within a size and a time. */

/** Why there is no text. */
export type BodyFault = 'large_body' | 'slow_body' | 'malformed_json'

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
   * @returns the text, empty where there is no body, with malformed UTF-8 replaced; or why there is none
   */
  read(request: Request): Promise<string | { readonly fault: BodyFault }>
  /** Gives up every body that is still on its way, because the service is about to stop. */
  hurry(): void
}

/** Creates a reader. */
export function createBodyReader(limits: BodyLimits): BodyReader {
  const onHurry = new Set<() => void>()

  function within(body: Promise<string | { readonly fault: BodyFault }>) {
    return new Promise<string | { readonly fault: BodyFault }>((resolve) => {
      const expire = () => end(SLOW)
      const timer = setTimeout(expire, limits.deadlineMs)
      onHurry.add(expire)
      function end(result: string | { readonly fault: BodyFault }): void {
        clearTimeout(timer)
        onHurry.delete(expire)
        resolve(result)
      }
      // A body breaks off when its sender has gone away; nobody is left to read the answer.
      body.then(end, () => end(BROKEN_OFF))
    })
  }

  return {
    async read(request) {
      const length = request.headers.get('content-length')
      // The stream costs more than text(), which is safe only where the parser knows the length.
      if (length === null) return request.body ? within(readStream(request.body, limits.bytes)) : ''
      return Number(length) > limits.bytes ? TOO_LARGE : within(request.text())
    },
    hurry() {
      for (const expire of onHurry) expire()
    },
  }
}

const TOO_LARGE = { fault: 'large_body' } as const
const SLOW = { fault: 'slow_body' } as const
const BROKEN_OFF = { fault: 'malformed_json' } as const

async function readStream(stream: ReadableStream<Uint8Array>, most: number) {
  const decoder = new TextDecoder()
  let size = 0
  let text = ''
  for await (const chunk of stream) {
    size += chunk.length
    // Leaving the loop cancels the stream.
    if (size > most) return TOO_LARGE
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}
