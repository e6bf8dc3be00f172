/**
 * A process that sends one request with an endless body, until the service closes the connection or all is sent.
 * Reads its options as JSON from the first argument, and writes one line of JSON.
 */

import type { Socket } from 'bun'

export interface FloodOptions {
  readonly port: number
  readonly bytes: number
  readonly framing: 'length' | 'chunked'
  readonly line: string
}

export interface FloodReport {
  readonly sent: number
  /** Of the first response; 0 when the connection was closed without one. */
  readonly status: number
  readonly seconds: number
}

const options = JSON.parse(process.argv[2] ?? '{}') as FloodOptions
const part = Buffer.alloc(64 * 1024, 'a')
const chunk = Buffer.concat([Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n')])
const unit = options.framing === 'chunked' ? chunk : part
const framing = options.framing === 'chunked' ? 'Transfer-Encoding: chunked' : `Content-Length: ${options.bytes}`
const start = performance.now()
let unsent = Buffer.from(
  `${options.line} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n${framing}\r\n\r\n`,
)
let sent = 0
let status = 0

function send(socket: Socket): void {
  while (sent < options.bytes) {
    const written = socket.write(unsent)
    if (written < 0) return
    sent += written
    unsent = unsent.subarray(written)
    if (unsent.length > 0) return
    unsent = unit
  }
  if (status > 0) end()
}

function end(): void {
  const line: FloodReport = { sent, status, seconds: (performance.now() - start) / 1000 }
  process.stdout.write(`${JSON.stringify(line)}\n`)
  process.exit(0)
}

await Bun.connect({
  hostname: '127.0.0.1',
  port: options.port,
  socket: {
    open: send,
    drain: send,
    data(_, received) {
      status ||= Number(/^HTTP\/1\.1 (\d+)/.exec(received.toString('latin1'))?.[1] ?? 0)
      if (sent >= options.bytes) end()
    },
    close: end,
    error: end,
    end,
  },
})
// The response to a body that was sent to its end may be followed by silence.
setTimeout(end, 60_000)
