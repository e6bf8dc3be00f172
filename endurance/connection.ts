/** HTTP/1.1 over a raw socket: fast enough for a load, and free to send what a client does not. */

import type { Socket } from 'bun'
import { ENDPOINT } from './rollcall.ts'

/** A response as it is on the wire. */
export interface Reply {
  readonly status: number
  /** The status line and the fields. */
  readonly head: string
  readonly body: Buffer
}

export interface Connection {
  /** The port of this end. */
  readonly localPort: number
  /** Sends bytes without waiting for a response. */
  write(bytes: string | Uint8Array): void
  /**
   * Sends a request and waits for its response; undefined when the connection closes first. One request at a time.
   *
   * @param method HEAD has no body in its response
   */
  request(bytes: string | Uint8Array, method?: string): Promise<Reply | undefined>
  isClosed(): boolean
  /** Resolves when the connection is closed by either end. */
  readonly closed: Promise<void>
  close(): void
}

/** Opens a connection. Rejects when the port refuses it. */
export async function connect(port: number): Promise<Connection> {
  let received: Buffer = Buffer.alloc(0)
  let waiting: { resolve: (reply: Reply | undefined) => void; hasBody: boolean } | undefined
  let unsent: Uint8Array = Buffer.alloc(0)
  let isClosed = false
  const closed = Promise.withResolvers<void>()

  function read(): void {
    if (!waiting) return
    const parsed = parseReply(received, waiting.hasBody)
    if (!parsed && !isClosed) return
    const { resolve } = waiting
    waiting = undefined
    received = received.subarray(parsed?.size ?? received.length)
    resolve(parsed?.reply)
  }

  function end(): void {
    isClosed = true
    closed.resolve()
    read()
  }

  function flush(socket: Socket): void {
    if (unsent.length > 0) unsent = unsent.subarray(socket.write(unsent))
  }

  const socket = await Bun.connect({
    hostname: '127.0.0.1',
    port,
    socket: {
      data(_, chunk) {
        received = received.length === 0 ? Buffer.from(chunk) : Buffer.concat([received, chunk])
        read()
      },
      drain: flush,
      close: end,
      error: end,
      end: (self) => void self.end(),
    },
  })

  function write(bytes: string | Uint8Array): void {
    if (isClosed) return
    const data = typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes
    const sent = unsent.length > 0 ? 0 : Math.max(socket.write(data), 0)
    if (sent < data.length) unsent = Buffer.concat([unsent, data.subarray(sent)])
  }

  return {
    localPort: socket.localPort,
    write,
    request(bytes, method = 'POST') {
      const { promise, resolve } = Promise.withResolvers<Reply | undefined>()
      waiting = { resolve, hasBody: method !== 'HEAD' }
      write(bytes)
      read()
      return promise
    },
    isClosed: () => isClosed,
    closed: closed.promise,
    close: () => void socket.end(),
  }
}

/** Builds the request that subscribes an address. */
export function toSubscribeRequest(email: string): string {
  const body = JSON.stringify({ email })
  return `POST ${ENDPOINT} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
}

/** Parses the first final response when all of it is there (RFC 9112 section 6.3). */
function parseReply(
  bytes: Buffer,
  hasBody: boolean,
  start = 0,
): { readonly reply: Reply; readonly size: number } | undefined {
  const end = bytes.indexOf('\r\n\r\n', start)
  if (end < 0) return undefined
  const head = bytes.toString('latin1', start, end)
  const status = Number(head.slice(9, 12))
  // An interim response comes before the final one (RFC 9110 section 15.2).
  if (status < 200) return parseReply(bytes, hasBody, end + 4)
  const isEmpty = !hasBody || status === 204 || status === 304
  const length = isEmpty ? 0 : Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0)
  const size = end + 4 + length
  if (bytes.length < size) return undefined
  return { reply: { status, head, body: bytes.subarray(end + 4, size) }, size }
}
