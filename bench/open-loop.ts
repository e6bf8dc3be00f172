/**
 * An open load: requests are due on a schedule (exponential gaps, as independent callers make them) that does
 * not wait for answers, and the time of each is counted from when it was due. So a server that stalls is
 * charged for all that would have come meanwhile (no coordinated omission: Gil Tene, "How NOT to Measure Latency").
 *
 * Run as a process of its own, on the load generator's core: PORT RATE CONNECTIONS SECONDS; prints JSON.
 */

import type { OpenLoopResult } from './half-load.ts'

const [port = 0, rate = 0, connections = 0, seconds = 0] = process.argv.slice(2).map(Number)

/** Milliseconds after the last request was due in which answers still count. */
const GRACE_MS = 2_000

const run = Math.floor(Math.random() * 1e9) + 1e9
const latencies: number[] = []
const due: number[] = []
const idle: Connection[] = []
let refused = 0
let sent = 0

interface Connection {
  readonly socket: Bun.Socket<Slot>
}

/** When the request that is under way on a connection was due. */
interface Slot {
  at: number
  connection: Connection | undefined
}

function toRequest(): string {
  const body = `{"email":"user.${run}.${1e9 + sent++}@rollcall.example"}`
  return `POST /api/newsletter HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
}

// Answers are small JSON objects: one that has come in whole ends in a brace.
const BRACE = '}'.charCodeAt(0)
const isWhole = (data: Buffer) => data.at(-1) === BRACE
const isAccepted = (data: Buffer) => data.toString('latin1', 9, 12) === '200'

async function connect(): Promise<void> {
  const data: Slot = { at: 0, connection: undefined }
  const socket = await Bun.connect<Slot>({
    hostname: '127.0.0.1',
    port,
    data,
    socket: {
      data({ data: slot }, chunk) {
        if (!isWhole(chunk)) return
        latencies.push(performance.now() - slot.at)
        if (!isAccepted(chunk)) refused++
        if (slot.connection) idle.push(slot.connection)
      },
    },
  })
  data.connection = { socket }
  idle.push(data.connection)
}

function send(at: number): void {
  const { socket } = idle.pop() as Connection
  socket.data.at = at
  socket.write(toRequest())
}

await Promise.all(Array.from({ length: connections }, connect))
const begin = performance.now()
const end = begin + seconds * 1000
let next = begin
let first = 0

// Spins: a timer of a millisecond would be late by more than most answers take.
while (performance.now() < end + GRACE_MS) {
  const now = performance.now()
  for (; next <= now && next < end; next += (-Math.log(1 - Math.random()) * 1000) / rate) due.push(next)
  while (first < due.length && idle.length > 0) send(due[first++] as number)
  if (now > end && latencies.length === due.length) break
  await new Promise(setImmediate)
}

latencies.sort((a, b) => a - b)
const at = (share: number) => latencies[Math.floor(latencies.length * share)] ?? Number.NaN
const result: OpenLoopResult = {
  p50: at(0.5),
  p99: at(0.99),
  failed: due.length - latencies.length + refused,
}
process.stdout.write(JSON.stringify(result))
process.exit(0)
