/** The security headers and Cache-Control of every kind of response. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { DOCUMENTS, ENDPOINT } from '../support/contract.ts'
import { toSupportFile } from '../support/paths.ts'
import { exchange, toRequest } from '../support/raw.ts'
import { type RunningService, startService } from '../support/service.ts'

const JSON_FIELD = `Content-Type: ${ENDPOINT.mediaType}`
const BODY = '{"email":"headers@example.org"}'
const ORIGIN = 'https://page.example'
const PREFLIGHT = 'Access-Control-Request-Method: POST'

const HOST = 'Host: a'
const ALIAS = 'Host: www.list.example'
const POST = `POST ${ENDPOINT.path}`
const CACHED = 'public, max-age=300'

/** A request for every status that needs neither a failing store nor waiting, with its Cache-Control. */
const REQUESTS: readonly (readonly [number, string, string, string])[] = [
  [200, 'an address', toRequest(POST, [HOST, JSON_FIELD], BODY), 'no-store'],
  [204, 'a preflight', toRequest(`OPTIONS ${ENDPOINT.path}`, [HOST, `Origin: ${ORIGIN}`, PREFLIGHT]), 'no-store'],
  [308, 'the other host, endpoint', toRequest(POST, [ALIAS, JSON_FIELD], BODY), 'no-store'],
  [400, 'an invalid address', toRequest(POST, [HOST, JSON_FIELD], '{}'), 'no-store'],
  [405, 'a wrong method', toRequest(`GET ${ENDPOINT.path}`, [HOST]), 'no-store'],
  [405, 'HEAD of the endpoint', toRequest(`HEAD ${ENDPOINT.path}`, [HOST]), 'no-store'],
  [413, 'a large body', toRequest(POST, [HOST, JSON_FIELD, `Content-Length: ${10 ** 9}`]), 'no-store'],
  [415, 'a wrong media type', toRequest(POST, [HOST], BODY), 'no-store'],
  [404, 'no such path', toRequest('GET /nowhere', [HOST]), 'no-store'],
  [308, 'the other host, no such path', toRequest('GET /nowhere', [ALIAS]), 'no-store'],
  [308, 'a page in another case', toRequest('GET /DE', [HOST]), 'no-store'],
  ...Object.values(DOCUMENTS).flatMap(({ path }) => {
    return [
      [200, path, toRequest(`GET ${path}`, [HOST]), CACHED],
      [200, `HEAD ${path}`, toRequest(`HEAD ${path}`, [HOST]), CACHED],
      [200, `${path}, compressed`, toRequest(`GET ${path}`, [HOST, 'Accept-Encoding: br']), CACHED],
      [304, `${path}, known`, toRequest(`GET ${path}`, [HOST, 'If-None-Match: *']), CACHED],
      [405, `${path}, a wrong method`, toRequest(`DELETE ${path}`, [HOST]), 'no-store'],
      [308, `${path}, the other host`, toRequest(`GET ${path}`, [ALIAS]), 'no-store'],
    ] as const
  }),
]

/** The headers of a response; null for those that say what the software is, or that identify a client. */
const toHeaders = (hsts: string | null, cacheControl: string) => ({
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'strict-transport-security': hsts,
  'cache-control': cacheControl,
  server: null,
  'x-powered-by': null,
  'set-cookie': null,
})

describe.each([
  ['https://list.example', 'max-age=31536000'],
  ['http://list.example', null],
])('%s', (baseUrl, hsts) => {
  let service: RunningService
  beforeAll(async () => {
    const env = { BASE_URL: baseUrl, CORS_ORIGINS: ORIGIN, SITE_FILE: toSupportFile('site.yaml') }
    service = await startService({ env })
  })
  afterAll(() => service.stop())

  test.each(REQUESTS)('%d: %s', async (status, _, request, cacheControl) => {
    const reply = (await exchange(service.port, request))!
    const expected = toHeaders(hsts, cacheControl)
    const found = Object.fromEntries(Object.keys(expected).map((name) => [name, reply.headers.get(name)]))
    expect([reply.status, found]).toEqual([status, expected])
  })
})
