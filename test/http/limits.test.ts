/** The size and the deadline of a body. A client sees every refusal, and goes on with its connection if it can. */

import { afterAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { MAX_DISCARDED_BYTES } from '../../src/limits.ts'
import { BODY_DEADLINE_MS, DOCUMENTS, ENDPOINT, MAX_BODY_BYTES } from '../support/contract.ts'
import { readList } from '../support/list-file.ts'
import {
  checked,
  expectResponse,
  openConnection,
  POST_HEADERS,
  POST_LINE,
  post,
  type RawConnection,
  type RawReply,
  toChunk,
  toRequest,
} from '../support/raw.ts'
import { startService } from '../support/service.ts'

const [, JSON_FIELD] = POST_HEADERS
const HOST = 'Host: list.example'
const FORM = 'Content-Type: application/x-www-form-urlencoded'
const CHUNKED = 'Transfer-Encoding: chunked'

const service = await startService({ env: { BASE_URL: 'http://list.example' } })
afterAll(() => service.stop())

/** Sends a body in pieces. Stops when the connection is closed. */
async function sendBody(connection: RawConnection, framing: Framing, size: number): Promise<void> {
  const toPiece = (bytes: string) => (framing === 'in chunks' ? toChunk(bytes) : bytes)
  for (let left = size; left > 0 && !connection.isClosed(); left -= 65_536) {
    connection.send(toPiece('x'.repeat(Math.min(left, 65_536))))
    await connection.waitForDrain()
  }
  if (framing === 'in chunks') connection.send('0\r\n\r\n')
}

async function receive(connection: RawConnection): Promise<RawReply> {
  const reply = await connection.receive()
  if (!reply) throw new Error('the connection was closed without a response')
  return reply
}

/** Receives the last response of a connection. The rest of the body must not be read as a request. */
async function receiveLast(connection: RawConnection): Promise<RawReply> {
  const reply = await receive(connection)
  expect(reply.headers.get('connection')).toBe('close')
  await connection.waitForClose()
  return reply
}

const FRAMINGS = ['with a Content-Length', 'in chunks'] as const
type Framing = (typeof FRAMINGS)[number]

/** Writes the head of a request whose body has this many bytes. */
function toHead(line: string, fields: readonly string[], framing: Framing, size: number): string {
  return toRequest(line, [...fields, framing === 'in chunks' ? CHUNKED : `Content-Length: ${size}`])
}

test('the size limit is exact, and counts bytes', async () => {
  const full = JSON.stringify({ email: 'full@example.org' })
  expectResponse(await post(service, full.padEnd(MAX_BODY_BYTES)), 'accepted')
  expectResponse(await post(service, full.padEnd(MAX_BODY_BYTES + 1)), 'large_body')
  const characters = '\u20AC'.repeat(MAX_BODY_BYTES / 3)
  expectResponse(await post(service, JSON.stringify({ email: 'full@example.org', characters })), 'large_body')
})

/** Each kind of refusal, with its status, its request line and its fields. */
const REFUSALS: readonly (readonly [number, string, string, readonly string[]])[] = [
  [413, 'a body over the limit', POST_LINE, [HOST, JSON_FIELD]],
  [415, 'another media type', POST_LINE, [HOST, 'Content-Type: text/plain']],
  [405, 'another method of the endpoint', `PUT ${ENDPOINT.path}`, [HOST, JSON_FIELD]],
  [405, 'another method of a document', `POST ${DOCUMENTS.openApiJson.path}`, [HOST]],
  [404, 'an unknown path', 'POST /nowhere', [HOST]],
  [308, 'the other name of the host', POST_LINE, ['Host: www.list.example', JSON_FIELD]],
  [400, 'two hosts', POST_LINE, [HOST, 'Host: other.example', JSON_FIELD]],
  [413, 'a form over the limit', 'POST /', [HOST, FORM]],
  [415, 'another media type of a page', 'POST /', [HOST, JSON_FIELD]],
  [405, 'another method of a page', 'PUT /', [HOST]],
]

/** Bytes of a body, and whether its request asks for the close of the connection. */
const SIZES = [
  [17_000, false],
  [17_000, true],
  [1_000_000, false],
  [1_000_000, true],
] as const

describe.each(FRAMINGS)('a body %s', (framing) => {
  // The runtime closes a connection right after the last response, which resets it while the client writes.
  test.each(REFUSALS)('is read before a %d for %s, and the next request works', async (status, _, line, fields) => {
    for (const [size, isLast] of SIZES) {
      const connection = await openConnection(service.port)
      // Reads nothing before everything is written.
      connection.pause()
      connection.send(toHead(line, [...fields, ...(isLast ? ['Connection: close'] : [])], framing, size))
      await sendBody(connection, framing, size)
      connection.resume()
      const reply = await receive(connection)
      expect([size, reply.status, reply.headers.get('connection')]).toEqual([size, status, null])
      if (isLast) continue
      connection.send(toRequest(POST_LINE, POST_HEADERS, '{"email":"next@example.org"}'))
      expectResponse(await receive(connection), 'accepted')
      connection.close()
    }
  })
})

test('a Content-Length over 1 MiB is refused before the body is sent', async () => {
  for (const [status, , line, fields] of REFUSALS) {
    for (const length of [MAX_DISCARDED_BYTES + 1, 2 ** 53 - 1]) {
      const connection = await openConnection(service.port)
      connection.send(toHead(line, fields, 'with a Content-Length', length))
      expect((await receiveLast(connection)).status).toBe(status)
    }
  }
})

test('chunks over 1 MiB are cut off', async () => {
  const connection = await openConnection(service.port)
  connection.send(toHead(POST_LINE, POST_HEADERS, 'in chunks', 0))
  // Ends the body: without the limit, all of it would be read, and the connection would stay open.
  await sendBody(connection, 'in chunks', MAX_DISCARDED_BYTES + 65_536)
  expectResponse(await receiveLast(connection), 'large_body')
})

test('Expect: 100-continue gets its 100 before the response', async () => {
  const connection = await openConnection(service.port)
  const body = '{"email":"next@example.org"}'
  connection.send(toRequest(POST_LINE, [...POST_HEADERS, 'Expect: 100-continue', `Content-Length: ${body.length}`]))
  expect((await receive(connection)).status).toBe(100)
  connection.send(body)
  expectResponse(await receive(connection), 'accepted')
  connection.close()
})

describe.concurrent('the deadline', () => {
  test.each([
    ['slow_body', 'a slow body', 'Content-Length: 1000', () => ' '],
    ['slow_body', 'slow chunks', CHUNKED, () => toChunk(' ')],
    ['slow_body', 'a slow chunk', CHUNKED, (count: number) => (count === 0 ? '400\r\n' : ' ')],
    ['slow_body', 'chunks that do not start', CHUNKED, () => ''],
    ['large_body', 'a slow body over the limit', `Content-Length: ${MAX_BODY_BYTES + 1}`, () => ' '],
    ['large_body', 'slow chunks over the limit', CHUNKED, () => toChunk('x'.repeat(1_000))],
  ] as const)('gives "%s" for %s, and closes the connection', async (outcome, _, framing, next) => {
    const start = performance.now()
    const connection = await openConnection(service.port)
    connection.send(toRequest(POST_LINE, [...POST_HEADERS, framing]))
    let count = 0
    const timer = setInterval(() => connection.send(next(count++)), 100)
    const reply = await receiveLast(connection)
    clearInterval(timer)
    expectResponse(checked(service, reply), outcome)
    // Not before the deadline, and not much later, also on a busy machine.
    expect(performance.now() - start).toBeWithin(BODY_DEADLINE_MS - 50, BODY_DEADLINE_MS + 2_000)
  })

  test('holds for a body that no handler needs', async () => {
    const connection = await openConnection(service.port)
    connection.send(toHead('POST /nowhere', [HOST], 'with a Content-Length', 10))
    expectResponse(await receiveLast(connection), 'no_such_path')
  })
})

test('a thousand requests that are not complete, and as many that break off, delay no other request', async () => {
  const requests = [
    '',
    'P',
    'GET /openapi.json HTTP/1.1\r\nHost: a\r\nX-Slow: ',
    toRequest(POST_LINE, [...POST_HEADERS, 'Content-Length: 10']),
    toRequest(POST_LINE, [...POST_HEADERS, `Content-Length: ${MAX_BODY_BYTES}`]) + ' '.repeat(MAX_BODY_BYTES - 1),
    `${toRequest(POST_LINE, [...POST_HEADERS, CHUNKED])}4000\r\n${' '.repeat(MAX_BODY_BYTES - 1)}`,
  ]
  for (const breaksOff of [true, false]) {
    const connections = await Promise.all(Array.from({ length: 1_000 }, () => openConnection(service.port)))
    for (const [index, connection] of connections.entries()) {
      connection.send(requests[index % requests.length]!)
      if (breaksOff) connection.close()
    }
    expect((await service.subscribe('next@example.org')).status).toBe(200)
    const [silent] = connections
    silent!.send(toRequest(POST_LINE, POST_HEADERS, '{"email":"next@example.org"}'))
    if (!breaksOff) expectResponse(await receive(silent!), 'accepted')
    for (const connection of connections) connection.close()
  }
})

test('bodies that no handler reads take no memory', async () => {
  /** The peak of the memory of the service so far, in MiB. */
  function readPeak(): number {
    const status = readFileSync(`/proc/${service.process.pid}/status`, 'utf8')
    return Number(/^VmHWM:\s+([0-9]+) kB$/m.exec(status)![1]) / 1024
  }
  const before = readPeak()
  const connection = await openConnection(service.port)
  const request = toRequest('POST /nowhere', [HOST], 'x'.repeat(1_000_000))
  for (let count = 0; count < 250; count++) {
    connection.send(request)
    expectResponse(await receive(connection), 'no_such_path')
  }
  connection.close()
  // What the runtime needs differs between machines. The bodies are 238 MiB.
  expect(readPeak() - before).toBeLessThan(100)
})

test('the list has the addresses that got a 200, and no others', async () => {
  expect((await readList(service.folder)).toSorted()).toEqual(['full@example.org', 'next@example.org'])
})
