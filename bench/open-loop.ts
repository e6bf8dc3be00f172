/**
 * An open load: requests are due on a schedule that does not wait for responses, with exponential gaps as from
 * independent clients. Latency counts from when a request was due, so a stall of the server counts for all requests
 * that were due meanwhile (no coordinated omission: Gil Tene, "How NOT to Measure Latency").
 *
 * A process of its own, on the core of the load generator. Arguments: PORT RATE CONNECTIONS SECONDS. Prints JSON.
 */

import type { OpenLoopResult } from './half-load.ts'

const [port = 0, rate = 0, connections = 0, seconds = 0] = process.argv.slice(2).map(Number)

/** Milliseconds to wait for responses after the last request was due. */
const GRACE_MS = 2_000

const run = Math.floor(Math.random() * 1e9) + 1e9
const latencies: number[] = []
const due: number[] = []
const idle: Bun.Socket<Slot>[] = []
let rejected = 0
let sent = 0

/** When the current request of a connection was due. */
interface Slot {
  due: number
}

function toRequest(number: number): string {
  const body = `{"email":"user.${run}.${1e9 + number}@rollcall.example"}`
  return `POST /api/newsletter HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
}

// A response is a small JSON object: the last byte is a brace when it is complete.
const BRACE = '}'.charCodeAt(0)
const isComplete = (data: Buffer) => data.at(-1) === BRACE
const isAccepted = (data: Buffer) => data.toString('latin1', 9, 12) === '200'

async function connect(): Promise<void> {
  const socket = await Bun.connect<Slot>({
    hostname: '127.0.0.1',
    port,
    data: { due: 0 },
    socket: {
      data(connection, chunk) {
        if (!isComplete(chunk)) return
        latencies.push(performance.now() - connection.data.due)
        if (!isAccepted(chunk)) rejected++
        idle.push(connection)
      },
    },
  })
  idle.push(socket)
}

/** Sends the requests that are due, as far as there are idle connections. */
function sendDue(): void {
  for (let request = due[sent]; request !== undefined; request = due[sent]) {
    const socket = idle.pop()
    if (!socket) return
    socket.data.due = request
    socket.write(toRequest(sent++))
  }
}

await Promise.all(Array.from({ length: connections }, connect))
const start = performance.now()
const end = start + seconds * 1000
let next = start

// Polls, because a timer is late by more than most latencies.
while (performance.now() < end + GRACE_MS) {
  const now = performance.now()
  for (; next <= now && next < end; next += (-Math.log(1 - Math.random()) * 1000) / rate) due.push(next)
  sendDue()
  if (now > end && latencies.length === due.length) break
  await new Promise(setImmediate)
}

latencies.sort((a, b) => a - b)
const toPercentile = (share: number) => latencies[Math.floor(latencies.length * share)] ?? Number.NaN
const result: OpenLoopResult = {
  p50: toPercentile(0.5),
  p99: toPercentile(0.99),
  failed: due.length - latencies.length + rejected,
}
process.stdout.write(JSON.stringify(result))
process.exit(0)
