/** Bodies that are not needed for a response: the client sees the response, and the connection can be used again. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { BODY_DEADLINE_MS, DOCUMENTS, ENDPOINT, RESPONSES } from '../support/contract.ts'
import { expectResponse, POST_HEADERS, POST_LINE, toChunk } from '../support/endpoint.ts'
import { toSupportFile } from '../support/paths.ts'
import { openConnection, type RawConnection, type RawReply, toRequest } from '../support/raw.ts'
import { type RunningService, startService } from '../support/service.ts'

const BASE_URL = 'http://list.example'
const [HOST, JSON_FIELD] = POST_HEADERS
const FORM = 'Content-Type: application/x-www-form-urlencoded'
const LAST_CHUNK = '0\r\n\r\n'

/** How much is read of a body that is discarded. */
const MAX_DISCARDED_BYTES = 128 * 1024 * 1024

/** Each kind of refusal, with its status, its request line and its fields. */
const REFUSALS: readonly (readonly [number, string, string, readonly string[]])[] = [
  [413, 'a body over the limit', POST_LINE, [HOST, JSON_FIELD]],
  [415, 'another media type', POST_LINE, [HOST, 'Content-Type: text/plain']],
  [405, 'another method of the endpoint', `PUT ${ENDPOINT.path}`, [HOST, JSON_FIELD]],
  [405, 'another method of a document', 'POST /openapi.json', [HOST]],
  [404, 'an unknown path', 'POST /nowhere', [HOST]],
  [308, 'the other name of the host', POST_LINE, ['Host: www.list.example', JSON_FIELD]],
  [413, 'a form over the limit', 'POST /', [HOST, FORM]],
  [415, 'another media type of a page', 'POST /', [HOST, JSON_FIELD]],
  [405, 'another method of a page', 'PUT /', [HOST]],
]

const FRAMINGS = ['with a Content-Length', 'in chunks'] as const
type Framing = (typeof FRAMINGS)[number]

let service: RunningService

beforeAll(async () => {
  service = await startService({ env: { BASE_URL } })
  // They are built at their first request, which would count as memory of a body.
  await Promise.all(Object.values(DOCUMENTS).map(({ path }) => service.request(path)))
})
afterAll(() => service.stop())

/** Writes the head of a request whose body has this many bytes. */
function toHead(line: string, fields: readonly string[], framing: Framing, size: number): string {
  const field = framing === 'in chunks' ? 'Transfer-Encoding: chunked' : `Content-Length: ${size}`
  return toRequest(line, [...fields, field])
}

/** Sends a body in pieces. Stops when the connection is closed, and returns how many bytes were sent. */
async function sendBody(connection: RawConnection, framing: Framing, size: number): Promise<number> {
  const piece = 'x'.repeat(Math.min(size, 64 * 1024))
  const bytes = Buffer.from(framing === 'in chunks' ? toChunk(piece) : piece)
  let left = size
  for (; left > 0 && !connection.isClosed(); left -= piece.length) {
    const rest = piece.slice(0, left)
    connection.send(left >= piece.length ? bytes : framing === 'in chunks' ? toChunk(rest) : rest)
    await connection.waitForDrain()
  }
  if (framing === 'in chunks') connection.send(LAST_CHUNK)
  return size - left
}

/** Returns the peak of the resident memory of the service, in MiB. */
function readPeakMemory(): number {
  const status = readFileSync(`/proc/${service.process.pid}/status`, 'utf8')
  return Number(/^VmHWM:\s+([0-9]+) kB$/m.exec(status)![1]) / 1024
}

async function receive(connection: RawConnection): Promise<RawReply> {
  const reply = await connection.receive()
  if (!reply) throw new Error('the connection was closed without a response')
  return reply
}

describe.each(FRAMINGS)('a body %s', (framing) => {
  test.each(REFUSALS)(
    'is discarded before a %d for %s, and the next request works',
    async (status, _, line, fields) => {
      for (const size of [17_000, 100_000, 1_000_000]) {
        const connection = await openConnection(service.port)
        connection.send(toHead(line, fields, framing, size))
        await sendBody(connection, framing, size)
        const reply = await receive(connection)
        expect([size, reply.status, reply.headers.get('connection')]).toEqual([size, status, null])
        connection.send(toRequest(POST_LINE, POST_HEADERS, '{"email":"next@example.org"}'))
        expectResponse(await receive(connection), 'accepted')
        connection.close()
      }
    },
  )

  // The runtime closes the connection right after the response, which resets it while the client writes.
  test.each(REFUSALS)('is discarded before a %d for %s that asks for the close', async (status, _, line, fields) => {
    for (const size of [100, 17_000, 1_000_000].filter((bytes) => status !== 413 || bytes > 16_384)) {
      const connection = await openConnection(service.port)
      // Reads nothing before everything is written.
      connection.pause()
      connection.send(toHead(line, [...fields, 'Connection: close'], framing, size))
      await sendBody(connection, framing, size)
      connection.resume()
      expect([size, (await receive(connection)).status]).toEqual([size, status])
      await connection.waitForClose()
    }
  })

  test('of 100 MB is discarded in little memory', async () => {
    const connection = await openConnection(service.port)
    const before = readPeakMemory()
    connection.send(toHead(POST_LINE, POST_HEADERS, framing, 1e8))
    await sendBody(connection, framing, 1e8)
    const reply = await receive(connection)
    expectResponse(reply, 'large_body')
    expect(reply.headers.get('connection')).toBeNull()
    expect(readPeakMemory() - before).toBeLessThan(64)
    connection.close()
  })
})

