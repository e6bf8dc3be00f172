/** HTTP/1.1 by hand: bytes into a socket, and the answer as it stands on the wire, for what no well-behaved client sends. */

import { connect } from 'node:net'

/** An answer, byte for byte. */
export interface RawReply {
  readonly status: number
  readonly headers: Headers
  /** As it was sent, content coding and all. */
  readonly body: Buffer
  /** The whole of it, status line and fields too. */
  readonly bytes: Buffer
}

export interface RawConnection {
  /** Sends bytes; a string stands for those of Latin-1. Does nothing once the connection is closed. */
  send(bytes: string | Uint8Array): void
  /** Reads the next answer; undefined where the service closes the connection instead. */
  answer(method?: string): Promise<RawReply | undefined>
  /** Resolves when the connection is closed. */
  readonly closed: Promise<void>
  /** Whether it is closed by now, or was never opened because the service refused it. */
  isClosed(): boolean
  /** Closes it. */
  close(): void
}

/** Opens a connection to the service. */
export async function openConnection(port: number): Promise<RawConnection> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  const closed = Promise.withResolvers<void>()
  let isClosed = false
  let received = Buffer.alloc(0)
  let wake = () => {}

  function onClosed(): void {
    isClosed = true
    socket.destroy()
    closed.resolve()
    wake()
  }
  socket.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk])
    wake()
  })
  // A connection that is reset is closed, too.
  socket.on('error', onClosed).on('end', onClosed).on('close', onClosed)
  await new Promise<void>((resolve) => socket.once('connect', resolve).once('close', resolve))

  return {
    send: (bytes) => {
      if (!isClosed) socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes)
    },
    answer: (method = 'GET') =>
      new Promise((resolve) => {
        wake = () => {
          const reply = parseReply(received, method)
          if (!reply && !isClosed) return
          received = received.subarray(reply?.bytes.length)
          wake = () => {}
          resolve(reply)
        }
        wake()
      }),
    closed: closed.promise,
    isClosed: () => isClosed,
    close: onClosed,
  }
}

/** Sends bytes over a connection of their own, and reads the first answer; undefined where there is none. */
export async function exchange(port: number, bytes: string | Uint8Array): Promise<RawReply | undefined> {
  const connection = await openConnection(port)
  connection.send(bytes)
  const reply = await connection.answer(toMethod(bytes))
  connection.close()
  return reply
}

/** Writes a request of a request line without its version, fields, and a body, whose length is given. */
export function toRequest(line: string, fields: readonly string[] = [], body?: string): string {
  const length = body === undefined ? [] : [`Content-Length: ${body.length}`]
  return `${[`${line} HTTP/1.1`, ...fields, ...length].join('\r\n')}\r\n\r\n${body ?? ''}`
}

function toMethod(bytes: string | Uint8Array): string {
  return (typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString('latin1')).split(' ', 1)[0]!
}

/** Reads an answer where all of it is there (RFC 9112 section 6.3). */
function parseReply(received: Buffer, method: string): RawReply | undefined {
  const end = received.indexOf('\r\n\r\n')
  if (end === -1) return undefined
  const [line = '', ...fields] = received.subarray(0, end).toString('latin1').split('\r\n')
  const status = Number(line.split(' ')[1])
  const headers = new Headers(fields.map((field) => field.split(/:[ ]?(.*)/s, 2) as [string, string]))
  const hasBody = method !== 'HEAD' && status >= 200 && status !== 204 && status !== 304
  const start = end + 4
  const size = start + (hasBody ? Number(headers.get('content-length')) : 0)
  if (received.length < size) return undefined
  return { status, headers, body: received.subarray(start, size), bytes: received.subarray(0, size) }
}
