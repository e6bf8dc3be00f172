/**
 * A process that opens many connections and keeps them: silent, idle after one request, or with a request of which one
 * byte goes out each second.
 * Reads its options as JSON from the first argument. Writes a line of JSON when all are open, and one at the end.
 */

import type { Socket } from 'bun'
import { ENDPOINT } from '../rollcall.ts'

export interface HoldOptions {
  readonly port: number
  readonly connections: number
  readonly seconds: number
  /** The runtime closes a silent connection after 10 s, and an idle one after 30 s. */
  readonly kind: 'silent' | 'idle' | 'slow heads' | 'slow bodies'
}

export interface HoldReport {
  /** Connections that were opened. */
  readonly opened: number
  /** Connections that the service has closed. */
  readonly closed: number
  /** How many responses had each status. */
  readonly statuses: Readonly<Record<string, number>>
}

const FIELDS = 'Host: 127.0.0.1\r\nContent-Type: application/json\r\n'
const START = {
  silent: '',
  idle: 'GET /robots.txt HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n',
  'slow heads': `POST ${ENDPOINT} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: `,
  'slow bodies': `POST ${ENDPOINT} HTTP/1.1\r\n${FIELDS}Content-Length: 1000\r\n\r\n`,
} as const

/** Connections that are opened at once: more than the backlog of a listener would be refused. */
const AT_ONCE = 250

const options = JSON.parse(process.argv[2] ?? '{}') as HoldOptions
const sockets = new Set<Socket>()
const statuses: Record<string, number> = {}
let opened = 0
let closed = 0

async function open(): Promise<void> {
  await Bun.connect({
    hostname: '127.0.0.1',
    port: options.port,
    socket: {
      open(socket) {
        opened++
        sockets.add(socket)
        socket.write(START[options.kind])
      },
      data(_, chunk) {
        const status = /^HTTP\/1\.1 (\d+)/.exec(chunk.toString('latin1'))?.[1]
        if (status) statuses[status] = (statuses[status] ?? 0) + 1
      },
      close(socket) {
        closed++
        sockets.delete(socket)
      },
      end: (socket) => void socket.end(),
    },
  }).catch(() => {})
}

function report(): void {
  const line: HoldReport = { opened, closed, statuses }
  process.stdout.write(`${JSON.stringify(line)}\n`)
}

while (opened < options.connections) {
  const before = opened
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, options.connections - opened) }, open))
  if (opened === before) break
}
report()
for (let second = 0; second < options.seconds; second++) {
  await Bun.sleep(1000)
  if (options.kind.startsWith('slow')) for (const socket of sockets) socket.write('a')
}
report()
process.exit(0)