const UNFINISHED = FRAMINGS.flatMap((framing) => [
  [framing, 413, POST_LINE, [HOST, JSON_FIELD]] as const,
  [framing, 404, 'POST /nowhere', [HOST]] as const,
])

/** Sends the head of a request with a body of a megabyte, and the first bytes of the body. */
async function begin(line: string, fields: readonly string[], framing: Framing, sent: number): Promise<RawConnection> {
  const connection = await openConnection(service.port)
  connection.send(toHead(line, fields, framing, 1_000_000))
  const bytes = 'x'.repeat(sent)
  connection.send(framing === 'in chunks' && sent > 0 ? toChunk(bytes) : bytes)
  return connection
}

describe.concurrent('a body that does not end', () => {
  test.each(UNFINISHED)('%s, gets its %d when it pauses', async (framing, status, line, fields) => {
    // In chunks, the size of a body is only known when it has arrived.
    for (const sent of framing === 'in chunks' ? [20_000] : [0, 20_000]) {
      const start = performance.now()
      const connection = await begin(line, fields, framing, sent)
      const reply = await receive(connection)
      expect([reply.status, reply.headers.get('connection')]).toEqual([status, 'close'])
      expect(performance.now() - start).toBeLessThan(BODY_DEADLINE_MS - 50)
      await connection.waitForClose()
    }
  })

  test.each(UNFINISHED)('%s, gets its %d after ten seconds when it drips', async (framing, status, line, fields) => {
    const start = performance.now()
    const connection = await begin(line, fields, framing, 20_000)
    const timer = setInterval(() => connection.send(framing === 'in chunks' ? toChunk('x') : 'x'), 200)
    const reply = await receive(connection)
    clearInterval(timer)
    expect([reply.status, reply.headers.get('connection')]).toEqual([status, 'close'])
    expect(performance.now() - start).toBeGreaterThan(BODY_DEADLINE_MS - 50)
    await connection.waitForClose()
  })
})

test.each([413, 415])('Expect: 100-continue gets its 100 before the %d', async (status) => {
  const type = status === 413 ? JSON_FIELD : FORM
  const connection = await openConnection(service.port)
  connection.send(toHead(POST_LINE, [HOST, type, 'Expect: 100-continue'], 'with a Content-Length', 17_000))
  expect((await receive(connection)).status).toBe(100)
  await sendBody(connection, 'with a Content-Length', 17_000)
  expect((await receive(connection)).status).toBe(status)
  connection.send(toRequest(POST_LINE, POST_HEADERS, '{"email":"next@example.org"}'))
  expectResponse(await receive(connection), 'accepted')
  connection.close()
})

test('a Content-Length over 128 MiB is refused before the body is sent', async () => {
  const start = performance.now()
  for (const [status, , line, fields] of REFUSALS) {
    const connection = await openConnection(service.port)
    connection.send(toHead(line, fields, 'with a Content-Length', MAX_DISCARDED_BYTES + 1))
    const reply = await receive(connection)
    expect([reply.status, reply.headers.get('connection')]).toEqual([status, 'close'])
    await connection.waitForClose()
  }
  // If each response came after a pause, they would take 18 s.
  expect(performance.now() - start).toBeLessThan(15_000)
})

test('a body in chunks over 128 MiB is cut off', async () => {
  const connection = await openConnection(service.port)
  const before = readPeakMemory()
  connection.send(toHead(POST_LINE, POST_HEADERS, 'in chunks', 2 * MAX_DISCARDED_BYTES))
  const sent = await sendBody(connection, 'in chunks', 2 * MAX_DISCARDED_BYTES)
  await connection.waitForClose()
  // The buffers of the connection take a few megabytes.
  expect(sent).toBeWithin(MAX_DISCARDED_BYTES, 1.25 * MAX_DISCARDED_BYTES)
  expect(readPeakMemory() - before).toBeLessThan(64)
})

// The runtime accepts the field twice, and joins the values.
test('the same Content-Length twice does not lift the limit', async () => {
  const body = ' '.repeat(100_000)
  const length = `Content-Length: ${body.length}`
  const connection = await openConnection(service.port)
  connection.send(toRequest(POST_LINE, [...POST_HEADERS, length, length]) + body)
  expectResponse(await receive(connection), 'large_body')
  connection.close()
})

test.each(['node', process.execPath])('fetch and http of %s see the 413', async (runtime) => {
  const sizes = [17_000, 1_000_000, 20_000_000]
  const command = [runtime, toSupportFile('large-posts.mjs'), service.origin, ...sizes.map(String)]
  const child = Bun.spawn(command, { stdout: 'pipe', stderr: 'inherit' })
  const lines = (await child.stdout.text()).trim().split('\n')
  const replies: { client: string; size: number; status: number; text: string }[] = lines.map((line) =>
    JSON.parse(line),
  )
  expect(replies).toHaveLength(5 * sizes.length)
  const { status, body } = RESPONSES.large_body
  for (const reply of replies) expect(reply).toEqual({ ...reply, status, text: body })
})
