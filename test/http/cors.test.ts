/** CORS: which origins may call the endpoint from a browser. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { DOCUMENTS, ENDPOINT } from '../support/contract.ts'
import { readList } from '../support/list-file.ts'
import { exchange, type RawReply, toRequest } from '../support/raw.ts'
import { type RunningService, startService } from '../support/service.ts'

const BASE_URL = 'https://www.list.example'
const JSON_FIELD = `Content-Type: ${ENDPOINT.mediaType}`
const LISTED = ['https://page.example', 'http://localhost:5173']
const UNLISTED = [
  'https://evil.example',
  'http://page.example',
  'https://page.example.evil.example',
  'https://PAGE.example',
  `${LISTED}`,
  'null',
  '',
]

/** A request for every kind of response of the endpoint, with its status. */
const REQUESTS = [
  ['accepted', 200, 'POST', [JSON_FIELD], '{"email":"page@example.org"}'],
  ['an invalid address', 400, 'POST', [JSON_FIELD], '{"email":"page"}'],
  ['an invalid body', 400, 'POST', [JSON_FIELD], 'x'],
  ['a wrong method', 405, 'GET', [], undefined],
  ['OPTIONS without a preflight', 405, 'OPTIONS', [], undefined],
  ['a large body', 413, 'POST', [JSON_FIELD, `Content-Length: ${10 ** 9}`], undefined],
  ['a wrong media type', 415, 'POST', ['Content-Type: text/plain'], '{"email":"page@example.org"}'],
  ['the other host', 308, 'POST', [JSON_FIELD, 'Host: list.example'], '{"email":"page@example.org"}'],
] as const

let service: RunningService

/** Sends a request to the endpoint, by default to the canonical host. */
async function send(method: string, headers: readonly string[], body?: string): Promise<RawReply> {
  const host = headers.some((field) => field.startsWith('Host:')) ? [] : ['Host: www.list.example']
  const request = toRequest(`${method} ${ENDPOINT.path}`, [...host, ...headers], body)
  const reply = await exchange(service.port, request)
  if (!reply) throw new Error('there was no response')
  service.check({ ...reply, method, path: ENDPOINT.path })
  return reply
}

const preflight = (origin: string, ...headers: string[]) =>
  send('OPTIONS', [`Origin: ${origin}`, 'Access-Control-Request-Method: POST', ...headers])

/** Picks the headers that CORS uses. */
const toCors = ({ headers }: RawReply) =>
  Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control-') || name === 'vary'))

const GRANTED = {
  'access-control-allow-methods': 'POST',
  'access-control-allow-headers': 'Content-Type',
  'access-control-max-age': '7200',
}

describe('without CORS_ORIGINS', () => {
  beforeAll(async () => {
    service = await startService({ env: { BASE_URL } })
  })
  afterAll(() => service.stop())

  test('a preflight is refused, and no response has CORS headers', async () => {
    const refused = await preflight(LISTED[0]!)
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'POST'])
    for (const [name, status, method, headers, body] of REQUESTS) {
      const reply = await send(method, [`Origin: ${LISTED[0]}`, ...headers], body)
      expect([name, reply.status, toCors(reply)]).toEqual([name, status, {}])
    }
  })

  test('any origin may read documents, also after the redirect to the canonical host', async () => {
    for (const host of ['www.list.example', 'list.example']) {
      const headers = [`Host: ${host}`, 'Origin: https://evil.example']
      const reply = await exchange(service.port, toRequest(`GET ${DOCUMENTS.openApiJson.path}`, headers))
      expect(reply?.headers.get('access-control-allow-origin')).toBe('*')
    }
  })
})

describe('with a list of origins', () => {
  beforeAll(async () => {
    service = await startService({ env: { BASE_URL, CORS_ORIGINS: LISTED.join(', ') } })
  })
  afterAll(() => service.stop())

  test.each(LISTED)('%s may read every response', async (origin) => {
    const own = { 'access-control-allow-origin': origin, vary: 'Origin' }
    const granted = await preflight(origin, 'Access-Control-Request-Headers: content-type')
    expect([granted.status, toCors(granted)]).toEqual([204, { ...own, ...GRANTED }])
    expect(granted.body).toHaveLength(0)
    for (const [name, status, method, headers, body] of REQUESTS) {
      const reply = await send(method, [`Origin: ${origin}`, ...headers], body)
      expect([name, reply.status, toCors(reply)]).toEqual([name, status, own])
    }
  })

  test.each(UNLISTED)('"%s" may not, and caches learn that the response depends on the origin', async (origin) => {
    const refused = await preflight(origin)
    expect([refused.status, refused.headers.get('allow'), toCors(refused)]).toEqual([405, 'POST', { vary: 'Origin' }])
    for (const [name, status, method, headers, body] of REQUESTS) {
      const reply = await send(method, [`Origin: ${origin}`, ...headers], body)
      expect([name, reply.status, toCors(reply)]).toEqual([name, status, { vary: 'Origin' }])
    }
  })

  test('two origins in one request are no origin', async () => {
    const reply = await preflight(LISTED[0]!, `Origin: ${LISTED[1]}`)
    expect([reply.status, toCors(reply)]).toEqual([405, { vary: 'Origin' }])
  })

  test('a preflight stores nothing', async () => {
    expect(await readList(service.folder)).toEqual(['page@example.org'])
  })
})

describe('with CORS_ORIGINS=*', () => {
  beforeAll(async () => {
    service = await startService({ env: { BASE_URL, CORS_ORIGINS: '*' } })
  })
  afterAll(() => service.stop())

  test.each([...LISTED, 'https://evil.example', 'null', '*'])('%s may read every response', async (origin) => {
    const own = { 'access-control-allow-origin': '*' }
    const granted = await preflight(origin)
    expect([granted.status, toCors(granted)]).toEqual([204, { ...own, ...GRANTED }])
    for (const [name, status, method, headers, body] of REQUESTS) {
      const reply = await send(method, [`Origin: ${origin}`, ...headers], body)
      expect([name, reply.status, toCors(reply)]).toEqual([name, status, own])
    }
  })
})
