/** Malformed HTTP: what the runtime refuses, and what the application responds to. */

import { afterAll, afterEach, expect, test } from 'bun:test'
import { DOCUMENTS } from '../support/contract.ts'
import { readList } from '../support/list-file.ts'
import { openConnection, POST_HEADERS, POST_LINE, toChunk, toRequest } from '../support/raw.ts'
import { startService } from '../support/service.ts'
import { until } from '../support/wait.ts'

const HOST = 'Host: 127.0.0.1'
const BODY = '{"email":"malformed@example.org"}'
const LENGTH = `Content-Length: ${BODY.length}`
const LAST_CHUNK = '0\r\n\r\n'

const service = await startService()
afterAll(() => service.stop())
afterEach(async () => {
  expect((await service.request(DOCUMENTS.openApiJson.path)).status).toBe(200)
})

const get = (line: string, ...fields: string[]) => toRequest(line, [HOST, ...fields])
/** Writes a request to the endpoint with a valid body, and the headers that frame it. */
const post = (...fields: string[]) => toRequest(POST_LINE, [...POST_HEADERS, ...fields]) + BODY
const chunked = (...chunks: string[]) =>
  toRequest(POST_LINE, [...POST_HEADERS, 'Transfer-Encoding: chunked']) + chunks.join('')
const many = (count: number) => Array.from({ length: count }, (_, index) => `X-${index}: y`)

/** Requests that the runtime refuses before the application sees them, with the status; 0 when it closes the connection. */
const REFUSED: readonly (readonly [string, string, number])[] = [
  ['bytes that are not HTTP', 'asdf\r\n\r\n', 400],
  ['a TLS handshake', `\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03${'a'.repeat(40)}`, 400],
  ['HTTP/0.9', 'GET /openapi.json\r\n\r\n', 505],
  ['HTTP/2.0', get('GET /').replace('HTTP/1.1', 'HTTP/2.0'), 505],
  ['a target over 16 KiB', get(`GET /${'a'.repeat(17_000)}`), 431],
  ['an unknown method', get('BREW /openapi.json'), 0],
  ['HTTP/1.1 without Host', toRequest('GET /'), 400],
  ['a blank before the colon', toRequest('GET /', ['Host : a']), 400],
  ['a folded field', get('GET /', 'X: a', ' b'), 400],
  ['a field over 16 KiB', get('GET /', `X: ${'a'.repeat(17_000)}`), 431],
  ['199 fields', get('GET /', ...many(198)), 431],
  ['two lengths', post(LENGTH, 'Content-Length: 1'), 400],
  ['a negative length', post('Content-Length: -1'), 400],
  ['a length of 2^53', post(`Content-Length: ${2n ** 53n}`), 413],
  ['a length larger than any number', post(`Content-Length: ${'9'.repeat(30)}`), 400],
  ['a length and chunks', post(LENGTH, 'Transfer-Encoding: chunked'), 400],
  ['a transfer coding that is not chunked', post('Transfer-Encoding: gzip'), 400],
  ['the transfer coding identity', post('Transfer-Encoding: identity', LENGTH), 400],
  ['a chunk size that is not a number', chunked(`zz\r\n${BODY}\r\n`, LAST_CHUNK), 400],
  ['a chunk size larger than any number', chunked(`${'f'.repeat(20)}\r\n${BODY}\r\n`, LAST_CHUNK), 400],
  ['a chunk longer than its size', chunked(`1\r\n${BODY}\r\n`, LAST_CHUNK), 400],
]

test.each(REFUSED)('the runtime refuses %s, and closes the connection', async (_, bytes, status) => {
  const connection = await openConnection(service.port)
  connection.send(bytes)
  // A request that is smuggled in after it must not be read.
  connection.send(post(LENGTH))
  expect((await connection.receive())?.status ?? 0).toBe(status)
  await connection.waitForClose()
  expect(await connection.receive()).toBeUndefined()
})

test('the list stays empty', async () => {
  expect(await readList(service.folder)).toEqual([])
})

/** Unusual requests that the application responds to, with the status. */
const SERVED: readonly (readonly [string, string, number])[] = [
  ['the same length twice', post(LENGTH, LENGTH), 200],
  ['chunks of one byte', chunked(...[...BODY].map(toChunk), LAST_CHUNK), 200],
  ['a GET with a body', `${get('GET /nowhere', LENGTH)}${BODY}`, 404],
  ['a field that is not ASCII', get('GET /nowhere', 'X: \xff\xfe'), 404],
]

test.each(SERVED)('the application responds to %s', async (_, bytes, status) => {
  const connection = await openConnection(service.port)
  connection.send(bytes)
  const reply = await connection.receive()
  connection.close()
  expect(reply?.status).toBe(status)
  const [method = '', path = ''] = bytes.split(' ')
  service.check({ ...reply!, method, path })
})

// The runtime hands over the end of the body before it reads the trailer section, so the application cannot wait for it.
test('a trailer field gets 400, and the address is stored, so that a repeat gets 200', async () => {
  const connection = await openConnection(service.port)
  const body = BODY.replace('malformed', 'trailer')
  connection.send(chunked(toChunk(body), '0\r\nX: y\r\n\r\n'))
  expect((await connection.receive())?.status).toBe(400)
  await connection.waitForClose()
  await until(async () => (await readList(service.folder)).includes('trailer@example.org'), 'the address is stored')
  expect((await service.subscribe('trailer@example.org')).status).toBe(200)
  expect((await readList(service.folder)).filter((email) => email.startsWith('trailer'))).toHaveLength(1)
})

test('no request was logged', () => {
  // A new list, and the start.
  const lines = service.log().trim().split('\n')
  expect(lines.slice(2)).toEqual([])
})
