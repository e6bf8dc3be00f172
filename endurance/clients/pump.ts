/**
 * A process that loads the service as much as it can take: each connection sends its next request when the last is
 * answered. Reads its options as JSON from the first argument, and writes one line of JSON for each window.
 */

import type { Socket } from 'bun'
import { toSubscribeRequest } from '../connection.ts'
import { quantile } from '../statistics.ts'

export interface PumpOptions {
  readonly port: number
  readonly connections: number
  readonly seconds: number
  readonly windowSeconds: number
  /** The share of requests with an address that was not sent before. */
  readonly newShare: number
  /** The first addresses, this many, are on the list already. */
  readonly known?: number
}

export interface PumpWindow {
  readonly requests: number
  /** Requests that were not answered 200, or not at all. */
  readonly failed: number
  /** Different addresses that were sent since the start. */
  readonly addresses: number
  /** Milliseconds. */
  readonly p50: number
  readonly p99: number
}

const DIGITS = 10
const toEmail = (number: number) => `soak${String(number).padStart(DIGITS, '0')}@host.example`

const options = JSON.parse(process.argv[2] ?? '{}') as PumpOptions
const end = performance.now() + options.seconds * 1000
const template = Buffer.from(toSubscribeRequest(toEmail(0)))
const digitsAt = template.indexOf('soak') + 4
let addresses = options.known ?? 0
let failed = 0
let open = 0
let times: number[] = []

function next(request: Buffer): void {
  const isNew = addresses < options.connections * 2 || Math.random() < options.newShare
  const number = isNew ? addresses++ : Math.floor(Math.random() * (addresses - options.connections))
  request.write(String(number).padStart(DIGITS, '0'), digitsAt, 'latin1')
}

interface State {
  readonly request: Buffer
  sentAt: number
  received: string
}

function send(socket: Socket<State>): void {
  if (performance.now() >= end) return void socket.end()
  next(socket.data.request)
  socket.data.sentAt = performance.now()
  socket.write(socket.data.request)
}

function finish(): void {
  if (--open > 0) return
  report()
  process.exit(0)
}

function report(): void {
  const window: PumpWindow = {
    requests: times.length,
    failed,
    addresses,
    p50: quantile(times, 0.5),
    p99: quantile(times, 0.99),
  }
  process.stdout.write(`${JSON.stringify(window)}\n`)
  times = []
}

for (; open < options.connections; open++) {
  await Bun.connect<State>({
    hostname: '127.0.0.1',
    port: options.port,
    data: { request: Buffer.from(template), sentAt: 0, received: '' },
    socket: {
      open: send,
      data(socket, chunk) {
        const { data } = socket
        data.received += chunk.toString('latin1')
        // Every response of the endpoint is a JSON object, and so ends like this.
        if (!data.received.endsWith('}')) return
        times.push(performance.now() - data.sentAt)
        if (!data.received.startsWith('HTTP/1.1 200')) failed++
        data.received = ''
        data.sentAt = 0
        send(socket)
      },
      close(socket) {
        if (socket.data.sentAt > 0) failed++
        finish()
      },
    },
  })
}
setInterval(report, options.windowSeconds * 1000)
