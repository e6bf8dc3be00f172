import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { MAX_BODY_BYTES } from '../../src/limits.ts'
import { DOCUMENTS, ENDPOINT } from '../../src/routes.ts'
import { POST_HEADERS, POST_LINE } from '../support/endpoint.ts'
import { openConnection, toRequest } from '../support/raw.ts'
import { type RunningService, startService } from '../support/service.ts'

/** The most that the service may ever have held in memory, in MiB. */
const BOUND = 200

const HOST = POST_HEADERS[0]
const BODY = '{"email":"idle@example.org"}'

let service: RunningService

beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.stop())

const BEGINNINGS = [
  '',
  'P',
  'GET /openapi.json HTTP/1.1\r\nHost: a\r\nX-Slow: ',
  toRequest(POST_LINE, [...POST_HEADERS, 'Content-Length: 10']),
  toRequest(POST_LINE, [...POST_HEADERS, `Content-Length: ${MAX_BODY_BYTES}`]) +
    ' '.repeat(MAX_BODY_BYTES - 1),
  `${toRequest(POST_LINE, [...POST_HEADERS, 'Transfer-Encoding: chunked'])}4000\r\n${' '.repeat(MAX_BODY_BYTES - 1)}`,
]

test('a thousand connections that are silent, or stop in the middle of a request, keep nobody waiting', async () => {
  const connections = await Promise.all(Array.from({ length: 1_000 }, () => openConnection(service.port)))
  for (const [index, connection] of connections.entries()) {
    connection.send(BEGINNINGS[index % BEGINNINGS.length]!)
  }
  for (let round = 0; round < 20; round++) {
    expect((await service.request(DOCUMENTS.openApiJson.path)).status).toBe(200)
    expect((await service.subscribe('idle@example.org')).status).toBe(200)
  }
  expect(readPeak()).toBeLessThan(BOUND)

  // Silent for so long, the first is served like any other.
  const [first] = connections
  first!.send(toRequest(POST_LINE, POST_HEADERS, BODY))
  expect((await first!.receive())?.status).toBe(200)
  for (const connection of connections) connection.close()
})

test('thousands that break off in the middle do no harm', async () => {
  for (let round = 0; round < 10; round++) {
    const connections = await Promise.all(Array.from({ length: 300 }, () => openConnection(service.port)))
    for (const [index, connection] of connections.entries()) {
      connection.send(BEGINNINGS[index % BEGINNINGS.length]!)
      connection.close()
    }
    await Promise.all(connections.map((connection) => connection.waitForClose()))
  }
  expect((await service.subscribe('broken-off@example.org')).status).toBe(200)
  expect(readPeak()).toBeLessThan(BOUND)
})

test('bodies that nobody wants take no memory', async () => {
  // Together more than the bound.
  const [megabyte, count] = [Buffer.alloc(2 ** 20), 80]
  const paths = ['/nowhere', DOCUMENTS.openApiJson.path, ENDPOINT.path]
  const connections = await Promise.all(
    paths.map(async (path) => {
      const connection = await openConnection(service.port)
      connection.send(toRequest(`POST ${path}`, [HOST, `Content-Length: ${count * megabyte.length}`]))
      for (let sent = 0; sent < count; sent++) connection.send(megabyte)
      return connection
    }),
  )
  for (const connection of connections) {
    expect([404, 405, 415]).toContain((await connection.receive())!.status)
    // Behind the body, the next request is understood again.
    connection.send(toRequest('GET /nowhere', [HOST]))
    expect((await connection.receive())?.status).toBe(404)
    connection.close()
  }
  expect(readPeak()).toBeLessThan(BOUND)
})

/** The most that the service has held in memory so far, in MiB. */
function readPeak(): number {
  const status = readFileSync(`/proc/${service.process.pid}/status`, 'utf8')
  return Number(/^VmHWM:\s+([0-9]+) kB$/m.exec(status)![1]) / 1024
}
