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
  'access-control-allow-headers': '*',
  'access-control-max-age': '7200',
}

/** Each value of CORS_ORIGINS, with the origins that may read every response, and those that may not. */
const SETTINGS = [
  { setting: undefined, allowed: [], refused: [LISTED[0]!], vary: undefined },
  { setting: LISTED.join(', '), allowed: LISTED, refused: UNLISTED, vary: 'Origin' },
  { setting: '*', allowed: [...LISTED, 'https://evil.example', 'null', '*'], refused: [], vary: undefined },
]

describe.each(SETTINGS)('with CORS_ORIGINS=$setting', ({ setting, allowed, refused, vary }) => {
  beforeAll(async () => {
    service = await startService({ env: { BASE_URL, ...(setting && { CORS_ORIGINS: setting }) } })
  })
  afterAll(() => service.stop())

  /** Sends all requests from an origin, and expects these headers in each response. */
  async function expectCors(origin: string, own: Record<string, string>): Promise<void> {
    for (const [name, status, method, headers, body] of REQUESTS) {
      const reply = await send(method, [`Origin: ${origin}`, ...headers], body)
      expect([origin, name, reply.status, toCors(reply)]).toEqual([origin, name, status, own])
    }
  }

  test('the origins that it names may read every response', async () => {
    for (const origin of allowed) {
      const own = { 'access-control-allow-origin': setting === '*' ? '*' : origin, ...(vary && { vary }) }
      const granted = await preflight(origin, 'Access-Control-Request-Headers: content-type')
      expect([granted.status, granted.body.length, toCors(granted)]).toEqual([204, 0, { ...own, ...GRANTED }])
      await expectCors(origin, own)
    }
  })

  test('others may not, and caches learn whether the response depends on the origin', async () => {
    const own: Record<string, string> = vary ? { vary } : {}
    for (const origin of refused) {
      const reply = await preflight(origin)
      expect([reply.status, reply.headers.get('allow'), toCors(reply)]).toEqual([405, 'POST', own])
      await expectCors(origin, own)
    }
  })

  test('any origin may read documents, also after the redirect to the canonical host', async () => {
    for (const host of ['www.list.example', 'list.example']) {
      const headers = [`Host: ${host}`, 'Origin: https://evil.example']
      const reply = await exchange(service.port, toRequest(`GET ${DOCUMENTS.openApiJson.path}`, headers))
      expect(reply?.headers.get('access-control-allow-origin')).toBe('*')
    }
  })

  test('a preflight stores nothing, and two origins are no origin', async () => {
    if (setting !== '*') expect((await preflight(LISTED[0]!, `Origin: ${LISTED[1]}`)).status).toBe(405)
    expect(await readList(service.folder)).toEqual(['page@example.org'])
  })
})
