/** HTTP/1.1 over plain sockets: sends any bytes, reads responses byte for byte, and compares those of the endpoint. */

import { expect } from 'bun:test'
import { connect } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { ENDPOINT, RESPONSES } from './contract.ts'
import type { RunningService } from './service.ts'
import { within } from './wait.ts'

/** A response as it was on the wire. */
export interface RawReply {
  readonly status: number
  readonly headers: Headers
  /** With its content coding. */
  readonly body: Buffer
  /** The whole response, with status line and headers. */
  readonly bytes: Buffer
}

export interface RawConnection {
  /** Sends bytes; a string stands for Latin-1. Does nothing when the connection is closed. */
  send(bytes: string | Uint8Array): void
  /** Reads the next response. Returns undefined when the service closes the connection instead. */
  receive(method?: string): Promise<RawReply | undefined>
  /** Resolves when the socket takes more bytes, or is closed. */
  waitForDrain(): Promise<void>
  /** Stops reading from the socket, so that its buffers fill up. */
  pause(): void
  /** Reads again. */
  resume(): void
  /** Resolves when the connection is closed. */
  waitForClose(): Promise<void>
  /** Whether the connection is closed, or was refused. */
  isClosed(): boolean
  close(): void
}

export interface ConnectionOptions {
  /** The address of the client: any of 127.0.0.0/8. */
  readonly localAddress?: string
  /** Speaks TLS with a server that has this name and this certificate. */
  readonly tls?: { readonly servername: string; readonly ca: string }
}

/** Opens a connection to the service, or to a proxy. */
export async function openConnection(
  port: number,
  { tls, ...options }: ConnectionOptions = {},
): Promise<RawConnection> {
  const target = { port, host: '127.0.0.1', noDelay: true, ...options }
  const socket = tls ? connectTls({ ...target, ...tls }) : connect(target)
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
  // A reset closes the connection as well.
  socket.on('error', onClosed).on('end', onClosed).on('close', onClosed)
  await new Promise<void>((resolve) => socket.once('connect', resolve).once('close', resolve))

  function receive(method = 'GET'): Promise<RawReply | undefined> {
    const { promise, resolve } = Promise.withResolvers<RawReply | undefined>()
    wake = () => {
      const reply = parseReply(received, method)
      if (!reply && !isClosed) return
      received = received.subarray(reply?.bytes.length)
      wake = () => {}
      resolve(reply)
    }
    wake()
    return within(promise, () => `a response; ${received.length} bytes have arrived: ${received}`)
  }

  return {
    send: (bytes) => {
      if (!isClosed) socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes)
    },
    receive,
    async waitForDrain() {
      if (isClosed || !socket.writableNeedDrain) return
      const drained = new Promise<void>((resolve) => socket.once('drain', resolve))
      await within(Promise.race([drained, closed.promise]), 'the socket takes more bytes')
    },
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    waitForClose: () => within(closed.promise, () => 'the service closes the connection'),
    isClosed: () => isClosed,
    close: onClosed,
  }
}

/** Sends bytes on a new connection, and reads the first response; undefined when there is none. */
export async function exchange(
  port: number,
  bytes: string | Uint8Array,
  options?: ConnectionOptions,
): Promise<RawReply | undefined> {
  const connection = await openConnection(port, options)
  connection.send(bytes)
  const reply = await connection.receive(toMethod(bytes))
  connection.close()
  return reply
}

/** Writes a request: the request line without its version, headers, and a body with its Content-Length. */
export function toRequest(line: string, headers: readonly string[] = [], body?: string): string {
  const length = body === undefined ? [] : [`Content-Length: ${body.length}`]
  return `${[`${line} HTTP/1.1`, ...headers, ...length].join('\r\n')}\r\n\r\n${body ?? ''}`
}

function toMethod(bytes: string | Uint8Array): string {
  return (typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString('latin1')).split(' ', 1)[0]!
}

/** Reads a response (RFC 9112 section 6.3). Returns undefined until all of it has arrived. */
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

/** The request line of the endpoint, without its version. */
export const POST_LINE = `POST ${ENDPOINT.path}`

/** The headers of a plain request, without those that frame its body. */
export const POST_HEADERS = ['Host: 127.0.0.1', `Content-Type: ${ENDPOINT.mediaType}`] as const

/** Posts a body with a Content-Length, and again in chunks. Fails unless both get the same response. */
export async function post(
  service: RunningService,
  body: string | Uint8Array,
  headers: readonly string[] = POST_HEADERS,
): Promise<RawReply> {
  const bytes = Buffer.from(body)
  const declared = toRequest(POST_LINE, headers, bytes.toString('latin1'))
  const whole = await exchange(service.port, declared)
  const third = bytes.length / 3
  const chunks = [bytes.subarray(0, third), bytes.subarray(third)].filter(({ length }) => length > 0)
  const head = toRequest(POST_LINE, [...headers, 'Transfer-Encoding: chunked'])
  const chunked = await exchange(service.port, [head, ...chunks.map(toChunk), LAST_CHUNK].join(''))
  expect([chunked?.status, chunked?.body.toString()]).toEqual([whole?.status, whole?.body.toString()])
  return checked(service, whole)
}

/** Checks a response of the endpoint against the description. Fails when there is none. */
export function checked(service: RunningService, reply: RawReply | undefined): RawReply {
  if (!reply) throw new Error('there was no response')
  service.check({ method: 'POST', path: ENDPOINT.path, ...reply })
  return reply
}

/** Compares a response with a row of the contract, byte for byte. */
export function expectResponse({ status, headers, body }: RawReply, name: keyof typeof RESPONSES): void {
  expect({
    status,
    body: body.toString(),
    allow: headers.get('allow'),
    mediaType: headers.get('content-type'),
    cacheControl: headers.get('cache-control'),
  }).toEqual({ ...RESPONSES[name], mediaType: 'application/json', cacheControl: 'no-store' })
}

/** Frames data as a chunk, in Latin-1 (RFC 9112 section 7.1). */
export function toChunk(data: string | Uint8Array): string {
  const bytes = Buffer.from(data)
  return `${bytes.length.toString(16)}\r\n${bytes.toString('latin1')}\r\n`
}

const LAST_CHUNK = '0\r\n\r\n'
