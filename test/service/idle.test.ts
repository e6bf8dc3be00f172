/** Silent and broken connections: they delay no request and take little memory. */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { DOCUMENTS, ENDPOINT, MAX_BODY_BYTES } from '../support/contract.ts'
import { POST_HEADERS, POST_LINE } from '../support/endpoint.ts'
import { openConnection, toRequest } from '../support/raw.ts'
import { type RunningService, startService } from '../support/service.ts'

/** Maximum memory of the service, in MiB. It has about 90 when idle, and 130 after the documents are built. */
const MAX_MEMORY_MIB = 230

const HOST = POST_HEADERS[0]
const BODY = '{"email":"idle@example.org"}'

let service: RunningService

beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.stop())

const INCOMPLETE_REQUESTS = [
  '',
  'P',
  'GET /openapi.json HTTP/1.1\r\nHost: a\r\nX-Slow: ',
  toRequest(POST_LINE, [...POST_HEADERS, 'Content-Length: 10']),
  toRequest(POST_LINE, [...POST_HEADERS, `Content-Length: ${MAX_BODY_BYTES}`]) + ' '.repeat(MAX_BODY_BYTES - 1),
  `${toRequest(POST_LINE, [...POST_HEADERS, 'Transfer-Encoding: chunked'])}4000\r\n${' '.repeat(MAX_BODY_BYTES - 1)}`,
]

test('a thousand connections with an incomplete request delay no other request', async () => {
  const connections = await Promise.all(Array.from({ length: 1_000 }, () => openConnection(service.port)))
  for (const [index, connection] of connections.entries()) {
    connection.send(INCOMPLETE_REQUESTS[index % INCOMPLETE_REQUESTS.length]!)
  }
  for (let round = 0; round < 20; round++) {
    expect((await service.request(DOCUMENTS.openApiJson.path)).status).toBe(200)
    expect((await service.subscribe('idle@example.org')).status).toBe(200)
  }
  expect(readPeak()).toBeLessThan(MAX_MEMORY_MIB)

  // The connection that has been silent so far is served.
  const [first] = connections
  first!.send(toRequest(POST_LINE, POST_HEADERS, BODY))
  expect((await first!.receive())?.status).toBe(200)
  for (const connection of connections) connection.close()
})

test('thousands of connections that end in the middle of a request do no harm', async () => {
  for (let round = 0; round < 10; round++) {
    const connections = await Promise.all(Array.from({ length: 300 }, () => openConnection(service.port)))
    for (const [index, connection] of connections.entries()) {
      connection.send(INCOMPLETE_REQUESTS[index % INCOMPLETE_REQUESTS.length]!)
      connection.close()
    }
    await Promise.all(connections.map((connection) => connection.waitForClose()))
  }
  expect((await service.subscribe('broken-off@example.org')).status).toBe(200)
  expect(readPeak()).toBeLessThan(MAX_MEMORY_MIB)
})

test('bodies that no handler reads take no memory', async () => {
  // In all more than MAX_MEMORY_MIB.
  const megabyte = Buffer.alloc(1_000_000)
  const statuses = { '/nowhere': 404, [DOCUMENTS.openApiJson.path]: 405, [ENDPOINT.path]: 415 }
  for (const [path, status] of Object.entries(statuses)) {
    const connection = await openConnection(service.port)
    for (let count = 0; count < 80; count++) {
      connection.send(toRequest(`POST ${path}`, [HOST, `Content-Length: ${megabyte.length}`]))
      connection.send(megabyte)
      expect((await connection.receive())?.status).toBe(status)
    }
    connection.close()
  }
  expect(readPeak()).toBeLessThan(MAX_MEMORY_MIB)
})

/** Reads the peak memory of the service, in MiB. */
function readPeak(): number {
  const status = readFileSync(`/proc/${service.process.pid}/status`, 'utf8')
  return Number(/^VmHWM:\s+([0-9]+) kB$/m.exec(status)![1]) / 1024
}
